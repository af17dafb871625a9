package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.DesiredKubelet;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.preflight.NodePlan;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.rollout.Approval;
import io.numaoperator.rollout.NodeProgress.Target;
import java.util.Objects;
import java.util.Optional;

/**
 * What a policy means for a node's kubelet, and how the node stands to it. A policy that is being
 * deleted and restores its nodes means no drop-in.
 *
 * @param plan empty while the node's inventory or its running kubelet's settings are not known
 * @param approval which plans may be carried out
 */
record PlanStanding(
    NumaPolicy policy,
    NumaNodeStateStatus seen,
    String bootId,
    Optional<KubeletPlan> plan,
    Approval approval) {

  static PlanStanding of(NumaPolicy policy, NumaNodeState state, Node node) {
    var seen = Optional.ofNullable(state.getStatus()).orElseGet(NumaNodeStateStatus::new);
    var bootId = Nodes.bootId(node);
    Optional<KubeletPlan> plan = Optional.empty();
    if (isKnown(seen, bootId)) {
      plan =
          Optional.of(
              Restoration.isUnderWay(policy)
                  ? Divergence.withoutDropIn()
                  : NodePlan.of(policy.getSpec().kubelet, seen, bootId));
    }
    return new PlanStanding(policy, seen, bootId, plan, Approvals.recorded(policy));
  }

  PlanStanding with(Approval found) {
    return new PlanStanding(policy, seen, bootId, plan, found);
  }

  /** Nothing is concluded from what another boot or another process of the kubelet said. */
  private static boolean isKnown(NumaNodeStateStatus seen, String bootId) {
    return seen.inventory != null
        && seen.inventory.kubelet != null
        && seen.inventory.kubelet.pid != null
        && seen.effective != null
        && Objects.equals(seen.effective.pid, seen.inventory.kubelet.pid)
        && Objects.equals(seen.bootId, bootId);
  }

  Target target() {
    if (planned().isEmpty()) {
      return new Target.Unplanned();
    }
    var planned = planned().get();
    if (divergence(planned).messages().isEmpty()) {
      return new Target.Reached();
    }
    return restores() || approval.allows(hash(planned))
        ? new Target.Change(planned.hash())
        : new Target.Unapproved(approval.plan().orElse("the hash in its status.plan"));
  }

  /** For the chain of readiness checks. */
  NodeEvidence.Plan outlook() {
    return plan.map(this::outlook).orElseGet(NodeEvidence.Plan.Awaited::new);
  }

  private NodeEvidence.Plan outlook(KubeletPlan known) {
    return switch (known) {
      case Refused(var reason, var message) -> new NodeEvidence.Plan.Refused(reason, message);
      case Planned planned -> {
        var divergence = divergence(planned);
        yield new NodeEvidence.Plan.Ready(
            planned.hash(), divergence.messages(), divergence.drifted(), afterUpgrade());
      }
    };
  }

  /**
   * What the node's object is to ask for; empty when there is no plan.
   *
   * @param revision the policy's generation that the plan is from
   */
  Optional<DesiredKubelet> desired(Optional<Long> revision) {
    return planned()
        .map(
            planned -> {
              var desired = new DesiredKubelet();
              desired.fragment = restores() ? null : planned.fragment();
              desired.restore = restores() ? true : null;
              desired.hash = planned.hash();
              desired.policyGeneration = revision.orElse(null);
              desired.verificationWindow = policy.getSpec().rollout.verification.window;
              return desired;
            });
  }

  /** The hash of the node's plan. While nothing is known of it, its last one counts. */
  Optional<String> hash() {
    return plan.isPresent()
        ? planned().map(this::hash)
        : Optional.ofNullable(seen.plan).map(p -> p.hash);
  }

  /** What the node's object says of its plan; while nothing is known of it, what it said last. */
  Optional<NumaNodeStateStatus.Plan> report() {
    return plan.isPresent()
        ? planned().map(p -> PlanReport.of(policy.getSpec().kubelet, p, seen, afterUpgrade()))
        : Optional.ofNullable(seen.plan);
  }

  /** That somebody undid what was applied, in words; empty when nobody did. */
  Optional<String> drift() {
    return planned()
        .map(this::divergence)
        .filter(Divergence::drifted)
        .map(divergence -> String.join("; ", divergence.messages()));
  }

  boolean restores() {
    return Restoration.isUnderWay(policy);
  }

  Optional<Planned> planned() {
    return plan.filter(Planned.class::isInstance).map(Planned.class::cast);
  }

  private Divergence divergence(Planned planned) {
    return restores() ? Divergence.fromOwn(seen) : Divergence.of(planned, seen);
  }

  private String hash(Planned planned) {
    return PlanReport.hash(policy.getSpec().kubelet, planned, seen);
  }

  private Optional<String> afterUpgrade() {
    return restores()
        ? Optional.empty()
        : NodePlan.afterUpgrade(policy.getSpec().kubelet, seen, bootId);
  }
}
