package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.DropIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObserverTest {
  /** The fake kubelet has no defaults of its own for these. */
  private static final String MANAGERS = "cpuManagerPolicy: none\nmemoryManagerPolicy: None\n";

  @TempDir Path root;
  private final FakeKubeletHost node = new FakeKubeletHost();
  private final LastSeen seen = new LastSeen();
  private Set<String> proofPods = Set.of();
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
    kubelet();
    observer = observer(node);
  }

  private Observer observer(KubeletApi kubelet) {
    var proc = root.resolve("proc");
    var sys = root.resolve("sys");
    return new Observer(
        new NodeAccess(node, node, node, kubelet, node, node),
        new KubeletLocator(node, node, proc),
        new Sysfs(sys, proc),
        new PciBus(sys),
        seen);
  }

  private NumaNodeStateStatus look() {
    return observer.look(() -> proofPods);
  }

  private void kubelet() throws IOException {
    kubelet("--config-dir=" + FakeKubeletHost.DROP_IN_DIRECTORY + "/");
  }

  /** The command line of the process that the fake's unit runs now, and when that started. */
  private void kubelet(String... flags) throws IOException {
    var pid = node.state(FakeKubeletHost.UNIT).orElseThrow().mainPid();
    file(
        "proc/" + pid + "/cmdline",
        "/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0"
            + String.join("\0", flags)
            + "\0");
    var up = Instant.now().toEpochMilli(); // the ticks below are since the epoch
    file("proc/uptime", "%d.%03d 0.00".formatted(up / 1000, up % 1000));
    file(
        "proc/" + pid + "/stat",
        pid + " (kubelet) S" + " 0".repeat(18) + " " + node.now().toEpochMilli() / 10 + " 0");
  }

  @Test
  void seesANodeThatIsWell() {
    node.containers.add(FakeKubeletHost.pinned());
    var status = look();
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
  void proofPodsStayApartInAReportThatIsKept() throws IOException {
    node.containers.add(FakeKubeletHost.pinned());
    proofPods = Set.of("default/train-0");
    look();
    node.stop(FakeKubeletHost.UNIT);
    var status = look();
    assertThat(status.agentError).contains("the kubelet is down");
    assertThat(status.containers.proofs).hasSize(1);
    assertThat(status.containers.aligned).isZero();
  }

  @Test
  void seesWhoElseWritesForTheKubelet() {
    var main = "evictionHard: {memory.available: 5%}\nenforceNodeAllocatable: []\n";
    node.files.put(FakeKubeletHost.MAIN_FILE, main.getBytes(UTF_8));
    dropIn("10-owner.conf", "systemReserved: {memory: 1Gi}");
    dropIn("95-other.conf", "cpuManagerPolicy: none");
    dropIn("99/tail.conf", "maxPods: 100");
    dropIn("99/notes.txt", "cpuManagerPolicy: static");
    node.files.put(FakeKubeletHost.ROOT + "/plugins/gpu.nvidia.com/dra.sock", new byte[0]);
    node.files.put(FakeKubeletHost.ROOT + "/plugins/csi.example.com/csi.sock", new byte[0]);
    var status = look();
    assertThat(status.agentError).isNull();
    assertThat(status.files.below.evictionHard).containsExactly(entry("memory.available", "5%"));
    assertThat(status.files.below.systemReserved).containsExactly(entry("memory", "1Gi"));
    assertThat(status.files.below.enforceNodeAllocatable).isEmpty();
    assertThat(status.files.above.cpuManagerPolicy).isEqualTo("none");
    assertThat(status.files.overriding).containsExactly("95-other.conf");
    assertThat(status.inventory.kubelet.draDrivers).containsExactly("gpu.nvidia.com");
    assertThat(status.inventory.kubelet.platform).isEqualTo(Platform.Kubeadm);
  }

  @Test
  void filesThatCannotBeReadAreToldAndNothingOldIsKept() {
    look();
    dropIn("95-other.conf", "a: [");
    var status = look();
    assertThat(status.agentError).startsWith("95-other.conf is not YAML");
    assertThat(status.files).isNull();
    node.files.remove(FakeKubeletHost.DROP_IN_DIRECTORY + "/95-other.conf");
    node.files.remove(FakeKubeletHost.MAIN_FILE); // beyond the agent's mounts
    assertThat(look().agentError).isNull();
    assertThat(look().files).isNull();
  }

  private void dropIn(String name, String text) {
    node.files.put(FakeKubeletHost.DROP_IN_DIRECTORY + "/" + name, text.getBytes(UTF_8));
  }

  @Test
  void aKubeletThatIsDownIsToldAndTheRestIsKept() throws IOException {
    look();
    node.stop(FakeKubeletHost.UNIT);
    var status = look();
    assertThat(status.agentError)
        .isEqualTo("the kubelet is down: kubelet.service is inactive (dead)");
    assertThat(status.inventory.kubelet.pid).isNull();
    assertThat(status.inventory.kubelet.dropInDirectory).isNotNull();
    assertThat(status.inventory.gpuCount).isEqualTo(4);
    assertThat(status.effective.settings.cpuManagerPolicy).isEqualTo("none");

    node.start(FakeKubeletHost.UNIT);
    node.sleep(Duration.ofSeconds(10));
    kubelet();
    assertThat(look().agentError).isNull();
  }

  @Test
  void aNewProcessIsAskedForItsConfiguration() throws IOException {
    look();
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    node.files.put(FakeKubeletHost.DROP_IN, DropIn.render(fragment));
    assertThat(look().dropInHash).isEqualTo(DropIn.hash(fragment));
    assertThat(look().effective.settings.topologyManagerPolicy).isEqualTo("none");

    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    kubelet();
    assertThat(look().agentError).contains("connection refused");
    node.sleep(Duration.ofSeconds(10));
    var status = look();
    assertThat(status.agentError).isNull();
    assertThat(status.effective.settings.topologyManagerPolicy).isEqualTo("best-effort");
    assertThat(status.effective.pid).isEqualTo(status.inventory.kubelet.pid);
  }

  private void restart() throws IOException {
    restart("--config-dir=" + FakeKubeletHost.DROP_IN_DIRECTORY + "/");
  }

  private void restart(String... flags) throws IOException {
    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    kubelet(flags);
    node.sleep(Duration.ofSeconds(10));
  }

  /** Also when the file is gone and the kubelet runs on, or was damaged. */
  @Test
  void theNodesOwnSettingsDoNotDependOnOurDropIn() throws IOException {
    assertThat(look().baseline.topologyManagerPolicy).isEqualTo("none");
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
    var status = look();
    assertThat(status.effective.settings.topologyManagerPolicy).isEqualTo("best-effort");
    assertThat(status.baseline.topologyManagerPolicy).isEqualTo("none");
    assertThat(status.baseline.systemReserved).isEqualTo(Map.of("memory", "1Gi"));

    // an edit of the owner's file counts at once, without a restart
    node.files.put(foreign, "systemReserved: {memory: 2Gi}".getBytes(UTF_8));
    assertThat(look().baseline.systemReserved).isEqualTo(Map.of("memory", "2Gi"));

    journal(fragment);
    for (var damage : List.of("", "]:")) {
      node.files.put(FakeKubeletHost.DROP_IN, damage.getBytes(UTF_8));
      assertThat(look().baseline.systemReserved).isEqualTo(Map.of("memory", "2Gi"));
    }
    node.files.remove(FakeKubeletHost.DROP_IN);
    assertThat(look().baseline.topologyManagerPolicy).isEqualTo("none");

    node.files.put(foreign, "]:".getBytes(UTF_8));
    assertThat(look().agentError).contains("own configuration files cannot be read");
  }

  /** It is too old to be asked, and the file that it reads has our values in it. */
  @Test
  void theNodesOwnSettingsDoNotDependOnOurEditOfTheMainFile() throws IOException {
    var owners = MANAGERS + "kind: KubeletConfiguration\nsystemReserved: {memory: 1Gi}\n";
    node.version = "v1.31.4";
    node.hasDirectory = false;
    node.files.put(FakeKubeletHost.MAIN_FILE, owners.getBytes(UTF_8));
    restart("--v=2");
    var processes = new Processes(root.resolve("proc"));
    observer = observer(new ConfigReader(node, node, seen, processes));
    look(); // the version comes with the Node
    restart("--v=2");
    var before = look();
    assertThat(before.agentError).isNull();
    assertThat(before.effective.source).isEqualTo(Source.Files);
    assertThat(before.dropInHash).isNull();
    var own = json(before.baseline);

    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    fragment.reservedSystemCPUs = "0";
    fragment.systemReserved = Map.of("memory", "9Gi");
    edit(fragment);
    restart("--v=2");
    var status = look();
    assertThat(status.agentError).isNull();
    assertThat(status.effective.settings.systemReserved).isEqualTo(Map.of("memory", "9Gi"));
    assertThat(status.dropInHash).isEqualTo(DropIn.hash(fragment));
    assertThat(json(status.baseline)).isEqualTo(own);
    assertThat(status.files.below.systemReserved).isEqualTo(Map.of("memory", "1Gi"));

    // kubeadm upgrade, say: the file is its owner's again, though the kubelet runs on
    node.files.put(FakeKubeletHost.MAIN_FILE, owners.replace("1Gi", "2Gi").getBytes(UTF_8));
    journal(fragment);
    assertThat(look().dropInHash).isNull();
    assertThat(look().baseline.systemReserved).isEqualTo(Map.of("memory", "2Gi"));
    assertThat(look().baseline.topologyManagerPolicy).isNull();
  }

  private static JsonNode json(KubeletFragment settings) {
    return new ObjectMapper().valueToTree(settings);
  }

  private void edit(KubeletFragment fragment) throws IOException {
    var granted =
        new Journal.Granted(
            1,
            DropIn.hash(fragment),
            "p",
            "boot-1",
            fragment,
            1,
            FakeKubeletHost.UNIT,
            "",
            FakeKubeletHost.ROOT,
            Journal.Form.MAIN_FILE,
            List.of(),
            FakeKubeletHost.MAIN_FILE,
            false);
    var edit = new MainFileEdit(node);
    edit.prepare(granted);
    edit.write(granted);
  }

  /**
   * Of a kubelet that merges drop-ins only because of us: by itself it would keep an explicit empty
   * value of its main file, and a plan has to know that also after the change.
   */
  @Test
  void aDirectoryThatTheKubeletHasFromUsIsNoneOfItsOwn() throws IOException {
    var main = MANAGERS + "enforceNodeAllocatable: []\n";
    node.files.put(FakeKubeletHost.MAIN_FILE, main.getBytes(UTF_8));
    var fragment = new KubeletFragment();
    fragment.enforceNodeAllocatable = List.of("none");
    node.files.put(FakeKubeletHost.DROP_IN, DropIn.render(fragment));
    restart();
    assertThat(look().inventory.kubelet.unitDropIn).isNull();
    assertThat(look().baseline.enforceNodeAllocatable)
        .as("the owner gave it the directory: the empty list is lost in the merge")
        .containsExactly("pods");

    var unit = UnitDropIn.path(FakeKubeletHost.UNIT);
    node.files.put(unit, new byte[0]);
    assertThat(look().inventory.kubelet.unitDropIn).isEqualTo(unit);
    assertThat(look().baseline.enforceNodeAllocatable).isNull();

    dropIn("10-owner.conf", "maxPods: 100"); // so it will stay
    assertThat(look().inventory.kubelet.unitDropIn).isNull();
    assertThat(look().baseline.enforceNodeAllocatable).containsExactly("pods");
  }

  /** What a change that was taken back had written runs nowhere: the kubelet's word is enough. */
  @Test
  void onlyWhatMayRunIsTakenOut() throws IOException {
    node.quirk = config -> config.put("topologyManagerPolicy", "restricted"); // not from a file
    restart();
    node.files.put(
        FakeKubeletHost.DROP_IN_DIRECTORY + "/10-owner.conf",
        "systemReserved: {memory: 7Gi}".getBytes(UTF_8));
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    for (var result : List.of(Result.Refused, Result.RolledBack)) {
      journal(fragment, result);
      assertThat(look().baseline.topologyManagerPolicy).as(result.name()).isEqualTo("restricted");
    }
    node.files.put(FakeKubeletHost.DROP_IN_DIRECTORY + "/10-owner.conf", "]:".getBytes(UTF_8));
    journal(new KubeletFragment(), Result.Succeeded);
    node.files.put(FakeKubeletHost.DROP_IN, DropIn.render(new KubeletFragment()));
    assertThat(look().agentError)
        .as("an empty one is nothing to take out")
        .doesNotContain("own configuration files");
    journal(fragment, Result.RollbackFailed);
    assertThat(look().agentError).contains("own configuration files cannot be read");
  }

  private void journal(KubeletFragment fragment) throws IOException {
    journal(fragment, Result.Succeeded);
  }

  private void journal(KubeletFragment fragment, Result result) throws IOException {
    var granted =
        new Journal.Granted(
            1,
            "h",
            "p",
            "boot-1",
            fragment,
            1,
            FakeKubeletHost.UNIT,
            "",
            "",
            Journal.Form.DROP_IN,
            List.of(),
            "",
            false);
    new JournalStore(node)
        .save(new Journal(granted, Journal.Before.unknown(), new Phase.Done(result, ""), 0));
  }

  @Test
  void aConfigurationThatWasNotAnsweredIsAskedForAgain() {
    node.apiAway = true;
    assertThat(look().agentError).contains("HTTP 401");
    assertThat(observer.report()).isEmpty();
    node.apiAway = false;
    assertThat(look().agentError).isNull();
    assertThat(observer.report()).isPresent();
  }

  @Test
  void aStateFileThatIsGoneIsNotReported() {
    look();
    node.files.remove(FakeKubeletHost.CPU_STATE);
    node.files.put(FakeKubeletHost.MEMORY_STATE, "torn".getBytes(UTF_8));
    NumaNodeStateStatus status = look();
    assertThat(status.stateFiles.memoryPolicy).isNull();
  }

  @Test
  void noKubeletUnitIsTold() throws IOException {
    var pid = node.state(FakeKubeletHost.UNIT).orElseThrow().mainPid();
    file("proc/" + pid + "/cmdline", "/bin/sh\0-c\0kubelet\0");
    assertThat(look().agentError)
        .isEqualTo("the main process of kubelet.service is /bin/sh, not a kubelet");
  }

  private void file(String path, String text) throws IOException {
    var file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
