package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.Condition;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.PciDevice;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.StateFiles;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Wait;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A healthy node, then one link broken at a time: each must be seen, and none leaves it ready. */
class NodeReadinessTest {
  /** What can be broken; everything is well until a test changes it. */
  private static final class World {
    final NumaPolicySpec policy = new NumaPolicySpec();
    final NumaNodeStateStatus observed = new NumaNodeStateStatus();
    boolean paused;
    boolean approved = true;
    boolean nodeReady = true;
    Agent agent = new Agent.Alive();
    Plan plan = new Plan.Ready("h", List.of());
    Cordon cordon = new Cordon.None();
    boolean skipped;
    Optional<Grant> grant = Optional.empty();
    Outcome outcome = Outcome.Succeeded;
    Optional<Wait> waitsFor = Optional.empty();
    NodeEvidence.Scheduler scheduler = new NodeEvidence.Scheduler.NotWanted();
    Optional<String> heldBack = Optional.empty();
    Topology topology = new Topology.Published(List.of());
    Devices devicesChange = new Devices.AsWanted();
    DeviceEvidence devices = DeviceEvidence.NONE;

    World() {
      policy.mode = NumaPolicySpec.Mode.Enforce;
      observed.inventory = new Inventory();
      observed.inventory.kubelet = new KubeletFacts();
      observed.inventory.kubelet.pid = 42L;
      observed.inventory.gpuCount = 1;
      var zone = new ZoneFacts();
      zone.id = 0;
      zone.devices = List.of(new DeviceCount("nvidia.com/gpu", 1));
      zone.pci = List.of(gpu());
      observed.inventory.zones = List.of(zone);
      observed.effective = new EffectiveKubelet();
      observed.effective.settings = new KubeletFragment();
      observed.effective.settings.topologyManagerPolicy = "single-numa-node";
      observed.effective.settings.topologyManagerScope = "pod";
      observed.stateFiles = new StateFiles();
      observed.stateFiles.cpuPolicy = "static";
      observed.stateFiles.memoryPolicy = "Static";
      observed.attempt = new Attempt();
      observed.attempt.number = 1L;
      observed.attempt.step = Step.Done;
      observed.attempt.result = Result.Succeeded;
    }

    NodeEvidence evidence() {
      var target =
          switch (plan) {
            case Plan.Ready ready when !ready.differences().isEmpty() && !approved ->
                new Target.Unapproved("all-plans");
            case Plan.Ready ready when !ready.differences().isEmpty() ->
                new Target.Change(ready.hash());
            case Plan.Ready ready -> new Target.Reached();
            default -> new Target.Unplanned();
          };
      return new NodeEvidence(
          policy,
          paused,
          new NodeFacts("n", nodeReady, "boot"),
          agent,
          plan,
          new NodeProgress(
              "n",
              "",
              target,
              nodeReady,
              cordon,
              skipped,
              true,
              "boot",
              grant,
              Optional.of(new NodeProgress.Attempt(1, "h", outcome, Instant.EPOCH)),
              heldBack,
              List.of(),
              Optional.empty(),
              false,
              false,
              Drain.NONE,
              devicesChange),
          waitsFor,
          observed,
          topology,
          scheduler,
          devices);
    }

    void differs() {
      plan = new Plan.Ready("h2", List.of("topologyManagerPolicy is none, wanted restricted"));
    }

    void ended(Result result) {
      observed.attempt.result = result;
      observed.attempt.error = "the kubelet's own line";
      outcome = Outcome.valueOf(result.name());
    }
  }

  private static PciDevice gpu() {
    var device = new PciDevice();
    device.address = "0000:10:00.0";
    device.pciClass = "0302";
    return device;
  }

  /** Somebody else delivers: while it differs, what it waits for is said; then it is as any. */
  @Test
  void aNodeOfAnotherDeliverySaysWhatItWaitsFor() {
    var w = new World();
    w.plan = new Plan.Elsewhere(List.of("scope is pod"), "AwaitingOwner", "see key x");
    var verdict = NodeReadiness.judge(w.evidence()).get(NodeReadiness.KUBELET);
    assertThat(verdict.status()).isEqualTo(Condition.Status.False);
    assertThat(verdict.reason()).isEqualTo("AwaitingOwner");
    assertThat(verdict.message()).isEqualTo("see key x; to change: scope is pod");
    w.plan = new Plan.Elsewhere(List.of(), "AwaitingOwner", "see key x");
    assertThat(NodeReadiness.judge(w.evidence()).get(NodeReadiness.KUBELET).reason())
        .isEqualTo("Configured");
    w.observed.stateFiles.cpuPolicy = "none";
    assertThat(NodeReadiness.judge(w.evidence()).get(NodeReadiness.KUBELET).reason())
        .isEqualTo("StateFilesDisagree");
  }

