package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.KubeletPolicy.ReservedMemory;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateSpec.DesiredKubelet;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.ConfigFiles;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.api.NumaNodeStateStatus.StateFiles;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.RolloutPolicy.OnDelete;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.plan.Policies;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.topology.TestMachine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Plans, their approval and the way back, by who brings the settings to the node. */
class PlanStandingTest {
  private static final String OWN =
      "{systemReserved: {memory: 200Mi}, evictionHard: {memory.available: 100Mi}}";

  private final NumaPolicy policy = Policies.policy("gpu", 1);
  private final NumaNodeState state = state();

  private NumaNodeState state() {
    var state = new NumaNodeState();
    state.setStatus(new NumaNodeStateStatus());
    var seen = state.getStatus();
    seen.bootId = "boot";
    seen.inventory = TestMachine.zones(2).inventory();
    var kubelet = new KubeletFacts();
    kubelet.version = "v1.36.3";
    kubelet.pid = 7L;
    kubelet.service = "kubelet.service";
    kubelet.configFile = "/var/lib/kubelet/config.yaml";
    kubelet.dropInDirectory = "/etc/kubernetes/kubelet.conf.d";
    seen.inventory.kubelet = kubelet;
    seen.effective = new EffectiveKubelet();
    seen.effective.source = Source.Configz;
    seen.effective.pid = 7L;
    seen.effective.settings = Fragments.fragment(OWN);
    seen.effective.settings.enforceNodeAllocatable = List.of("pods");
    seen.files = new ConfigFiles();
    seen.files.below = Fragments.fragment(OWN);
    seen.stateFiles = new StateFiles();
    return state;
  }

  private PlanStanding standing() {
    return PlanStanding.of(policy, state, node(), cluster());
  }

  private static Node node() {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("a")
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .withNewNodeInfo()
        .withBootID("boot")
        .endNodeInfo()
        .endStatus()
        .build();
  }

  private static ClusterView cluster() {
    return new ClusterView(
        node -> Optional.empty(),
        "",
        Publishing.nobody(),
        new SchedulerState.None(),
        "numa-system",
        OpenShiftFacts.none(),
        DeviceView.NONE,
        Map.of(),
        new Plans());
  }

  private DesiredKubelet desired() {
    return NodeAssessment.of(policy, state, node(), cluster()).desiredSpec().kubelet;
  }

  private void deliver(Delivery delivery, Platform platform) {
    policy.getSpec().kubelet.delivery = delivery;
    state.getStatus().inventory.kubelet.platform = platform;
  }

  /** Its owner deletes the policy and wants the nodes as they were. */
  private void delete() {
    policy.getSpec().rollout.onDelete = OnDelete.Restore;
    policy.getMetadata().setFinalizers(List.of(Names.RESTORE_FINALIZER));
    policy.getMetadata().setDeletionTimestamp("2026-06-02T10:00:00Z");
  }

  /** The settings are on the node, as a file of ours says. */
  private void apply() {
    var desired = standing().desired(Optional.empty()).orElseThrow();
    var seen = state.getStatus();
    seen.baseline = seen.effective.settings;
    seen.effective.settings = OwnSettings.with(seen.baseline, desired.fragment);
    seen.dropInHash = desired.hash;
    seen.attempt = new Attempt();
    seen.attempt.number = 1L;
    seen.attempt.hash = desired.hash;
    seen.attempt.result = Result.Succeeded;
  }

  private void applyFromElsewhere() {
    apply();
    state.getStatus().attempt = null;
    state.getStatus().dropInHash = null;
    state.getStatus().baseline = state.getStatus().effective.settings;
  }

  @Test
  void theAgentChangesANodeAndBringsItBack() {
    assertThat(standing().target()).isInstanceOf(Target.Change.class);
    assertThat(standing().desired(Optional.empty()).orElseThrow().file)
        .as("absent is a drop-in")
        .isNull();
    apply();
    assertThat(standing().target()).isInstanceOf(Target.Reached.class);
    delete();
    assertThat(standing().target()).isEqualTo(new Target.Change(Divergence.withoutDropIn().hash()));
    var desired = standing().desired(Optional.empty()).orElseThrow();
    assertThat(desired.restore).isTrue();
    assertThat(desired.fragment).isNull();
    assertThat(desired.file).as("what there is tells the disk").isNull();
  }

  @Test
  void anOlderKubeletsMainFileIsEditedAndBroughtBack() {
    var kubelet = state.getStatus().inventory.kubelet;
    kubelet.version = "v1.31.4";
    kubelet.dropInDirectory = null;
    assertThat(standing().desired(Optional.empty()).orElseThrow().file).isEqualTo(File.MainFile);
    apply();
    assertThat(standing().target()).isInstanceOf(Target.Reached.class);
    assertThat(standing().drift()).isEmpty();
    delete();
    assertThat(standing().target()).isInstanceOf(Target.Change.class);
  }

