package io.numaoperator.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.freedesktop.dbus.DBusPath;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.connections.impl.DBusConnectionBuilder;
import org.freedesktop.dbus.exceptions.DBusException;
import org.freedesktop.dbus.exceptions.DBusExecutionException;
import org.freedesktop.dbus.interfaces.Properties;

/**
 * The node's systemd over its system bus. A connection that broke is made anew at the next call.
 */
final class Systemd implements ServiceManager, AutoCloseable {
  /** Ends the text of org.freedesktop.systemd1.NoSuchUnit; dbus-java deprecates error names. */
  private static final String NOT_FOUND = " not found.";

  /** Replaces a conflicting job that is queued, like systemctl does. */
  private static final String MODE = "replace";

  private final Path socket;
  private DBusConnection connection; // null while there is none

  /**
   * @param socket the system bus, usually /run/dbus/system_bus_socket of the node
   */
  Systemd(Path socket) {
    this.socket = socket;
  }

  @Override
  public Optional<UnitState> state(String unit) throws IOException {
    return call(
        bus -> {
          var path = path(manager(bus), unit);
          return path.isPresent() ? state(bus, path.get()) : Optional.empty();
        });
  }

  private static Optional<DBusPath> path(SystemdBus.Manager manager, String unit) {
    try {
      // not GetUnit: a stopped unit that nothing refers to is not in systemd's memory
      return Optional.of(manager.LoadUnit(unit));
    } catch (DBusExecutionException e) {
      if (e.getMessage() != null && e.getMessage().endsWith(NOT_FOUND)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static Optional<UnitState> state(DBusConnection bus, DBusPath path) throws DBusException {
    var properties = bus.getRemoteObject(SystemdBus.NAME, path.getPath(), Properties.class);
    String loaded = properties.Get(SystemdBus.UNIT, "LoadState");
    if (!loaded.equals("loaded")) {
      return Optional.empty();
    }
    String active = properties.Get(SystemdBus.UNIT, "ActiveState");
    String sub = properties.Get(SystemdBus.UNIT, "SubState");
    Number pid = properties.Get(SystemdBus.SERVICE, "MainPID");
    Number restarts = properties.Get(SystemdBus.SERVICE, "NRestarts");
    String result = properties.Get(SystemdBus.SERVICE, "Result");
    return Optional.of(new UnitState(active, sub, pid.longValue(), restarts.longValue(), result));
  }

  @Override
  public void stop(String unit) throws IOException {
    call(bus -> manager(bus).StopUnit(unit, MODE));
  }

  @Override
  public void start(String unit) throws IOException {
    call(
        bus -> {
          var manager = manager(bus);
          try {
            // a kubelet that crashed often enough is not started again otherwise (StartLimitBurst)
            manager.ResetFailedUnit(unit);
          } catch (DBusExecutionException e) {
            // nothing to reset
          }
          return manager.StartUnit(unit, MODE);
        });
  }

  @Override
  public boolean active(String unit) throws IOException {
    return call(
        bus -> {
          var path = path(manager(bus), unit);
          return path.isPresent() && "active".equals(property(bus, path.get(), "ActiveState"));
        });
  }

  @Override
  public List<String> dropIns(String unit) throws IOException {
    return call(
        bus -> {
          var path = path(manager(bus), unit);
          return path.isPresent()
              ? List.copyOf(Systemd.<List<String>>property(bus, path.get(), "DropInPaths"))
              : List.of();
        });
  }

  @Override
  public List<String> execStart(String unit) throws IOException {
    return call(
        bus -> {
          var path = path(manager(bus), unit);
          return path.isPresent() ? execStart(bus, path.get()) : List.of();
        });
  }

  /** a(sasbttttuii): path, arguments, whether failure is ignored (a dash), then its last run. */
  private static List<String> execStart(DBusConnection bus, DBusPath path) throws DBusException {
    var properties = bus.getRemoteObject(SystemdBus.NAME, path.getPath(), Properties.class);
    List<Object[]> commands = properties.Get(SystemdBus.SERVICE, "ExecStart");
    if (commands.size() != 1) {
      return List.of();
    }
    var command = commands.getFirst();
    var argv = ((List<?>) command[1]).stream().map(String.class::cast).toList();
    boolean plain = !((Boolean) command[2]) && argv.getFirst().equals(command[0]);
    return plain ? argv : List.of();
  }

  @Override
  public void reload() throws IOException {
    call(
        bus -> {
          manager(bus).Reload();
          return true;
        });
  }

  @SuppressWarnings("TypeParameterUnusedInFormals") // as in Properties.Get
  private static <T> T property(DBusConnection bus, DBusPath path, String name)
      throws DBusException {
    return bus.getRemoteObject(SystemdBus.NAME, path.getPath(), Properties.class)
        .Get(SystemdBus.UNIT, name);
  }

  private static SystemdBus.Manager manager(DBusConnection bus) throws DBusException {
    return bus.getRemoteObject(SystemdBus.NAME, SystemdBus.PATH, SystemdBus.Manager.class);
  }

  private interface Call<T> {
    T with(DBusConnection bus) throws DBusException;
  }

  /**
   * Each call may be made twice; whatever failed, a second try over a new connection tells. A
   * connection that is being torn down throws what its thread pool throws, not a D-Bus exception.
   */
  private synchronized <T> T call(Call<T> call) throws IOException {
    try {
      return call.with(connected());
    } catch (DBusException | RuntimeException e) {
      close();
    }
    try {
      return call.with(connected());
    } catch (DBusException | RuntimeException e) {
      close();
      throw new IOException("systemd (D-Bus at %s): %s".formatted(socket, Errors.text(e)), e);
    }
  }

  private DBusConnection connected() throws DBusException {
    if (connection != null && !connection.isConnected()) {
      close();
    }
    if (connection == null) {
      if (!Files.exists(socket)) {
        throw new DBusException("there is no socket"); // dbus-java would try for ten seconds
      }
      connection =
          DBusConnectionBuilder.forAddress("unix:path=" + socket).withShared(false).build();
    }
    return connection;
  }

  @Override
  public synchronized void close() {
    if (connection != null) {
      connection.disconnect();
      connection = null;
    }
  }
}
