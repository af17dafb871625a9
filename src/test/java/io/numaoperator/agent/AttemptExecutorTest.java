package io.numaoperator.agent;

import static io.numaoperator.agent.FakeKubeletHost.CPU_STATE;
import static io.numaoperator.agent.FakeKubeletHost.DROP_IN;
import static io.numaoperator.agent.FakeKubeletHost.MEMORY_STATE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.agent.FakeKubeletHost.AgentDied;
import io.numaoperator.agent.Journal.Form;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.topology.CpuSet;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AttemptExecutorTest {
  private static final String UNIT_DROP_IN = UnitDropIn.path(FakeKubeletHost.UNIT);

  private final FakeKubeletHost node = new FakeKubeletHost();
  private final List<Attempt> reports = new ArrayList<>();
  private boolean proof; // whether what is granted has to be proven

  // ---- the way forward

  @Test
  void appliesAndVerifies() throws Exception {
    cordon(node);
    var start = node.now();
    start(node);

    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(last().error).isNull();
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(fragment()));
    assertThat(node.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("static");
    assertThat(text(node, CPU_STATE)).contains("static");
    assertThat(text(node, MEMORY_STATE)).contains("Static");
    assertThat(steps())
        .containsExactly(
            Step.Preparing,
            Step.Stopping,
            Step.ClearingState,
            Step.Writing,
            Step.Starting,
            Step.Verifying,
            Step.Done);
    assertThat(Duration.between(start, node.now())).isBetween(window(), window().plusSeconds(10));
    assertThat(node.actions).filteredOn(a -> a.equals("stop")).hasSize(1);
    assertThat(node.actions).filteredOn(a -> a.equals("start")).hasSize(1);
  }

  @Test
  void journalIsWrittenBeforeEachAction() throws Exception {
    cordon(node);
    start(node);
    var journal = "write /var/lib/numaoperator/journal.json";
    for (var action : List.of("stop", "delete " + CPU_STATE, "write " + DROP_IN, "start")) {
      assertThat(node.actions.get(node.actions.indexOf(action) - 1)).as(action).isEqualTo(journal);
    }
  }

  @Test
  void keepsTheStateOfManagersThatDoNotChange() throws Exception {
    cordon(node);
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "best-effort";
    start(node, fragment);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(node.actions).noneMatch(a -> a.startsWith("delete " + FakeKubeletHost.ROOT));
  }

  // ---- a kubelet without a drop-in directory

  @Test
  void aKubeletIsGivenADirectoryWithTheChange() throws Exception {
    node.hasDirectory = false;
    node.directories.clear();
    cordon(node);
    enable(node);
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(node.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("static");
    assertThat(text(node, UNIT_DROP_IN))
        .contains("--config-dir=" + FakeKubeletHost.DROP_IN_DIRECTORY);
    assertThat(node.actions)
        .containsSubsequence("stop", "write " + UNIT_DROP_IN, "reload", "start");
  }

  @Test
  void theDirectoryIsTakenBackWithTheChange() throws Exception {
    node.hasDirectory = false;
    cordon(node);
    node.refuses = AttemptExecutorTest::noReservation;
    enable(node);
    rolledBack();
    assertThat(node.files).doesNotContainKey(UNIT_DROP_IN);
    assertThat(node.mergesDropIns()).as("systemd has read that it is gone").isFalse();
  }

  @Test
  void goesOnAfterDyingWhereverItGivesTheDirectory() throws Exception {
    int deaths = 0;
    for (int at = 0; ; at++) {
      var host = new FakeKubeletHost();
      host.hasDirectory = false;
      host.directories.clear();
      cordon(host);
      host.diesAt = at;
      try {
        enable(host);
        break;
      } catch (AgentDied e) {
        host.diesAt = -1;
        deaths++;
      }
      executor(host).resume();
      if (new JournalStore(host).load().isEmpty()) {
        enable(host);
      }
      var when = "%d: %s".formatted(at, host.actions);
      assertThat(last().result).as(when).isEqualTo(Result.Succeeded);
      assertThat(host.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("static");
    }
    assertThat(deaths).isGreaterThan(20);
  }

  // ---- a kubelet that merges drop-ins unreliably

  @Test
  void theMainFileIsEditedAndItsOwnersVersionIsKept() throws Exception {
    var owners = text(node, FakeKubeletHost.MAIN_FILE);
    cordon(node);
    edit(node, fragment());
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(node.files).doesNotContainKey(DROP_IN);
    assertThat(node.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("static");
    assertThat(node.runningConfig().path("maxPods").asInt()).isEqualTo(110);
    assertThat(text(node, MainFileEdit.ORIGINAL)).isEqualTo(owners);
  }

  @Test
  void theMainFileComesBackToTheByte() throws Exception {
    var before = Map.copyOf(node.files);
    cordon(node);
    node.refuses = AttemptExecutorTest::noReservation;
    edit(node, fragment());
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(node.files.get(FakeKubeletHost.MAIN_FILE))
        .isEqualTo(before.get(FakeKubeletHost.MAIN_FILE));
    assertThat(node.files).doesNotContainKey(MainFileEdit.ORIGINAL);
  }

  /** What a plan leaves out must not stay from the one before; an owner's edit is the new base. */
  @Test
  void eachPlanIsLaidOverWhatTheOwnerWrote() throws Exception {
    cordon(node);
    edit(node, fragment());
    var second = new KubeletFragment();
    second.topologyManagerPolicy = "best-effort";
    edit(node, second);
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(node.runningConfig().has("systemReserved")).isFalse();
    var rewritten = "{\"kind\":\"KubeletConfiguration\",\"maxPods\":5}";
    node.files.put(FakeKubeletHost.MAIN_FILE, rewritten.getBytes(UTF_8));
    assertThat(new MainFileEdit(node).owners(FakeKubeletHost.MAIN_FILE))
        .asString(UTF_8)
        .isEqualTo(rewritten);
  }

  @Test
  void goesOnAfterDyingWhereverItEditsTheMainFile() throws Exception {
    var good = fragment();
    int deaths = 0;
    for (int at = 0; ; at++) {
      var host = new FakeKubeletHost();
      var owners = text(host, FakeKubeletHost.MAIN_FILE);
      cordon(host);
      host.diesAt = at;
      try {
        edit(host, good);
        break;
      } catch (AgentDied e) {
        host.diesAt = -1;
        deaths++;
      }
      executor(host).resume();
      if (new JournalStore(host).load().isEmpty()) {
        edit(host, good);
      }
      var when = "%d: %s".formatted(at, host.actions);
      assertThat(last().result).as(when).isEqualTo(Result.Succeeded);
      assertThat(text(host, MainFileEdit.ORIGINAL)).as(when).isEqualTo(owners);
    }
    assertThat(deaths).isGreaterThan(20);
  }

  /** As after an upgrade to a kubelet that merges drop-ins safely. */
  @Test
  void aDropInTakesTheEditOfTheMainFileAway() throws Exception {
    var owners = text(node, FakeKubeletHost.MAIN_FILE);
    cordon(node);
    edit(node, fragment());
    start(node, restricted());
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(owners);
    assertThat(node.files).doesNotContainKeys(MainFileEdit.notes().toArray(String[]::new));
    assertThat(node.runningConfig().path("topologyManagerPolicy").asText()).isEqualTo("restricted");
    assertThat(node.runningConfig().has("systemReserved")).isFalse();
  }

  @Test
  void theEditComesBackWhenTheDropInFails() throws Exception {
    cordon(node);
    edit(node, fragment());
    var edited = text(node, FakeKubeletHost.MAIN_FILE);
    node.refuses =
        config ->
            config.path("topologyManagerPolicy").asText().equals("restricted")
                ? Optional.of("\"command failed\" err=\"restricted\"")
                : Optional.empty();
    start(node, restricted());
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(edited);
    assertThat(new MainFileEdit(node).found(FakeKubeletHost.MAIN_FILE)).isPresent();
    assertThat(node.files).doesNotContainKey(DROP_IN);
    assertThat(node.kubeletWell()).isTrue();
  }

  private static KubeletFragment restricted() {
    var fragment = new KubeletFragment();
    fragment.topologyManagerPolicy = "restricted";
    return fragment;
  }

  private void edit(FakeKubeletHost host, KubeletFragment fragment) throws Exception {
    executor(host).start(granted(3, fragment, Form.MAIN_FILE, "", List.of()));
  }

  private void enable(FakeKubeletHost host) throws Exception {
    var execStart = List.of("/usr/bin/kubelet", "$KUBELET_ARGS");
    executor(host)
        .start(granted(3, fragment(), Form.DROP_IN, FakeKubeletHost.DROP_IN_DIRECTORY, execStart));
  }

  // ---- fences

  @Test
  void refusesANodeThatIsNotCordoned() throws Exception {
    refused("the node is not cordoned");
  }

  @Test
  void refusesANodeThatIsCordonedForAnotherAttempt() throws Exception {
    node.cordonedFor = Optional.of("gpu-nodes/2");
    refused("the node is cordoned for gpu-nodes/2, not for gpu-nodes/3");
  }

  @Test
  void refusesAGrantOfAnotherBoot() throws Exception {
    cordon(node);
    node.bootId = "boot-2";
    refused("the node was rebooted since the grant was given");
  }

  @Test
  void refusesWhileExclusiveCpusAreHeld() throws Exception {
    cordon(node);
    node.containers.add(FakeKubeletHost.pinned());
    refused("container main of pod default/train-0 holds exclusive CPUs");
  }

  @Test
  void refusesWhileDevicesAreHeld() throws Exception {
    cordon(node);
    var device = new Device("nvidia.com/gpu", "gpu-0", Set.of(0));
    node.containers.add(
        new Container("default", "infer-0", "main", CpuSet.EMPTY, List.of(), List.of(device)));
    refused("container main of pod default/infer-0 holds devices");
  }

  @Test
  void aPodThatComesBetweenTheChecksIsSeen() throws Exception {
    cordon(node);
    // dies with the kubelet still running, and before it goes on a pod has come
    var other = new FakeKubeletHost();
    cordon(other);
    start(other);
    node.diesAt = other.actions.indexOf("stop");
    untilDeath(node);
    node.diesAt = -1;
    node.actions.clear();
    node.containers.add(FakeKubeletHost.pinned());
    executor(node).resume();
    assertThat(last().result).isEqualTo(Result.Refused);
    assertThat(node.actions).doesNotContain("stop");
  }

  @Test
  void waitsForAnApiServerThatIsAwayBeforeItBegins() throws Exception {
    cordon(node);
    node.apiAway = true;
    node.events.put(node.now().plusSeconds(60), () -> node.apiAway = false);
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
  }

  @Test
  void refusesWhenItCannotCheckForLong() throws Exception {
    cordon(node);
    node.apiAway = true;
    refused("cannot check whether the change is safe: the API server is away");
  }

  private void refused(String why) throws Exception {
    start(node);
    assertThat(last().result).isEqualTo(Result.Refused);
    assertThat(last().error).isEqualTo(why);
    assertThat(node.actions)
        .allMatch(a -> a.matches("(write|delete) /var/lib/numaoperator/.*"))
        .doesNotContain("write " + GuardFiles.ARMED);
    assertThat(node.kubeletWell()).isTrue();
  }

  // ---- the way back

  @Test
  void aFragmentThatTheKubeletRefusesIsRolledBackWithItsOwnLine() throws Exception {
    cordon(node);
    node.refuses = AttemptExecutorTest::noReservation;
    start(node);
    rolledBack();
    assertThat(last().error)
        .contains("\"command failed\" err=\"[cpumanager] unable to determine reserved CPU");
  }

  /** As on most nodes: what the kubelet says goes to the journal. */
  @Test
  void withoutALogFileTheLineIsFromTheJournal() throws Exception {
    cordon(node);
    node.files.remove(KubeletLog.FILE);
    node.refuses = AttemptExecutorTest::noReservation;
    start(node);
    rolledBack();
    assertThat(last().error)
        .contains("\"command failed\" err=\"[cpumanager] unable to determine reserved CPU");
  }

  @Test
  void withoutLogFileAndJournalTheErrorSaysWhereToLook() throws Exception {
    cordon(node);
    node.files.remove(KubeletLog.FILE);
    node.journalUnreadable = true;
    node.refuses = AttemptExecutorTest::noReservation;
    start(node);
    rolledBack();
    assertThat(last().error)
        .contains(
            "kubelet.service is activating (auto-restart): see journalctl -u kubelet.service");
  }

  @Test
  void anEarlierDropInComesBack() throws Exception {
    var earlier = new KubeletFragment();
    earlier.topologyManagerPolicy = "best-effort";
    node.files.put(DROP_IN, DropIn.render(earlier));
    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    node.sleep(Duration.ofSeconds(30));
    cordon(node);
    node.refuses = AttemptExecutorTest::noReservation;
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(earlier));
  }

  @Test
  void aKubeletThatCrashesLateIsRolledBack() throws Exception {
    cordon(node);
    node.events.put(
        node.now().plusSeconds(40), () -> node.crash("\"Failed to start ContainerManager\" late"));
    start(node);
    rolledBack();
    assertThat(last().error).contains("\"Failed to start ContainerManager\" late");
  }

  @Test
  void aFieldThatVanishedIsRolledBackAtOnce() throws Exception {
    cordon(node);
    node.quirk = config -> config.put("topologyManagerScope", "container");
    var start = node.now();
    start(node);
    rolledBack();
    assertThat(last().error).contains("topologyManagerScope is container, wanted pod");
    assertThat(Duration.between(start, node.now())).isLessThan(window().plusSeconds(30));
  }

  @Test
  void aChangeThatNobodyWantedIsRolledBack() throws Exception {
    cordon(node);
    node.quirk =
        config -> {
          if (config.path("cpuManagerPolicy").asText().equals("static")) {
            config.remove("maxPods");
          }
        };
    start(node);
    rolledBack();
    assertThat(last().error).contains("maxPods changed");
  }

  @Test
  void devicesThatDoNotComeBackAreRolledBackAfterTheGrace() throws Exception {
    cordon(node);
    var start = node.now();
    node.events.put(start.plusSeconds(1), () -> node.devices = 3);
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error)
        .contains("not well in time: 3 of 4 nvidia.com/gpu devices are back")
        .contains("; after the rollback: 3 of 4");
    assertThat(Duration.between(start, node.now()))
        .isGreaterThanOrEqualTo(window().plus(Verifier.Watch.GRACE).multipliedBy(2));
  }

  @Test
  void anApiServerThatGoesAwayExtendsTheVerification() throws Exception {
    cordon(node);
    var start = node.now();
    node.events.put(start.plusSeconds(2), () -> node.apiAway = true);
    node.events.put(start.plus(Duration.ofMinutes(30)), () -> node.apiAway = false);
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(Duration.between(start, node.now())).isGreaterThanOrEqualTo(Duration.ofMinutes(30));
  }

  /** It tries to write its CSINode less and less often, and is not Ready before. */
  @Test
  void aKubeletThatLostTheApiServerAtItsStartMayTakeLonger() throws Exception {
    cordon(node);
    node.events.put(node.now().plusSeconds(2), () -> node.apiAway = true);
    var back = node.now().plusSeconds(25);
    node.events.put(
        back,
        () -> {
          node.apiAway = false;
          node.notReady = Optional.of("KubeletNotReady: CSINode is not yet initialized");
        });
    node.events.put(back.plusSeconds(145), () -> node.notReady = Optional.empty());
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
  }

  @Test
  void aNodeThatDoesNotGetReadyIsRolledBackAndSaysWhy() throws Exception {
    cordon(node);
    var start = node.now();
    node.events.put(
        start.plusSeconds(1),
        () -> node.notReady = Optional.of("KubeletNotReady: PLEG is not healthy"));
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error)
        .startsWith(
            "not well in time: the node is not Ready: KubeletNotReady: PLEG is not healthy");
  }

  @Test
  void rollsBackWithoutAnApiServer() throws Exception {
    cordon(node);
    node.events.put(node.now().plusMillis(1), () -> node.apiAway = true);
    node.refuses = AttemptExecutorTest::noReservation;
    start(node);
    rolledBack();
  }

  @Test
  void oldStateFilesThatStopTheKubeletAreGivenUp() throws Exception {
    // memory was added meanwhile, say: the kubelet would not take back its old state
    cordon(node);
    node.refuses =
        config -> {
          var refusal = noReservation(config);
          boolean old =
              text(node, CPU_STATE).contains("boot-1\"") && node.actions.contains("start");
          return refusal.or(
              () ->
                  old ? Optional.of("the expected machine state is different") : Optional.empty());
        };
    node.events.put(node.now().plusSeconds(1), () -> node.bootId = "boot-1b");
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(text(node, CPU_STATE)).contains("boot-1b");
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void saysWhenEvenTheOldConfigurationDoesNotStart() throws Exception {
    cordon(node);
    node.refuses =
        config ->
            node.actions.contains("start")
                ? Optional.of("\"command failed\" broken")
                : Optional.empty();
    start(node);
    assertThat(last().result).isEqualTo(Result.RollbackFailed);
    assertThat(last().error).contains("; after the rollback: the kubelet did not stay up");
    assertThat(node.files).doesNotContainKey(DROP_IN);
  }

  @Test
  void aFullDiskStopsNoKubeletForGood() throws Exception {
    for (int full = 0; full < 16; full++) {
      var host = new FakeKubeletHost();
      cordon(host);
      int writes = full;
      host.onAction =
          () -> {
            if (host.actions.size() >= writes) {
              host.unwritable = Set.of("/var/lib/numaoperator/journal.json", DROP_IN);
            }
          };
      try {
        start(host);
      } catch (java.io.IOException e) {
        assertThat(host.actions).as("full at %d", full).isEmpty();
      }
      host.sleep(Duration.ofMinutes(1));
      assertThat(host.kubeletWell()).as("full at %d: %s", full, host.actions).isTrue();
    }
  }

  @Test
  void aLongErrorIsReportedShort() throws Exception {
    cordon(node);
    node.refuses =
        config ->
            node.actions.contains("start")
                ? Optional.of("\"command failed\" " + "x".repeat(3000))
                : Optional.empty();
    start(node);
    assertThat(last().result).isEqualTo(Result.RollbackFailed);
    assertThat(last().error).hasSize(2048).endsWith("…");
  }

  /** The kubelet had not been restarted with it: it is no fault of the rollback. */
  @Test
  void whatItsOwnerWroteSinceTheLastStartDoesNotSpoilARollback() throws Exception {
    edited("\"maxPods\":110", "\"maxPods\":120");
    rolledBack();
    assertThat(last().error).endsWith("not as before, and not by this operator: maxPods");
  }

  /** So for a field that we manage. */
  @Test
  void whatItsOwnerWroteIntoAManagedFieldDoesNotSpoilARollback() throws Exception {
    edited("\"topologyManagerScope\":\"container\"", "\"topologyManagerScope\":\"pod\"");
    rolledBack();
    assertThat(last().error).doesNotContain("topologyManagerScope");
  }

  /** A change that the kubelet refuses, after the owner has edited the main file. */
  private void edited(String from, String to) throws Exception {
    var main = text(node, FakeKubeletHost.MAIN_FILE).replace(from, to);
    assertThat(main).contains(to);
    node.files.put(FakeKubeletHost.MAIN_FILE, main.getBytes(UTF_8));
    cordon(node);
    node.refuses =
        config ->
            config.path("cpuManagerPolicy").asText().equals("static")
                ? Optional.of("\"command failed\" broken")
                : Optional.empty();
    start(node);
    assertThat(last().error).contains("broken");
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(main);
  }

  private void rolledBack() {
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(node.files).doesNotContainKey(DROP_IN);
    assertThat(node.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("none");
    assertThat(text(node, CPU_STATE)).contains("none");
    assertThat(text(node, MEMORY_STATE)).contains("None");
    assertThat(node.kubeletWell()).isTrue();
  }

  // ---- back to the node's own settings

  @Test
  void restoresWhatTheNodeHadByItself() throws Exception {
    var before = node.runningConfig().deepCopy();
    var files = Set.copyOf(node.files.keySet());
    cordon(node);
    start(node);
    restore(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(node.runningConfig()).isEqualTo(before);
    assertThat(node.files.keySet())
        .filteredOn(path -> !path.startsWith(JournalStore.DIRECTORY))
        .filteredOn(path -> !path.equals(GuardRun.STARTED)) // until the next reboot
        .containsExactlyInAnyOrderElementsOf(files);
    assertThat(text(node, CPU_STATE)).contains("none");
    assertThat(text(node, MEMORY_STATE)).contains("None");
  }

  /** The owner's file was damaged since: the node keeps what it runs with. */
  @Test
  void ownSettingsThatTheKubeletRefusesAreNotRestored() throws Exception {
    cordon(node);
    start(node);
    var state = node.files.get(MEMORY_STATE);
    node.refuses = AttemptExecutorTest::ownSettings;
    restore(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error).contains("the owner's file");
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(fragment()));
    assertThat(node.files.get(MEMORY_STATE)).isEqualTo(state);
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void theOwnersMainFileIsRestored() throws Exception {
    var owners = text(node, FakeKubeletHost.MAIN_FILE);
    var before = node.runningConfig().deepCopy();
    cordon(node);
    edit(node, fragment());
    restore(node, "");
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(owners);
    assertThat(node.files).doesNotContainKeys(MainFileEdit.notes().toArray(String[]::new));
    assertThat(node.runningConfig()).isEqualTo(before);
    assertThat(text(node, CPU_STATE)).contains("none");
  }

  /** kubeadm upgrade does that: there is nothing of ours in it any more. */
  @Test
  void aMainFileThatItsOwnerWroteAnewIsLeftAlone() throws Exception {
    var anew = text(node, FakeKubeletHost.MAIN_FILE).replace("110", "120");
    cordon(node);
    edit(node, fragment());
    node.files.put(FakeKubeletHost.MAIN_FILE, anew.getBytes(UTF_8));
    node.files.remove(CPU_STATE);
    node.files.remove(MEMORY_STATE);
    node.stop(FakeKubeletHost.UNIT);
    node.start(FakeKubeletHost.UNIT);
    node.sleep(Duration.ofSeconds(30));
    restore(node, "");
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(anew);
    assertThat(node.files).doesNotContainKeys(MainFileEdit.notes().toArray(String[]::new));
  }

  @Test
  void anOwnersMainFileThatTheKubeletRefusesIsNotRestored() throws Exception {
    cordon(node);
    edit(node, fragment());
    var edited = text(node, FakeKubeletHost.MAIN_FILE);
    node.refuses = AttemptExecutorTest::ownSettings;
    restore(node, "");
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(text(node, FakeKubeletHost.MAIN_FILE)).isEqualTo(edited);
    assertThat(new MainFileEdit(node).found(FakeKubeletHost.MAIN_FILE).orElseThrow().plan())
        .as("it is known for ours again")
        .isEqualTo(DropIn.hash(fragment()));
    assertThat(node.files)
        .as("a node with Static managers needs its guard")
        .containsKeys(GuardFiles.SCRIPT, GuardFiles.dropIn(FakeKubeletHost.UNIT));
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void theDirectoryThatTheKubeletWasGivenIsTakenWithARestore() throws Exception {
    node.hasDirectory = false;
    var before = node.runningConfig().deepCopy();
    cordon(node);
    enable(node);
    restore(node);
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(node.files).doesNotContainKeys(DROP_IN, UNIT_DROP_IN);
    assertThat(node.mergesDropIns()).as("systemd has read that it is gone").isFalse();
    assertThat(node.runningConfig()).isEqualTo(before);
  }

  /** They would no longer count: the node's own settings are with them by now. */
  @Test
  void theDirectoryStaysWhileOthersHaveFilesInIt() throws Exception {
    node.hasDirectory = false;
    cordon(node);
    enable(node);
    node.files.put(FakeKubeletHost.DROP_IN_DIRECTORY + "/10-owner.conf", "a: 1".getBytes(UTF_8));
    restore(node);
    assertThat(last().result).as(last().error).isEqualTo(Result.Succeeded);
    assertThat(node.files).doesNotContainKey(DROP_IN).containsKey(UNIT_DROP_IN);
    assertThat(node.mergesDropIns()).isTrue();
  }

  @Test
  void theDirectoryComesBackWhenTheKubeletRefusesItsOwnSettings() throws Exception {
    node.hasDirectory = false;
    cordon(node);
    enable(node);
    var unit = text(node, UNIT_DROP_IN);
    node.refuses = AttemptExecutorTest::ownSettings;
    restore(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(text(node, UNIT_DROP_IN)).isEqualTo(unit);
    assertThat(node.mergesDropIns()).as("systemd has read that it is back").isTrue();
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(fragment()));
    assertThat(node.kubeletWell()).isTrue();
  }

  private static Optional<String> ownSettings(JsonNode config) {
    return config.path("cpuManagerPolicy").asText().equals("none")
        ? Optional.of("\"command failed\" err=\"the owner's file\"")
        : Optional.empty();
  }

  /** How the node got the operator's settings that are to be taken away. */
  private interface Delivered {
    void to(FakeKubeletHost host) throws Exception;
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfARestore() throws Exception {
    everyDeathOfARestore(this::start, FakeKubeletHost.DROP_IN_DIRECTORY);
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfARestoreOfTheMainFile() throws Exception {
    everyDeathOfARestore(host -> edit(host, fragment()), "");
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfARestoreThatTakesTheDirectory() throws Exception {
    everyDeathOfARestore(
        host -> {
          host.hasDirectory = false;
          enable(host);
        },
        FakeKubeletHost.DROP_IN_DIRECTORY);
  }

  private void everyDeathOfARestore(Delivered delivered, String directory) throws Exception {
    int deaths = 0;
    for (boolean died = true; died; ) {
      var host = new FakeKubeletHost();
      var before = host.runningConfig().deepCopy();
      var main = text(host, FakeKubeletHost.MAIN_FILE);
      cordon(host);
      delivered.to(host);
      host.diesAt = host.actions.size() + deaths;
      died = false;
      try {
        restore(host, directory);
      } catch (AgentDied e) {
        died = true;
        deaths++;
      }
      host.diesAt = -1;
      if (died && new JournalStore(host).load().orElseThrow().granted().attempt() == 3) {
        restore(host, directory); // the grant was not taken yet
      }
      executor(host).resume();
      host.sleep(Duration.ofMinutes(1));
      var when = "%d: %s".formatted(deaths, host.actions);
      assertThat(last().result).as(when).isEqualTo(Result.Succeeded);
      assertThat(host.kubeletWell()).as(when).isTrue();
      assertThat(host.files).as(when).doesNotContainKeys(DROP_IN, UNIT_DROP_IN);
      assertThat(text(host, FakeKubeletHost.MAIN_FILE)).as(when).isEqualTo(main);
      assertThat(host.mergesDropIns()).as(when).isEqualTo(host.hasDirectory);
      assertThat(host.runningConfig()).as(when).isEqualTo(before);
    }
    assertThat(deaths).isGreaterThan(20);
  }

  // ---- the guard

  @Test
  void thereIsNoChangeWithoutAGuard() throws Exception {
    cordon(node);
    node.ignoresDropIns = true;
    start(node);
    assertThat(last().result).isEqualTo(Result.Refused);
    assertThat(last().error).contains("systemd does not load the guard");
    assertThat(node.actions).doesNotContain("stop");
    assertThat(node.files).doesNotContainKeys(GuardFiles.SCRIPT, GuardFiles.TIMER_FILE);
  }

  @Test
  void theGuardIsThereBeforeTheKubeletIsStopped() throws Exception {
    cordon(node);
    start(node);
    assertThat(node.actions)
        .containsSubsequence(
            "write " + GuardFiles.SCRIPT,
            "write " + GuardFiles.dropIn(FakeKubeletHost.UNIT),
            "reload",
            "write " + GuardFiles.ARMED,
            "start timer",
            "stop",
            "start",
            "delete " + GuardFiles.ARMED,
            "stop timer");
  }

  @Test
  void theGuardsRestorationIsTold() throws Exception {
    cordon(node);
    bad().accept(node);
    var other = new FakeKubeletHost();
    bad().accept(other);
    cordon(other);
    start(other);
    node.diesAt = other.actions.indexOf("start") + 1;
    untilDeath(node);
    node.diesAt = -1;
    node.sleep(Duration.ofMinutes(6));
    var done = List.copyOf(node.actions);
    resumeOrStart(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error)
        .startsWith("restored by the guard after 3 unverified starts: \"command failed\"");
    assertThat(node.actions.subList(done.size(), node.actions.size()))
        .as("the guard's work is not done again")
        .doesNotContain("stop")
        .noneMatch(action -> action.contains(DROP_IN) || action.contains(CPU_STATE));
  }

  @Test
  void aRebootAfterAChangeKeepsNoKubeletDown() throws Exception {
    cordon(node);
    start(node);
    node.reboot();
    assertThat(node.kubeletWell()).isTrue();
    assertThat(text(node, MEMORY_STATE)).contains("Static").contains("boot-2");
    node.files.remove(GuardFiles.SCRIPT);
    node.bootId = "boot-3";
    node.crash("\"killed\"");
    node.sleep(Duration.ofMinutes(2));
    assertThat(node.kubeletWell()).as("without the guard").isFalse();
  }

  @Test
  void aLostGuardIsPutBack() throws Exception {
    cordon(node);
    start(node);
    node.files.remove(GuardFiles.SCRIPT);
    node.files.remove(GuardFiles.dropIn(FakeKubeletHost.UNIT));
    node.reload();
    executor(node).rest();
    assertThat(node.files.get(GuardFiles.SCRIPT)).isEqualTo(GuardFiles.script());
    assertThat(node.dropIns(FakeKubeletHost.UNIT)).hasSize(1);
  }

  @Test
  void aGuardThatCannotBePutToRestIsPutToRestLater() throws Exception {
    cordon(node);
    node.onAction =
        () ->
            node.unwritable = node.actions.contains("start") ? Set.of(GuardFiles.ARMED) : Set.of();
    var executor = executor(node);
    executor.start(granted(fragment()));
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(node.files).containsKey(GuardFiles.ARMED);
    assertThat(executor.rest()).as("it is told").get().asString().contains(GuardFiles.ARMED);
    node.onAction = () -> node.unwritable = Set.of();
    assertThat(executor.rest()).isEmpty();
    assertThat(node.files).doesNotContainKey(GuardFiles.ARMED);
    assertThat(node.active(GuardFiles.TIMER)).isFalse();
  }

  /** As the documentation says how to, while the kubelet runs with the change. */
  @Test
  void theWayBackInsistsOnNoGuard() throws Exception {
    cordon(node);
    node.quirk = config -> config.put("topologyManagerScope", "container");
    node.events.put(node.now().plusSeconds(2), this::removeGuard);
    start(node);
    rolledBack();
    assertThat(last().error).contains("topologyManagerScope is container, wanted pod");
  }

  private void removeGuard() {
    node.files.keySet().removeIf(path -> path.startsWith(GuardFiles.DIRECTORY));
    node.files.remove(GuardFiles.TIMER_FILE);
    node.ignoresDropIns = true;
    node.unwritable = Set.of(GuardFiles.ARMED);
    node.reload();
  }

  @Test
  void aGuardThatIsLostOnTheWayIsPutBackForTheWayBack() throws Exception {
    cordon(node);
    node.quirk = config -> config.put("topologyManagerScope", "container");
    var armed = new ArrayList<Boolean>();
    node.events.put(
        node.now().plusSeconds(2),
        () -> {
          node.files.keySet().removeIf(path -> path.startsWith(GuardFiles.DIRECTORY));
          node.actions.clear();
          node.onAction = () -> armed.add(node.actions.contains("stop") && guarded(node));
        });
    start(node);
    rolledBack();
    assertThat(armed).contains(true);
  }

  private static boolean guarded(FakeKubeletHost host) {
    return host.files.containsKey(GuardFiles.SCRIPT) && host.files.containsKey(GuardFiles.ARMED);
  }

  /** The bad configuration is on the disk still: only the guard can bring the other one back. */
  @Test
  void theGuardStaysArmedWhenTheRollbackFails() throws Exception {
    cordon(node);
    rollBackInVain();
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(fragment()));
    assertThat(node.files).containsKey(GuardFiles.ARMED);
    executor(node).rest();
    assertThat(node.files).as("also by an agent that is new").containsKey(GuardFiles.ARMED);
    guardIsBack();
    for (int start = 0; start < 4; start++) {
      node.crash("\"killed\"");
      node.sleep(Duration.ofSeconds(30));
    }
    assertThat(node.files).doesNotContainKey(DROP_IN);
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void onlyAnAttemptThatChangesSomethingDisarmsTheGuardOfAFailedRollback() throws Exception {
    cordon(node);
    rollBackInVain();
    guardIsBack();
    node.bootId = "boot-2"; // which the fences do not let pass
    restore(node);
    assertThat(last().result).isEqualTo(Result.Refused);
    assertThat(node.files).containsKey(GuardFiles.ARMED);
  }

  /** The drop-in cannot be taken away once it is there, and for that time there is no guard. */
  private void rollBackInVain() throws Exception {
    node.quirk = config -> config.put("topologyManagerScope", "container");
    node.events.put(
        node.now().plusSeconds(2),
        () -> {
          node.files.remove(GuardFiles.SCRIPT);
          node.unwritable = Set.of(DROP_IN, GuardFiles.SCRIPT);
        });
    start(node);
    assertThat(last().result).as(last().error).isEqualTo(Result.RollbackFailed);
  }

  private void guardIsBack() {
    node.unwritable = Set.of();
    node.files.put(GuardFiles.SCRIPT, GuardFiles.script());
  }

  // ---- the proof

  @Test
  void endsWithTheVerdictAndWhenThePodsAreGone() throws Exception {
    proof = true;
    cordon(node);
    node.proofPods = Set.of("default/train-0");
    node.containers.clear();
    node.events.put(
        node.now().plusSeconds(70), () -> node.containers.add(FakeKubeletHost.pinned()));
    node.events.put(node.now().plusSeconds(90), () -> node.verdict = "Passed");
    var gone = node.now().plusSeconds(110);
    node.events.put(gone, node.containers::clear);
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(last().proof).isEqualTo(ProofVerdict.Passed);
    assertThat(last().proofMessage).isEqualTo("what was seen");
    assertThat(steps()).containsSubsequence(Step.Verifying, Step.Proving, Step.Done);
    assertThat(node.now()).isBetween(gone, gone.plusSeconds(3));
    assertThat(node.actions).filteredOn(a -> a.equals("stop")).hasSize(1);
  }

  @Test
  void whatCouldNotBeProvenStaysAndIsTold() throws Exception {
    proof = true;
    cordon(node);
    node.verdict = "NotProven";
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(last().proof).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void aFailedProofIsRolledBackByTheAgentItself() throws Exception {
    proof = true;
    cordon(node);
    var before = Map.copyOf(node.files);
    node.verdict = "Failed";
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error).isEqualTo("the proof failed: what was seen");
    assertThat(node.files.get(CPU_STATE)).isEqualTo(before.get(CPU_STATE));
    assertThat(node.files).doesNotContainKey(DROP_IN);
    assertThat(node.runningConfig().path("cpuManagerPolicy").asText()).isEqualTo("none");
    assertThat(node.kubeletWell()).isTrue();
  }

  /** They were admitted by the kubelet as it is: state files of before know nothing of them. */
  @Test
  void podsThatDoNotGoKeepTheOldStateFilesFromComingBack() throws Exception {
    proof = true;
    cordon(node);
    node.proofPods = Set.of("default/train-0");
    node.events.put(
        node.now().plusSeconds(65), () -> node.containers.add(FakeKubeletHost.pinned()));
    node.events.put(node.now().plusSeconds(70), () -> node.verdict = "Failed");
    var old = node.files.get(CPU_STATE);
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(node.files.get(CPU_STATE)).isNotSameAs(old);
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void podsThatDoNotGoHoldNoGoodChangeUpForLong() throws Exception {
    proof = true;
    cordon(node);
    node.proofPods = Set.of("default/train-0");
    var from = node.now();
    node.events.put(from.plusSeconds(65), () -> node.containers.add(FakeKubeletHost.pinned()));
    node.events.put(from.plusSeconds(70), () -> node.verdict = "Passed");
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(Duration.between(from, node.now())).isLessThan(Duration.ofSeconds(140));
  }

  @Test
  void silenceIsNoFailureHoweverLong() throws Exception {
    proof = true;
    cordon(node);
    var hours = node.now().plus(Duration.ofHours(5));
    node.events.put(node.now().plusSeconds(70), () -> node.apiAway = true);
    node.events.put(hours, () -> node.apiAway = false);
    node.events.put(hours.plusSeconds(60), () -> node.verdict = "Passed");
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(node.now()).isAfter(hours);
    assertThat(node.actions).filteredOn(a -> a.equals("stop")).hasSize(1);
  }

  @Test
  void theVerdictOfAnotherAttemptIsNone() throws Exception {
    proof = true;
    cordon(node);
    node.proofOf = 2;
    node.verdict = "Failed";
    var later = node.now().plus(Duration.ofMinutes(10));
    node.events.put(
        later,
        () -> {
          node.proofOf = 3;
          node.verdict = "Passed";
        });
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(node.now()).isAfterOrEqualTo(later);
  }

  @Test
  void aKubeletThatCrashesMeanwhileIsRolledBackWithoutAnybodysWord() throws Exception {
    proof = true;
    cordon(node);
    node.events.put(
        node.now().plusSeconds(80),
        () -> {
          node.apiAway = true;
          node.crash("\"command failed\" err=\"late\"");
        });
    start(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error).contains("did not stay up", "late");
  }

  @Test
  void withoutAProofTheVerdictIsNotAskedFor() throws Exception {
    cordon(node);
    node.verdict = "Failed";
    start(node);
    assertThat(last().result).isEqualTo(Result.Succeeded);
    assertThat(last().proof).isNull();
    assertThat(steps()).doesNotContain(Step.Proving);
  }

  /** Of an agent that knew no proof. */
  @Test
  void aJournalWithoutProofIsRead() throws Exception {
    var json = new ObjectMapper();
    var journal =
        json.valueToTree(
            new Journal(
                granted(fragment()),
                Journal.Before.unknown(),
                new Phase.Done(Result.Succeeded, ""),
                0));
    ((ObjectNode) journal.path("granted")).remove("proof");
    ((ObjectNode) journal.path("phase")).remove("proof");
    var read = json.treeToValue(journal, Journal.class);
    assertThat(read.granted().proof()).isFalse();
    assertThat(read.report().proof).isNull();
    assertThat(read.done()).isTrue();
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfAProvenChange() throws Exception {
    proof = true;
    everyDeath(
        "a proven change, agent back at once",
        node -> node.verdict = "Passed",
        Absence.NONE,
        Result.Succeeded);
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfAChangeWhoseProofFails() throws Exception {
    proof = true;
    everyDeath(
        "a change whose proof fails, agent back at once",
        node -> node.verdict = "Failed",
        Absence.NONE,
        Result.RolledBack);
  }

  @Test
  void goesOnAfterARebootAtAnyActionOfAProvenChange() throws Exception {
    proof = true;
    everyDeath(
        "a proven change, reboot",
        node -> node.verdict = "Passed",
        Absence.REBOOT,
        Result.Refused,
        Result.RolledBack,
        Result.Succeeded);
  }

  @Test
  void theGuardAloneBringsTheKubeletUpAfterADeathAtAnyActionOfAProvenChange() throws Exception {
    proof = true;
    everyDeath(
        "a proven change, the guard alone",
        node -> node.verdict = "Passed",
        Absence.LONG,
        Result.RolledBack,
        Result.Succeeded);
  }

  // ---- dying at any point

  /** What happens between the agent's death and its return. */
  private enum Absence {
    /** Something starts the agent again at once. */
    NONE,
    /**
     * Nothing does while the kubelet is down: the guard alone brings that up, the agent is late.
     */
    LONG,
    REBOOT
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfAGoodChange() throws Exception {
    everyDeath("a good change, agent back at once", node -> {}, Absence.NONE, Result.Succeeded);
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfABadChange() throws Exception {
    everyDeath("a bad change, agent back at once", bad(), Absence.NONE, Result.RolledBack);
  }

  @Test
  void goesOnAfterARebootAtAnyActionOfAGoodChange() throws Exception {
    everyDeath(
        "a good change, reboot",
        node -> {},
        Absence.REBOOT,
        Result.Refused,
        Result.RolledBack,
        Result.Succeeded);
  }

  @Test
  void goesOnAfterARebootAtAnyActionOfABadChange() throws Exception {
    everyDeath("a bad change, reboot", bad(), Absence.REBOOT, Result.Refused, Result.RolledBack);
  }

  @Test
  void theGuardAloneBringsTheKubeletUpAfterADeathAtAnyActionOfAGoodChange() throws Exception {
    everyDeath(
        "a good change, the guard alone",
        node -> {},
        Absence.LONG,
        Result.RolledBack,
        Result.Succeeded);
  }

  @Test
  void theGuardAloneBringsTheKubeletUpAfterADeathAtAnyActionOfABadChange() throws Exception {
    everyDeath("a bad change, the guard alone", bad(), Absence.LONG, Result.RolledBack);
  }

  @Test
  void theGuardAloneBringsAKubeletUpThatSystemdDoesNotRestart() throws Exception {
    everyDeath(
        "a bad change, Restart=no, the guard alone",
        bad().andThen(node -> node.restartsItself = false),
        Absence.LONG,
        Result.RolledBack);
  }

  @Test
  void theGuardAloneBringsAnEarlierDropInBack() throws Exception {
    everyDeath(
        "a bad second change, the guard alone",
        node -> {
          var earlier = new KubeletFragment();
          earlier.topologyManagerPolicy = "best-effort";
          node.files.put(DROP_IN, DropIn.render(earlier));
          node.stop(FakeKubeletHost.UNIT);
          node.start(FakeKubeletHost.UNIT);
          node.sleep(Duration.ofSeconds(30));
          node.actions.clear();
          bad().accept(node);
        },
        Absence.LONG,
        Result.RolledBack);
  }

  @Test
  void goesOnAfterDyingTwice() throws Exception {
    int points = 0;
    for (int first = 0; ; first += 5) {
      boolean died = false;
      for (int second = first + 1; second < first + 40; second += 7) {
        var host = new FakeKubeletHost();
        bad().accept(host);
        cordon(host);
        host.diesAt = first;
        died |= untilDeath(host);
        host.diesAt = second;
        died |= untilDeath(host);
        host.diesAt = -1;
        resumeOrStart(host);
        consistent(host, Map.of(), Set.of(Result.RolledBack), first + ", " + second);
        points++;
      }
      if (!died) {
        break;
      }
    }
    System.out.printf("%d pairs of interruption points: a bad change%n", points);
  }

  private static Consumer<FakeKubeletHost> bad() {
    return node -> node.refuses = AttemptExecutorTest::noReservation;
  }

  private void everyDeath(
      String what, Consumer<FakeKubeletHost> setUp, Absence absence, Result... results)
      throws Exception {
    int deaths = 0;
    int restored = 0;
    for (; ; deaths++) {
      var host = new FakeKubeletHost();
      setUp.accept(host);
      cordon(host);
      var before = Map.copyOf(host.files);
      host.diesAt = deaths;
      if (!untilDeath(host)) {
        break; // all actions were tried
      }
      host.diesAt = -1;
      var when = "%s, before action %d of %s".formatted(what, deaths, host.actions);
      if (!new JournalStore(host).load().filter(Journal::done).isPresent()) {
        restored += absent(host, absence, when) ? 1 : 0;
      }
      resumeOrStart(host);
      consistent(host, before, Set.of(results), when);
    }
    System.out.printf(
        "%d interruption points: %s (restored by the guard at %d)%n", deaths, what, restored);
    assertThat(deaths).isGreaterThan(30);
    assertThat(restored > 0).isEqualTo(what.startsWith("a bad") && absence != Absence.NONE);
  }

  /**
   * Lets the time pass.
   *
   * @return whether the guard has restored what was before
   */
  private static boolean absent(FakeKubeletHost host, Absence absence, String when) {
    switch (absence) {
      case NONE -> {}
      case REBOOT -> host.reboot();
      case LONG -> {
        host.sleep(Duration.ofMinutes(6));
        assertThat(host.kubeletWell()).as("by the guard alone: " + when).isTrue();
      }
    }
    return host.files.containsKey(GuardFiles.RESTORED);
  }

  private void consistent(
      FakeKubeletHost host, Map<String, byte[]> before, Set<Result> results, String when) {
    host.sleep(Duration.ofMinutes(1));
    assertThat(host.kubeletWell()).as(when).isTrue();
    assertThat(last().result).as(when).isIn(results);
    boolean applied = last().result == Result.Succeeded;
    assertThat(host.files.get(DROP_IN))
        .as(when)
        .isEqualTo(applied ? DropIn.render(fragment()) : before.get(DROP_IN));
    assertThat(host.runningConfig().path("cpuManagerPolicy").asText())
        .as(when)
        .isEqualTo(applied ? "static" : "none");
    // the guard is where configuration of ours is, and at rest
    boolean managed = host.files.containsKey(DROP_IN);
    assertThat(host.files.containsKey(GuardFiles.SCRIPT)).as(when).isEqualTo(managed);
    assertThat(host.files.containsKey(GuardFiles.TIMER_FILE)).as(when).isEqualTo(managed);
    assertThat(host.dropIns(FakeKubeletHost.UNIT)).as(when).hasSize(managed ? 1 : 0);
    assertThat(host.files)
        .as(when)
        .doesNotContainKeys(GuardFiles.ARMED, GuardFiles.STARTS, GuardFiles.RESTORED);
    assertThat(host.active(GuardFiles.TIMER)).as(when).isFalse();
  }

  /** As the agent does: what the journal holds first, then the grant if that is still new. */
  private void resumeOrStart(FakeKubeletHost host) throws Exception {
    var executor = executor(host);
    executor.resume();
    executor.rest();
    if (new JournalStore(host).load().isEmpty()) {
      start(host);
    }
  }

  private boolean untilDeath(FakeKubeletHost host) throws Exception {
    try {
      resumeOrStart(host);
      return false;
    } catch (AgentDied e) {
      return true;
    }
  }

  // ---- making things

  private static Optional<String> noReservation(JsonNode config) {
    return config.path("cpuManagerPolicy").asText().equals("static")
        ? Optional.of(
            "\"command failed\" err=\"[cpumanager] unable to determine reserved CPU resources for"
                + " static policy\"")
        : Optional.empty();
  }

  private static KubeletFragment fragment() {
    var fragment = new KubeletFragment();
    fragment.cpuManagerPolicy = "static";
    fragment.reservedSystemCPUs = "0,4";
    fragment.memoryManagerPolicy = "Static";
    fragment.reservedMemory = List.of(new KubeletFragment.MemoryReservation(0, "1Gi"));
    fragment.systemReserved = Map.of("memory", "1Gi");
    fragment.topologyManagerPolicy = "single-numa-node";
    fragment.topologyManagerScope = "pod";
    return fragment;
  }

  private static Duration window() {
    return Duration.ofSeconds(60);
  }

  private static void cordon(FakeKubeletHost host) {
    host.cordonedFor = Optional.of("gpu-nodes/3");
  }

  private void start(FakeKubeletHost host) throws Exception {
    start(host, fragment());
  }

  private void start(FakeKubeletHost host, KubeletFragment fragment) throws Exception {
    start(host, granted(fragment));
  }

  private void start(FakeKubeletHost host, Journal.Granted granted) throws Exception {
    executor(host).start(granted);
  }

  private Journal.Granted granted(KubeletFragment fragment) {
    return granted(3, fragment, Form.DROP_IN, FakeKubeletHost.DROP_IN_DIRECTORY, List.of());
  }

  private void restore(FakeKubeletHost host) throws Exception {
    restore(host, FakeKubeletHost.DROP_IN_DIRECTORY);
  }

  /** Attempt 4: back to the node's own settings. */
  private void restore(FakeKubeletHost host, String directory) throws Exception {
    host.cordonedFor = Optional.of("gpu-nodes/4");
    executor(host).start(granted(4, new KubeletFragment(), Form.NONE, directory, List.of()));
  }

  private Journal.Granted granted(
      long attempt, KubeletFragment fragment, Form form, String directory, List<String> execStart) {
    return new Journal.Granted(
        attempt,
        DropIn.hash(fragment),
        "gpu-nodes",
        "boot-1",
        fragment,
        window().toMillis(),
        FakeKubeletHost.UNIT,
        directory,
        FakeKubeletHost.ROOT,
        form,
        execStart,
        FakeKubeletHost.MAIN_FILE,
        proof);
  }

  private AttemptExecutor executor(FakeKubeletHost host) {
    var log = new Log(new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    var guard = new Guard(host.access(), Guard.PATIENCE);
    return new AttemptExecutor(host.access(), new JournalStore(host), guard, reports::add, log);
  }

  private Attempt last() {
    return reports.getLast();
  }

  private List<Step> steps() {
    return reports.stream().map(report -> report.step).distinct().toList();
  }

  private static String text(FakeKubeletHost host, String file) {
    return new String(host.files.getOrDefault(file, new byte[0]), UTF_8);
  }
}