  /** Their settings are their owners', whatever file of ours an earlier policy left there. */
  @Test
  void whatOthersDeliverTheAgentDoesNotTakeBack() {
    for (var delivery : List.of(Delivery.External, Delivery.OpenShift)) {
      deliver(delivery, delivery == Delivery.OpenShift ? Platform.OpenShift : Platform.Kubeadm);
      state.getStatus().dropInHash = "of an earlier policy";
      delete();
      assertThat(standing().target()).isInstanceOf(Target.Reached.class);
      assertThat(standing().desired(Optional.empty())).isEmpty();
      assertThat(standing().delivered(Optional.empty()))
          .as("an empty KubeletConfig would have the pool rebooted")
          .isEmpty();
      assertThat(standing().outlook())
          .isInstanceOfSatisfying(
              Plan.Ready.class, ready -> assertThat(ready.differences()).isEmpty());
    }
  }

  @Test
  void noAgentIsGrantedWhatOthersDeliver() {
    deliver(Delivery.External, Platform.Kubeadm);
    assertThat(standing().target()).isInstanceOf(Target.Unplanned.class);
    assertThat(standing().outlook())
        .isInstanceOfSatisfying(
            Plan.Elsewhere.class,
            elsewhere -> assertThat(elsewhere.reason()).isEqualTo("AwaitingOwner"));
    applyFromElsewhere();
    assertThat(standing().target()).isInstanceOf(Target.Reached.class);
    assertThat(standing().outlook()).isInstanceOf(Plan.Ready.class);
  }

  /** There is no ConfigMap then that he could paste from. */
  @Test
  void inModeObserveNothingIsAwaitedOfAnOwner() {
    deliver(Delivery.External, Platform.Kubeadm);
    policy.getSpec().mode = NumaPolicySpec.Mode.Observe;
    assertThat(standing().outlook())
        .isInstanceOfSatisfying(
            Plan.Ready.class, ready -> assertThat(ready.differences()).isNotEmpty());
  }

  /** The agent did it once; now the node's owner does, and has taken our file away. */
  @Test
  void aFileOfOursThatAnOwnerTookAwayIsNoDrift() {
    apply();
    deliver(Delivery.External, Platform.Kubeadm);
    state.getStatus().dropInHash = null;
    assertThat(standing().drift()).isEmpty();
    assertThat(standing().target()).isInstanceOf(Target.Reached.class);
  }

  @Test
  void aPoolIsGivenNothingThatIsNotApproved() {
    deliver(Delivery.OpenShift, Platform.OpenShift);
    assertThat(standing().delivered(Optional.empty()).orElseThrow().heldBack()).isEmpty();
    policy.getSpec().approvedPlan = "another-plan";
    assertThat(standing().target()).isInstanceOf(Target.Unapproved.class);
    assertThat(standing().delivered(Optional.empty()).orElseThrow().heldBack().orElseThrow())
        .contains("spec.approvedPlan");
    assertThat(standing().outlook())
        .as("it waits for an approval, not for its pool")
        .isInstanceOf(Plan.Ready.class);
    var approval = Approvals.of(policy, List.of(standing().hash().orElseThrow()));
    policy.getSpec().approvedPlan = approval.plan().orElseThrow();
    var approved = standing().with(Approvals.of(policy, List.of(standing().hash().orElseThrow())));
    assertThat(approved.delivered(Optional.empty()).orElseThrow().heldBack()).isEmpty();
  }

  /** Else the plan that comes after the fault would be the node's first, which needs no canary. */
  @Test
  void aFaultInBetweenDoesNotMakeTheNextPlanTheFirst() {
    state.setSpec(new NumaNodeStateSpec());
    policy.getMetadata().setGeneration(1L);
    var first = desired();
    assertThat(first.policyGeneration).isNull();
    state.getSpec().kubelet = first;

    policy.getMetadata().setGeneration(2L);
    var zones = state.getStatus().inventory.zones;
    state.getStatus().inventory.zones = TestMachine.zones(17).inventory().zones;
    state.getStatus().inventory.zoneCount = 17;
    assertThat(standing().planned()).isEmpty();
    state.getSpec().kubelet = desired();
    assertThat(state.getSpec().kubelet).isEqualTo(first);

    policy.getMetadata().setGeneration(3L);
    state.getStatus().inventory.zones = zones;
    state.getStatus().inventory.zoneCount = 2;
    policy.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container;
    assertThat(desired().policyGeneration).isEqualTo(3);
  }

  @Test
  void whatAnOwnerDoesNeedsNoApproval() {
    deliver(Delivery.External, Platform.Kubeadm);
    policy.getSpec().approvedPlan = "another-plan";
    assertThat(standing().target()).isInstanceOf(Target.Unplanned.class);
    assertThat(standing().outlook()).isInstanceOf(Plan.Elsewhere.class);
  }

  /** Its own settings of before are not known then: the hash must not be made from them. */
  @Test
  void thePlanOfANodeIsTheSameAfterOthersDelivered() {
    deliver(Delivery.OpenShift, Platform.OpenShift);
    policy.getSpec().kubelet.memoryManager.reserved = new ReservedMemory();
    policy.getSpec().kubelet.memoryManager.reserved.total = "1Gi"; // systemReserved is raised
    var before = standing().hash();
    applyFromElsewhere();
    assertThat(standing().hash()).isEqualTo(before);
    assertThat(standing().report().orElseThrow().changes).isEmpty();
  }
}
