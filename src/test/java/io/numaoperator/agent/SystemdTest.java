package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.agent.ServiceManager.UnitState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.freedesktop.dbus.DBusPath;
import org.freedesktop.dbus.Struct;
import org.freedesktop.dbus.annotations.Position;
import org.freedesktop.dbus.connections.impl.DBusConnection;
import org.freedesktop.dbus.connections.impl.DBusConnectionBuilder;
import org.freedesktop.dbus.exceptions.DBusException;
import org.freedesktop.dbus.exceptions.DBusExecutionException;
import org.freedesktop.dbus.interfaces.Properties;
import org.freedesktop.dbus.types.UInt32;
import org.freedesktop.dbus.types.UInt64;
import org.freedesktop.dbus.types.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a real dbus-daemon, on which {@link FakeManager} stands for systemd. */
class SystemdTest {
  private static final String KUBELET = "/usr/bin/kubelet";

  @TempDir Path directory;
  private final List<Process> daemons = new ArrayList<>();
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private Path socket;

  @BeforeEach
  void startBus() throws Exception {
    socket = directory.resolve("bus");
    var config = directory.resolve("bus.conf");
    Files.writeString(
        config,
        """
        <busconfig>
          <type>system</type>
          <listen>unix:path=%s</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
            <allow user="*"/>
          </policy>
        </busconfig>
        """
            .formatted(socket));
    Files.deleteIfExists(socket);
    var daemon =
        new ProcessBuilder("dbus-daemon", "--nofork", "--config-file=" + config)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("bus.log").toFile())
            .start();
    daemons.add(daemon);
    while (!Files.exists(socket)) {
      assertThat(daemon.isAlive()).as(directory.resolve("bus.log").toString()).isTrue();
      Thread.sleep(20);
    }
  }

  @AfterEach
  void stopBus() throws Exception {
    for (var daemon : daemons) {
      daemon.destroy();
      assertThat(daemon.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void readsAUnit() throws Exception {
    try (var bus = systemd();
        var systemd = new Systemd(socket)) {
      assertThat(bus.isConnected()).isTrue();
      assertThat(systemd.state("kubelet.service"))
          .contains(new UnitState("active", "running", 4711, 2, "success"));
      assertThat(systemd.state("k3s.service")).isEmpty();
      assertThat(systemd.state("gone.service")).isEmpty();
      assertThat(systemd.active("kubelet.service")).isTrue();
      assertThat(systemd.active("gone.service")).isFalse();
      assertThat(systemd.dropIns("kubelet.service"))
          .containsExactly("/etc/systemd/system/kubelet.service.d/10.conf");
      assertThat(systemd.dropIns("gone.service")).isEmpty();
    }
  }

  @Test
  void readsTheCommandOfAUnit() throws Exception {
    try (var bus = systemd();
        var systemd = new Systemd(socket)) {
      assertThat(systemd.execStart("kubelet.service")).containsExactly(KUBELET, "$ARGS", "--v=2");
      assertThat(systemd.execStart("gone.service")).isEmpty();
      var odd =
          List.of(
              commands(new ExecCommand(true, KUBELET, KUBELET)),
              commands(new ExecCommand(false, KUBELET, "another-name")),
              commands(
                  new ExecCommand(false, KUBELET, KUBELET),
                  new ExecCommand(false, "/bin/true", "/bin/true")));
      for (int i = 0; i < odd.size(); i++) {
        var path = FakeUnit.path("odd" + i + ".service");
        bus.exportObject(path, new FakeUnit(path, Map.of("ExecStart", odd.get(i))));
        assertThat(systemd.execStart("odd" + i + ".service")).isEmpty();
      }
    }
  }

  @Test
  void reloads() throws Exception {
    try (var bus = systemd();
        var systemd = new Systemd(socket)) {
      assertThat(bus.isConnected()).isTrue();
      systemd.reload();
      assertThat(calls).containsExactly("reload");
    }
  }

  @Test
  void startsAndStops() throws Exception {
    try (var bus = systemd();
        var systemd = new Systemd(socket)) {
      assertThat(bus.isConnected()).isTrue();
      systemd.stop("kubelet.service");
      systemd.start("kubelet.service");
      systemd.reload();
      assertThat(calls)
          .containsExactly(
              "stop kubelet.service replace",
              "reset kubelet.service",
              "start kubelet.service replace",
              "reload");
    }
  }

  @Test
  void survivesARestartOfTheBus() throws Exception {
    try (var systemd = new Systemd(socket)) {
      try (var bus = systemd()) {
        assertThat(bus.isConnected()).isTrue();
        assertThat(systemd.state("kubelet.service")).isPresent();
      }
      stopBus();
      daemons.clear();
      assertThatThrownBy(() -> systemd.state("kubelet.service"))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(socket.toString());
      startBus();
      try (var bus = systemd()) {
        assertThat(bus.isConnected()).isTrue();
        assertThat(systemd.state("kubelet.service")).isPresent();
      }
    }
  }

  private DBusConnection systemd() throws DBusException {
    var bus = DBusConnectionBuilder.forAddress("unix:path=" + socket).withShared(false).build();
    bus.requestBusName(SystemdBus.NAME);
    bus.exportObject(SystemdBus.PATH, new FakeManager(calls));
    bus.exportObject(
        FakeUnit.path("kubelet.service"),
        new FakeUnit(
            FakeUnit.path("kubelet.service"),
            Map.of(
                "LoadState",
                "loaded",
                "ActiveState",
                "active",
                "SubState",
                "running",
                "DropInPaths",
                new String[] {"/etc/systemd/system/kubelet.service.d/10.conf"},
                "MainPID",
                new UInt32(4711),
                "NRestarts",
                new UInt32(2),
                "ExecStart",
                commands(new ExecCommand(false, KUBELET, KUBELET, "$ARGS", "--v=2")),
                "Result",
                "success")));
    bus.exportObject(
        FakeUnit.path("k3s.service"),
        new FakeUnit(FakeUnit.path("k3s.service"), Map.of("LoadState", "not-found")));
    return bus;
  }

  /** Stands for systemd's manager object. */
  static final class FakeManager implements SystemdBus.Manager {
    private final List<String> calls;

    FakeManager(List<String> calls) {
      this.calls = calls;
    }

    @Override
    public DBusPath LoadUnit(String name) {
      if (name.startsWith("gone")) {
        throw new DBusExecutionException("Unit " + name + " not found.");
      }
      return new DBusPath(FakeUnit.path(name));
    }

    @Override
    public DBusPath StartUnit(String name, String mode) {
      calls.add("start " + name + " " + mode);
      return new DBusPath("/org/freedesktop/systemd1/job/1");
    }

    @Override
    public DBusPath StopUnit(String name, String mode) {
      calls.add("stop " + name + " " + mode);
      return new DBusPath("/org/freedesktop/systemd1/job/2");
    }

    @Override
    public void ResetFailedUnit(String name) {
      calls.add("reset " + name);
    }

    @Override
    public void Reload() {
      calls.add("reload");
    }

    @Override
    public String getObjectPath() {
      return SystemdBus.PATH;
    }
  }

  /** An element of ExecStart: {@code (sasbttttuii)}. */
  public static final class ExecCommand extends Struct {
    @Position(0)
    public final String path;

    @Position(1)
    public final List<String> argv;

    @Position(2)
    public final boolean ignoreFailure;

    @Position(3)
    public final UInt64 started = new UInt64(1);

    @Position(4)
    public final UInt64 startedMonotonic = new UInt64(1);

    @Position(5)
    public final UInt64 ended = new UInt64(0);

    @Position(6)
    public final UInt64 endedMonotonic = new UInt64(0);

    @Position(7)
    public final UInt32 pid = new UInt32(4711);

    @Position(8)
    public final int code = 0;

    @Position(9)
    public final int status = 0;

    ExecCommand(boolean ignoreFailure, String path, String... argv) {
      this.path = path;
      this.argv = List.of(argv);
      this.ignoreFailure = ignoreFailure;
    }
  }

  private static Variant<?> commands(ExecCommand... commands) {
    return new Variant<>(List.of(commands), "a(sasbttttuii)");
  }

  /** Stands for a unit object. */
  static final class FakeUnit implements Properties {
    private final String path;
    private final Map<String, Object> properties;

    FakeUnit(String path, Map<String, Object> properties) {
      this.path = path;
      this.properties = properties;
    }

    static String path(String unit) {
      return SystemdBus.PATH + "/unit/" + unit.replace(".", "_2e");
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <A> A Get(String interfaceName, String name) {
      var value = Optional.ofNullable(properties.get(name)).orElseThrow();
      return (A) (value instanceof Variant<?> variant ? variant : new Variant<>(value));
    }

    @Override
    public <A> void Set(String interfaceName, String name, A value) {
      throw new UnsupportedOperationException("read only");
    }

    @Override
    public Map<String, Variant<?>> GetAll(String interfaceName) {
      throw new UnsupportedOperationException("too much is asked");
    }

    @Override
    public boolean isRemote() {
      return false;
    }

    @Override
    public String getObjectPath() {
      return path;
    }
  }
}