  @Test
  void aHealthyNodeIsReady() {
    var verdicts = NodeReadiness.judge(new World().evidence());
    assertThat(verdicts.get(NodeReadiness.KUBELET).reason()).isEqualTo("Configured");
    assertThat(verdicts.get(NodeReadiness.DEVICES).reason()).isEqualTo("Reporting");
    assertThat(verdicts.get(NodeReadiness.TOPOLOGY).reason()).isEqualTo("Published");
    assertThat(verdicts.get(NodeReadiness.SCHEDULER).status()).isEqualTo(Status.Unknown);
    assertThat(verdicts.get(NodeReadiness.ALIGNMENT).isTrue()).isTrue();
  }

  /** It holds nothing up, but whoever looks sees it. */
  @Test
  void whatTheNextVersionStopsAtIsSaid() {
    var world = new World();
    world.plan =
        new Plan.Ready("h", List.of(), false, Optional.of("Kubernetes 1.36: remove the gate."));
    var verdict = NodeReadiness.judge(world.evidence()).get(NodeReadiness.KUBELET);
    assertThat(verdict.isTrue()).isTrue();
    assertThat(verdict.message()).endsWith("before an upgrade: Kubernetes 1.36: remove the gate.");
  }

  private static Wait backoff(String why) {
    return new Wait.Backoff(new GivenUp(3, Instant.parse("2026-01-01T22:00:00Z"), why));
  }

  private static Arguments broken(
      String type, Status status, String reason, String message, Consumer<World> how) {
    return Arguments.of(type, status, reason, message, how);
  }

