package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.DesiredKubelet;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.delivery.KubeletDelivery;
import io.numaoperator.plan.delivery.PlannedNode;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.preflight.NodePlan;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.rollout.Approval;
import io.numaoperator.rollout.NodeProgress.Target;
import java.util.List;
import java.util.Optional;

/**
 * What a policy means for a node's kubelet, and how the node stands to it. A policy that is being
 * deleted and restores its nodes means nothing of the operator on them.
 *
 * @param node its name
 * @param findings what the policy comes to on it
 * @param approval which plans may be carried out
 * @param cluster for those who deliver in the agent's place
 */
record PlanStanding(
    NumaPolicy policy, String node, NodeFindings findings, Approval approval, ClusterView cluster) {

  static PlanStanding of(NumaPolicy policy, NumaNodeState state, Node node, ClusterView cluster) {
    return new PlanStanding(
        policy,
        node.getMetadata().getName(),
        cluster.plans().of(policy, state, node),
        Approvals.recorded(policy),
        cluster);
  }

  PlanStanding with(Approval found) {
    return new PlanStanding(policy, node, findings, found, cluster);
  }

  // ---- who brings the settings to the node

  /** Never Auto. */
  static Delivery delivery(NumaPolicy policy, NumaNodeState state) {
    return new NodeFindings(policy.getSpec().kubelet, false, NodeAssessment.observed(state), "")
        .delivery();
  }

  Delivery delivery() {
    return findings.delivery();
  }

  private boolean agentDelivers() {
    return delivery() == Delivery.Agent;
  }

  /**
   * For those who plan deliveries; empty while there is no plan, and when the node is let go: an
   * empty KubeletConfig would have the whole pool rebooted.
   *
   * @param heldBack what must be there before the node may be changed
   */
  Optional<PlannedNode> delivered(Optional<String> heldBack) {
    return restores()
        ? Optional.empty()
        : planned()
            .map(
                planned -> {
                  var waits =
                      findings.divergence().messages().isEmpty()
                          ? Optional.<String>empty()
                          : heldBack;
                  return delivered(planned, unapproved().or(() -> waits));
                });
  }

  private PlannedNode delivered(Planned planned, Optional<String> heldBack) {
    return new PlannedNode(node, findings.platform(), planned.fragment(), planned.hash(), heldBack);
  }

  private Optional<String> unapproved() {
    return approval.allows(findings.hash().orElseThrow())
        ? Optional.empty()
        : Optional.of(
            "the plan of node %s is not the approved one (spec.approvedPlan)".formatted(node));
  }

  // ---- how the node stands

  Target target() {
    return planned().map(this::target).orElseGet(Target.Unplanned::new);
  }

  private Target target(Planned planned) {
    if (findings.divergence().messages().isEmpty()) {
      return new Target.Reached();
    }
    if (isHeldForApproval()) {
      return new Target.Unapproved(approval.plan().orElse("the hash in its status.plan"));
    }
    return agentDelivers()
        ? new Target.Change(planned.hash())
        : new Target.Unplanned(); // no agent is ever granted what somebody else delivers
  }

  /** What an owner does by themselves needs nobody's approval, nor does the way back. */
  private boolean isHeldForApproval() {
    return !restores()
        && delivery() != Delivery.External
        && !approval.allows(findings.hash().orElseThrow());
  }

  /** For the chain of readiness checks. */
  NodeEvidence.Plan outlook() {
    return findings.plan().map(this::outlook).orElseGet(NodeEvidence.Plan.Awaited::new);
  }

  private NodeEvidence.Plan outlook(KubeletPlan known) {
    return switch (known) {
      case Refused(var reason, var message) -> new NodeEvidence.Plan.Refused(reason, message);
      case Planned planned -> {
        var divergence = findings.divergence();
        yield elsewhere(planned, divergence)
            .orElseGet(
                () ->
                    new NodeEvidence.Plan.Ready(
                        planned.hash(),
                        divergence.messages(),
                        divergence.drifted(),
                        findings.afterUpgrade()));
      }
    };
  }

  /** What the node waits for where somebody else than the agent has to do it. */
  private Optional<NodeEvidence.Plan> elsewhere(Planned planned, Divergence divergence) {
    if (agentDelivers() || divergence.messages().isEmpty() || isLeftAlone()) {
      return Optional.empty();
    }
    var one = delivered(planned, Optional.empty());
    var input =
        new KubeletDelivery.Input(
            cluster.namespace(), policy, List.of(one), true, cluster.openShift());
    return DeliveryChoice.delivery(delivery())
        .awaits(input, one)
        .map(
            remark ->
                new NodeEvidence.Plan.Elsewhere(
                    divergence.messages(), remark.reason(), remark.message()));
  }

  /** Nobody is given anything for the node, so there is nothing that it could wait for. */
  private boolean isLeftAlone() {
    return policy.getSpec().mode == Mode.Observe
        || (delivery() == Delivery.OpenShift && isHeldForApproval());
  }

  /**
   * What the node's object is to ask for; empty when there is no plan, or nothing to ask for.
   *
   * @param revision the policy's generation that the plan is from
   */
  Optional<DesiredKubelet> desired(Optional<Long> revision) {
    return planned()
        .filter(planned -> !restores() || agentDelivers())
        .map(
            planned -> {
              var desired = new DesiredKubelet();
              desired.hash = planned.hash();
              desired.policyGeneration = revision.orElse(null);
              desired.verificationWindow = policy.getSpec().rollout.verification.window;
              if (restores()) {
                desired.restore = true;
              } else {
                desired.fragment = planned.fragment();
                desired.file = NodePlan.file(findings.seen()) == File.DropIn ? null : File.MainFile;
              }
              return desired;
            });
  }

  /** The hash of the node's plan. While nothing is known of it, its last one counts. */
  Optional<String> hash() {
    return findings.hash();
  }

  /** What the node's object says of its plan; while nothing is known of it, what it said last. */
  Optional<NumaNodeStateStatus.Plan> report() {
    return findings.report();
  }

  /** That somebody undid what was applied, in words; empty when nobody did. */
  Optional<String> drift() {
    return planned()
        .map(planned -> findings.divergence())
        .filter(Divergence::drifted)
        .map(divergence -> String.join("; ", divergence.messages()));
  }

  boolean restores() {
    return Restoration.isUnderWay(policy);
  }

  Optional<Planned> planned() {
    return findings.planned();
  }
}
