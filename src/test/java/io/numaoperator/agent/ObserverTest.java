package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.DropIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObserverTest {
  @TempDir Path root;
  private final FakeKubeletHost node = new FakeKubeletHost();
  private final LastSeen seen = new LastSeen();
  private Observer observer;

  @BeforeEach
  void machine() throws IOException {
    file("proc/meminfo", "MemTotal: 2097152 kB");
    file("sys/devices/system/cpu/online", "0-3");
    file("sys/devices/system/cpu/offline", "");
    file("sys/devices/system/cpu/present", "0-3");
    for (int zone = 0; zone < 2; zone++) {
      var directory = "sys/devices/system/node/node" + zone + "/";
      file(directory + "cpulist", zone == 0 ? "0-1" : "2-3");
      file(directory + "meminfo", "Node 0 MemTotal: 1048576 kB");
      file(directory + "distance", "10 20");
    }
    for (int cpu = 0; cpu < 4; cpu++) {
      var topology = "sys/devices/system/cpu/cpu" + cpu + "/topology/";
      file(topology + "thread_siblings_list", "" + cpu);
      file(topology + "physical_package_id", "0");
    }
    var proc = root.resolve("proc");
    kubelet();
    var sys = root.resolve("sys");
    observer =
        new Observer(
            node.access(),
            new KubeletLocator(node, node, proc),
            new Sysfs(sys, proc),
            new PciBus(sys),
            seen);
  }

  /** The command line of the process that the fake's unit runs now. */
  private void kubelet() throws IOException {
    var pid = node.state(FakeKubeletHost.UNIT).orElseThrow().mainPid();
    file(
        "proc/" + pid + "/cmdline",
        "/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0--config-dir="
            + FakeKubeletHost.DROP_IN_DIRECTORY
            + "/\0");
  }

  @Test
  void seesANodeThatIsWell() {
    node.containers.add(FakeKubeletHost.pinned());
    var status = observer.look();
    assertThat(status.agentError).isNull();
    assertThat(status.bootId).isEqualTo("boot-1");
    assertThat(status.dropInHash).isNull();
    assertThat(status.inventory.zoneCount).isEqualTo(2);
    assertThat(status.inventory.gpuCount).isEqualTo(4);
    assertThat(status.inventory.memoryTotal).isEqualTo(2L << 30);
    var kubelet = status.inventory.kubelet;
    assertThat(kubelet.version).isEqualTo("v1.36.3");
    assertThat(kubelet.service).isEqualTo("kubelet.service");
    assertThat(kubelet.configFile).isEqualTo("/var/lib/kubelet/config.yaml");
    assertThat(kubelet.dropInDirectory).isEqualTo(FakeKubeletHost.DROP_IN_DIRECTORY);
    assertThat(kubelet.rootDirectory).isEqualTo("/var/lib/kubelet");
    assertThat(kubelet.pid).isEqualTo(1001);
    assertThat(kubelet.restarts).isZero();
    assertThat(status.effective.source).isEqualTo(Source.Configz);
    assertThat(status.effective.pid).isEqualTo(kubelet.pid);
    assertThat(status.effective.settings.cpuManagerPolicy).isEqualTo("none");
    assertThat(status.stateFiles.cpuPolicy).isEqualTo("none");
    assertThat(status.stateFiles.memoryPolicy).isEqualTo("None");
    assertThat(status.containers.aligned).isEqualTo(1);
    assertThat(seen.podResourcesSocket()).isEqualTo("/var/lib/kubelet/pod-resources/kubelet.sock");
    assertThat(seen.address()).isEqualTo("10.0.0.1");
  }

  @Test
  void aKubeletThatIsDownIsToldAndTheRestIsKept() throws IOException {
    observer.look();
    node.stop(FakeKubeletHost.UNIT);
    var status = observer.look();
    assertThat(status.agentError)
        .isEqualTo("the kubelet is down: kubelet.service is inactive (dead)");
    assertThat(status.inventory.kubelet.pid).isNull();
    assertThat(status.inventory.kubelet.dropInDirectory).isNotNull();
    assertThat(status.inventory.gpuCount).isEqualTo(4);
    assertThat(status.effective.settings.cpuManagerPolicy).isEqualTo("none");

    node.start(FakeKubeletHost.UNIT);
    node.sleep(Duration.ofSeconds(10));
    kubelet();
    assertThat(observer.look().agentError).isNull();
  }

  @Test
  void aNewProcessIsAskedForItsConfiguration() throws IOException {
    observer.look();
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    node.files.put(FakeKubeletHost.DROP_IN, DropIn.render(fragment));
    assertThat(observer.look().dropInHash).isEqualTo(DropIn.hash(fragment));
    assertThat(observer.look().effective.settings.topologyManagerPolicy).isEqualTo("none");

    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    kubelet();
    assertThat(observer.look().agentError).contains("connection refused");
    node.sleep(Duration.ofSeconds(10));
    var status = observer.look();
    assertThat(status.agentError).isNull();
    assertThat(status.effective.settings.topologyManagerPolicy).isEqualTo("best-effort");
    assertThat(status.effective.pid).isEqualTo(status.inventory.kubelet.pid);
  }

  private void restart() throws IOException {
    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    kubelet();
    node.sleep(Duration.ofSeconds(10));
  }

  /** Also when the file is gone and the kubelet runs on, or was damaged. */
  @Test
  void theNodesOwnSettingsDoNotDependOnOurDropIn() throws IOException {
    assertThat(observer.look().baseline.topologyManagerPolicy).isEqualTo("none");
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    fragment.systemReserved = Map.of("memory", "9Gi");
    node.files.put(FakeKubeletHost.DROP_IN, DropIn.render(fragment));
    var foreign = FakeKubeletHost.DROP_IN_DIRECTORY + "/10-owner.conf";
    node.files.put(foreign, "systemReserved: {memory: 1Gi}".getBytes(UTF_8));
    node.files.put(FakeKubeletHost.DROP_IN_DIRECTORY + "/README", "not one".getBytes(UTF_8));
    node.files.put(
        FakeKubeletHost.DROP_IN_DIRECTORY + "/10-owner/earlier.conf",
        "systemReserved: {memory: 5Gi}".getBytes(UTF_8));
    restart();
    var status = observer.look();
    assertThat(status.effective.settings.topologyManagerPolicy).isEqualTo("best-effort");
    assertThat(status.baseline.topologyManagerPolicy).isEqualTo("none");
    assertThat(status.baseline.systemReserved).isEqualTo(Map.of("memory", "1Gi"));

    // an edit of the owner's file counts at once, without a restart
    node.files.put(foreign, "systemReserved: {memory: 2Gi}".getBytes(UTF_8));
    assertThat(observer.look().baseline.systemReserved).isEqualTo(Map.of("memory", "2Gi"));

    journal(fragment);
    for (var damage : List.of("", "]:")) {
      node.files.put(FakeKubeletHost.DROP_IN, damage.getBytes(UTF_8));
      assertThat(observer.look().baseline.systemReserved).isEqualTo(Map.of("memory", "2Gi"));
    }
    node.files.remove(FakeKubeletHost.DROP_IN);
    assertThat(observer.look().baseline.topologyManagerPolicy).isEqualTo("none");

    node.files.put(foreign, "]:".getBytes(UTF_8));
    assertThat(observer.look().agentError).contains("own configuration files cannot be read");
  }

  private void journal(KubeletFragment fragment) throws IOException {
    var granted =
        new Journal.Granted(
            1, "h", "p", "boot-1", fragment, 1, FakeKubeletHost.UNIT, "", "", false);
    new JournalStore(node)
        .save(
            new Journal(
                granted,
                Journal.Before.unknown(),
                new Phase.Done(NumaNodeStateStatus.Result.Succeeded, ""),
                0));
  }

  @Test
  void aConfigurationThatWasNotAnsweredIsAskedForAgain() {
    node.apiAway = true;
    assertThat(observer.look().agentError).contains("HTTP 401");
    assertThat(observer.report()).isEmpty();
    node.apiAway = false;
    assertThat(observer.look().agentError).isNull();
    assertThat(observer.report()).isPresent();
  }

  @Test
  void aStateFileThatIsGoneIsNotReported() {
    observer.look();
    node.files.remove(FakeKubeletHost.CPU_STATE);
    node.files.put(FakeKubeletHost.MEMORY_STATE, "torn".getBytes(UTF_8));
    NumaNodeStateStatus status = observer.look();
    assertThat(status.stateFiles.memoryPolicy).isNull();
  }

  @Test
  void noKubeletUnitIsTold() throws IOException {
    var pid = node.state(FakeKubeletHost.UNIT).orElseThrow().mainPid();
    file("proc/" + pid + "/cmdline", "/bin/sh\0-c\0kubelet\0");
    assertThat(observer.look().agentError)
        .isEqualTo("the main process of kubelet.service is /bin/sh, not a kubelet");
  }

  private void file(String path, String text) throws IOException {
    var file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
