package io.numaoperator.agent;

import org.freedesktop.dbus.DBusPath;
import org.freedesktop.dbus.annotations.DBusInterfaceName;
import org.freedesktop.dbus.interfaces.DBusInterface;

/** systemd's D-Bus names, as in org.freedesktop.systemd1(5); only what the agent calls. */
final class SystemdBus {
  static final String NAME = "org.freedesktop.systemd1";
  static final String PATH = "/org/freedesktop/systemd1";
  static final String UNIT = "org.freedesktop.systemd1.Unit";
  static final String SERVICE = "org.freedesktop.systemd1.Service";

  private SystemdBus() {}

  /** The manager object. D-Bus names are also the names of these methods. */
  @DBusInterfaceName("org.freedesktop.systemd1.Manager")
  @SuppressWarnings("MethodName")
  public interface Manager extends DBusInterface {
    DBusPath LoadUnit(String name);

    DBusPath StartUnit(String name, String mode);

    DBusPath StopUnit(String name, String mode);

    void ResetFailedUnit(String name);

    void Reload();
  }
}
