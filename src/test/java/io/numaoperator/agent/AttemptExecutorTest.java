package io.numaoperator.agent;

import static io.numaoperator.agent.FakeKubeletHost.CPU_STATE;
import static io.numaoperator.agent.FakeKubeletHost.DROP_IN;
import static io.numaoperator.agent.FakeKubeletHost.MEMORY_STATE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.agent.FakeKubeletHost.AgentDied;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.api.KubeletFragment;
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
  private final FakeKubeletHost node = new FakeKubeletHost();
  private final List<Attempt> reports = new ArrayList<>();

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
    var journalWrites = 1 + 1 + 2 + 1; // Preparing, configz, two state files, no drop-in
    node.diesAt = journalWrites;
    node.diesAfter = true;
    untilDeath(node);
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
    assertThat(node.actions).allMatch(a -> a.startsWith("write /var/lib/numaoperator/"));
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

  @Test
  void withoutALogFileTheErrorSaysWhereToLook() throws Exception {
    cordon(node);
    node.files.remove(KubeletLog.FILE);
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
    node.refuses =
        config ->
            config.path("cpuManagerPolicy").asText().equals("none")
                ? Optional.of("\"command failed\" err=\"the owner's file\"")
                : Optional.empty();
    restore(node);
    assertThat(last().result).isEqualTo(Result.RolledBack);
    assertThat(last().error).contains("the owner's file");
    assertThat(node.files.get(DROP_IN)).isEqualTo(DropIn.render(fragment()));
    assertThat(node.files.get(MEMORY_STATE)).isEqualTo(state);
    assertThat(node.kubeletWell()).isTrue();
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfARestore() throws Exception {
    int deaths = 0;
    for (boolean after : new boolean[] {false, true}) {
      for (int at = 0; ; at++) {
        var host = new FakeKubeletHost();
        cordon(host);
        start(host);
        host.diesAt = host.actions.size() + at;
        host.diesAfter = after;
        boolean died = false;
        try {
          restore(host);
        } catch (AgentDied e) {
          died = true;
        }
        host.diesAt = -1;
        if (died && new JournalStore(host).load().orElseThrow().granted().attempt() == 3) {
          restore(host); // the grant was not taken yet
        }
        executor(host).resume();
        host.sleep(Duration.ofMinutes(1));
        assertThat(last().result).isEqualTo(Result.Succeeded);
        assertThat(host.kubeletWell()).isTrue();
        assertThat(host.files).doesNotContainKey(DROP_IN);
        if (!died) {
          break;
        }
        deaths++;
      }
    }
    assertThat(deaths).isGreaterThan(20);
  }

  // ---- dying at any point

  @Test
  void goesOnAfterDyingAtAnyActionOfAGoodChange() throws Exception {
    everyDeath(node -> {}, Set.of(Result.Succeeded), node -> {});
  }

  @Test
  void goesOnAfterDyingAtAnyActionOfABadChange() throws Exception {
    everyDeath(
        node -> node.refuses = AttemptExecutorTest::noReservation,
        Set.of(Result.RolledBack),
        node -> {});
  }

  @Test
  void goesOnAfterARebootAtAnyActionOfAGoodChange() throws Exception {
    everyDeath(
        node -> {},
        Set.of(Result.Refused, Result.RolledBack, Result.Succeeded),
        FakeKubeletHost::reboot);
  }

  @Test
  void goesOnAfterARebootAtAnyActionOfABadChange() throws Exception {
    everyDeath(
        node -> node.refuses = AttemptExecutorTest::noReservation,
        Set.of(Result.Refused, Result.RolledBack),
        FakeKubeletHost::reboot);
  }

  @Test
  void goesOnAfterDyingTwice() throws Exception {
    for (int first = 0; first < 40; first++) {
      for (int second = first + 1; second < 40; second += 2) {
        var host = new FakeKubeletHost();
        host.refuses = AttemptExecutorTest::noReservation;
        cordon(host);
        host.diesAt = first;
        boolean died = untilDeath(host);
        host.diesAt = second;
        died |= untilDeath(host);
        host.diesAt = -1;
        resumeOrStart(host);
        consistent(host, Set.of(Result.RolledBack), "%d, %d".formatted(first, second));
        if (!died) {
          return;
        }
      }
    }
  }

  private void everyDeath(
      Consumer<FakeKubeletHost> setUp, Set<Result> results, Consumer<FakeKubeletHost> meanwhile)
      throws Exception {
    int deaths = 0;
    for (boolean after : new boolean[] {false, true}) {
      for (int at = 0; ; at++) {
        var host = new FakeKubeletHost();
        setUp.accept(host);
        cordon(host);
        host.diesAt = at;
        host.diesAfter = after;
        if (!untilDeath(host)) {
          break; // all actions were tried
        }
        deaths++;
        host.diesAt = -1;
        if (new JournalStore(host).load().filter(Journal::done).isPresent()) {
          continue; // what happens to the node after the attempt is not of the attempt
        }
        meanwhile.accept(host);
        resumeOrStart(host);
        consistent(
            host,
            results,
            "%s action %d of %s".formatted(after ? "after" : "before", at, host.actions));
      }
    }
    assertThat(deaths).isGreaterThan(20);
  }

  private void consistent(FakeKubeletHost host, Set<Result> results, String when) {
    host.sleep(Duration.ofMinutes(1));
    assertThat(host.kubeletWell()).as(when).isTrue();
    assertThat(last().result).as(when).isIn(results);
    boolean applied = last().result == Result.Succeeded;
    assertThat(host.files.containsKey(DROP_IN)).as(when).isEqualTo(applied);
    assertThat(host.runningConfig().path("cpuManagerPolicy").asText())
        .as(when)
        .isEqualTo(applied ? "static" : "none");
  }

  /** As the agent does: what the journal holds first, then the grant if that is still new. */
  private void resumeOrStart(FakeKubeletHost host) throws Exception {
    executor(host).resume();
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
    executor(host)
        .start(
            new Journal.Granted(
                3,
                DropIn.hash(fragment),
                "gpu-nodes",
                "boot-1",
                fragment,
                window().toMillis(),
                FakeKubeletHost.UNIT,
                FakeKubeletHost.DROP_IN_DIRECTORY,
                FakeKubeletHost.ROOT,
                false));
  }

  /** Attempt 4: back to the node's own settings. */
  private void restore(FakeKubeletHost host) throws Exception {
    host.cordonedFor = Optional.of("gpu-nodes/4");
    executor(host)
        .start(
            new Journal.Granted(
                4,
                DropIn.hash(new KubeletFragment()),
                "gpu-nodes",
                "boot-1",
                new KubeletFragment(),
                window().toMillis(),
                FakeKubeletHost.UNIT,
                FakeKubeletHost.DROP_IN_DIRECTORY,
                FakeKubeletHost.ROOT,
                true));
  }

  private AttemptExecutor executor(FakeKubeletHost host) {
    var log = new Log(new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    return new AttemptExecutor(host.access(), new JournalStore(host), reports::add, log);
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