  static Stream<Arguments> brokenLinks() {
    var kubelet = NodeReadiness.KUBELET;
    var devices = NodeReadiness.DEVICES;
    var topology = NodeReadiness.TOPOLOGY;
    return Stream.of(
        broken(
            kubelet,
            Status.Unknown,
            "AwaitingInventory",
            "not reported",
            w -> w.observed.inventory = null),
        broken(
            kubelet,
            Status.Unknown,
            "AgentSilent",
            "pod is gone",
            w -> w.agent = new Agent.Silent("AgentSilent", "pod is gone")),
        broken(
            kubelet,
            Status.Unknown,
            "InventoryOutdated",
            "last boot",
            w -> w.agent = new Agent.Silent("InventoryOutdated", "before the last boot")),
        broken(
            kubelet,
            Status.Unknown,
            "AwaitingSettings",
            "configz says 401",
            w -> {
              w.plan = new Plan.Awaited();
              w.observed.agentError = "configz says 401";
            }),
        broken(
            kubelet,
            Status.False,
            "TooManyZones",
            "34 zones",
            w -> w.plan = new Plan.Refused("TooManyZones", "34 zones")),
        broken(
            kubelet,
            Status.False,
            "Updating",
            "granted",
            w -> w.grant = Optional.of(new Grant(2, "h", "boot"))),
        broken(
            kubelet,
            Status.False,
            "Updating",
            "Verifying",
            w -> {
              w.outcome = Outcome.Running;
              w.observed.attempt.step = Step.Verifying;
            }),
        broken(
            kubelet,
            Status.False,
            "RolledBack",
            "the kubelet's own line",
            w -> {
              w.differs();
              w.plan = new Plan.Ready("h", List.of("x"));
              w.ended(Result.RolledBack);
            }),
        broken(
            kubelet,
            Status.False,
            "RollbackFailed",
            "stays cordoned",
            w -> {
              w.nodeReady = false;
              w.ended(Result.RollbackFailed);
            }),
        broken(
            kubelet,
            Status.False,
            "Differs",
            "Enforce would change topologyManagerPolicy",
            w -> {
              w.policy.mode = NumaPolicySpec.Mode.Observe;
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "Skipped",
            "left alone",
            w -> {
              w.skipped = true;
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "Paused",
            "paused",
            w -> {
              w.paused = true;
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "WaitingForPods",
            "train/llm",
            w -> {
              w.cordon = new Cordon.Ours(2);
              w.waitsFor =
                  Optional.of(
                      new Wait.Pods(List.of("train/llm"), Optional.empty(), Optional.empty()));
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "Cordoned",
            "attempt 2",
            w -> {
              w.cordon = new Cordon.Ours(2);
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "CordonedByOthers",
            "somebody else",
            w -> {
              w.cordon = new Cordon.Foreign();
              w.differs();
            }),
        broken(
            kubelet,
            Status.False,
            "GrantRefused",
            "the kubelet's own line",
            w -> {
              w.differs();
              w.ended(Result.Refused);
            }),
        broken(
            kubelet,
            Status.False,
            "GrantRefused",
            "refused 3 times in a row; tried again at 2026-01-01T22:00:00Z; the agent said: the",
            w -> {
              w.differs();
              w.ended(Result.Refused);
              w.waitsFor = Optional.of(backoff("its agent refused the grant"));
            }),
        broken(
            kubelet,
            Status.False,
            "DrainGivenUp",
            "in the way: train/llm",
            w -> {
              w.differs();
              w.ended(Result.Refused);
              w.waitsFor = Optional.of(backoff("train/llm"));
            }),
        broken(kubelet, Status.False, "Waiting", "its turn", World::differs),
        broken(
            kubelet,
            Status.False,
            "Drifted",
            "somebody undid what was applied",
            w -> w.plan = new Plan.Ready("h", List.of("x"), true, Optional.empty())),
        broken(
            kubelet,
            Status.False,
            "WaitingForApproval",
            "set its spec.approvedPlan to all-plans. To change: topologyManagerPolicy",
            w -> {
              w.differs();
              w.approved = false;
            }),
        broken(
            kubelet,
            Status.False,
            "OutsideWindow",
            "opens at 1970-01-01T00:00:00Z; to change: topologyManagerPolicy",
            w -> {
              w.differs();
              w.ended(Result.Refused); // long ago: it is not what it waits for now
              w.waitsFor = Optional.of(new Wait.Window(Optional.of(Instant.EPOCH)));
            }),
        broken(
            kubelet,
            Status.False,
            "AgentOutdated",
            "is replaced first",
            w -> {
              w.differs();
              w.agent = new Agent.Outdated("is replaced first");
            }),
        broken(
            kubelet,
            Status.False,
            "WaitingForScheduler",
            "no scheduler is live",
            w -> {
              w.differs();
              w.heldBack = Optional.of("no scheduler is live");
            }),
        broken(
            NodeReadiness.SCHEDULER,
            Status.False,
            "SchedulerDown",
            "no replica",
            w -> w.scheduler = new NodeEvidence.Scheduler.Down("no replica")),
        broken(
            NodeReadiness.SCHEDULER,
            Status.False,
            "NotSeen",
            "has not read",
            w -> w.scheduler = new NodeEvidence.Scheduler.Unaware("has not read it")),
        broken(
            kubelet,
            Status.False,
            "StateFilesDisagree",
            "CPU none",
            w -> w.observed.stateFiles.cpuPolicy = "none"),
        broken(
            kubelet,
            Status.False,
            "StateFilesDisagree",
            "absent",
            w -> w.observed.stateFiles.memoryPolicy = null),
        broken(
            kubelet,
            Status.False,
            "KubeletDown",
            "not running",
            w -> w.observed.inventory.kubelet.pid = null),
        broken(kubelet, Status.False, "NodeNotReady", "Ready", w -> w.nodeReady = false),
        broken(
            devices,
            Status.False,
            "DevicesWithoutZone",
            "2 nvidia.com/gpu",
            w ->
                w.observed.inventory.unplacedDevices =
                    List.of(new DeviceCount("nvidia.com/gpu", 2))),
        broken(
            devices,
            Status.False,
            "NoDevicePlugin",
            "1 GPUs",
            w -> {
              w.observed.inventory.gpuCount = 0;
              w.observed.inventory.zones.getFirst().devices = List.of();
            }),
        broken(
            devices,
            Status.False,
            "DeviceZonesDisagree",
            "zone 0",
            w -> w.observed.inventory.zones.getFirst().devices = List.of()),
        broken(
            topology,
            Status.Unknown,
            "NotJudged",
            "not compared",
            w -> w.topology = new Topology.NotJudged("not compared")),
        broken(
            topology,
            Status.False,
            "NotPublished",
            "no NodeResourceTopology",
            w -> w.topology = new Topology.Missing()),
        broken(
            topology,
            Status.False,
            "Stale",
            "node-0 cpu",
            w -> w.topology = new Topology.Published(List.of("node-0 cpu available is 3"))));
  }

  @ParameterizedTest(name = "{0} {2}")
  @MethodSource("brokenLinks")
  void aBrokenLinkIsTold(
      String type, Status status, String reason, String message, Consumer<World> how) {
    var world = new World();
    how.accept(world);
    var verdicts = NodeReadiness.judge(world.evidence());
    var verdict = verdicts.get(type);
    assertThat(verdict.reason()).isEqualTo(reason);
    assertThat(verdict.status()).isEqualTo(status);
    assertThat(verdict.message()).contains(message);
    assertThat(verdicts.get(NodeReadiness.ALIGNMENT).isTrue()).isFalse();
    assertThat(verdicts.get(NodeReadiness.ALIGNMENT).reason()).isEqualTo(reason);
    var conditions = Conditions.update(List.of(), verdicts, 1L, Instant.EPOCH);
    assertThat(Conditions.isTrue(conditions, NodeReadiness.ALIGNMENT))
        .as("the node is labelled numaoperator.io/aligned")
        .isFalse();
  }

  static Stream<Arguments> brokenSchedulers() {
    return Stream.of(
        Arguments.of(new NodeEvidence.Scheduler.Down("no replica"), "SchedulerDown"),
        Arguments.of(new NodeEvidence.Scheduler.Unaware("it has not read this node"), "NotSeen"),
        Arguments.of(new NodeEvidence.Scheduler.NotJudged("of another kind"), "NotJudged"));
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("brokenSchedulers")
  void aBrokenSchedulerTakesTheLabel(NodeEvidence.Scheduler scheduler, String reason) {
    var world = new World();
    world.scheduler = new NodeEvidence.Scheduler.Aware(0);
    assertThat(isLabelled(world)).isTrue();
    world.scheduler = scheduler;
    assertThat(isLabelled(world)).isFalse();
    assertThat(NodeReadiness.judge(world.evidence()).get(NodeReadiness.ALIGNMENT).reason())
        .isEqualTo(reason);
  }

  private static boolean isLabelled(World world) {
    var verdicts = NodeReadiness.judge(world.evidence());
    return Conditions.isTrue(
        Conditions.update(List.of(), verdicts, 1L, Instant.EPOCH), NodeReadiness.ALIGNMENT);
  }

  @Test
  void aSchedulerThatIsNotJudgedKeepsTheNodeFromBeingReady() {
    var world = new World();
    world.scheduler = new NodeEvidence.Scheduler.NotJudged("of another kind");
    assertThat(NodeReadiness.judge(world.evidence()).get(NodeReadiness.ALIGNMENT).status())
        .isEqualTo(Status.Unknown);
  }

  /** It is ready, and says openly that this is somebody's word. */
  @Test
  void aSchedulerThatIsAssumedToSeeZonesIsSaidToBeAssumed() {
    var world = new World();
    world.scheduler = new NodeEvidence.Scheduler.Assumed("theirs");
    var verdicts = NodeReadiness.judge(world.evidence());
    assertThat(verdicts.get(NodeReadiness.SCHEDULER).reason()).isEqualTo("AssumedAware");
    assertThat(verdicts.get(NodeReadiness.SCHEDULER).message()).contains("theirs", "owner's word");
    assertThat(verdicts.get(NodeReadiness.ALIGNMENT).isTrue()).isTrue();
  }

  @Test
  void aMachineWithoutGpusHasNothingToReport() {
    var world = new World();
    world.observed.inventory.gpuCount = 0;
    world.observed.inventory.zones.getFirst().devices = List.of();
    world.observed.inventory.zones.getFirst().pci = List.of();
    assertThat(NodeReadiness.judge(world.evidence()).get(NodeReadiness.DEVICES).reason())
        .isEqualTo("NoDevices");
  }
}
