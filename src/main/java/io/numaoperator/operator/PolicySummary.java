package io.numaoperator.operator;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.PolicyReadiness;
import io.numaoperator.readiness.PolicyReadiness.NodeVerdict;
import io.numaoperator.readiness.PolicyReadiness.PolicyEvidence;
import io.numaoperator.readiness.Verdict;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The status of a policy, from its nodes. */
record PolicySummary(NumaPolicy policy, List<NumaNodeState> states) {
  /** The new status, if it says anything else than the old one. */
  Optional<NumaPolicyStatus> status(
      List<NodeProgress> nodes, List<String> conflicts, Map<String, Verdict> problems) {
    var evidence = new PolicyEvidence(verdicts(nodes), conflicts, problems, isStopped(nodes));
    var status = new NumaPolicyStatus();
    status.observedGeneration = policy.getMetadata().getGeneration();
    status.conditions =
        Conditions.update(
            oldConditions(),
            PolicyReadiness.judge(evidence),
            policy.getMetadata().getGeneration(),
            Instant.now());
    status.nodes = PolicyReadiness.count(evidence);
    status.notReady = PolicyReadiness.notReady(evidence);
    status.notReadyLeftOut = status.nodes.matched - status.nodes.ready - status.notReady.size();
    return Json.same(status, policy.getStatus()) ? Optional.empty() : Optional.of(status);
  }

  private List<NodeVerdict> verdicts(List<NodeProgress> nodes) {
    var byName =
        states.stream()
            .collect(Collectors.toMap(s -> s.getMetadata().getName(), Function.identity()));
    return nodes.stream()
        .map(
            node ->
                new NodeVerdict(
                    node.name(),
                    NodeAssessment.conditions(byName.get(node.name())),
                    node.underChange() || node.cordon() instanceof Cordon.Ours,
                    node.failed()))
        .toList();
  }

  private boolean isStopped(List<NodeProgress> nodes) {
    return policy.getSpec().rollout.pauseOnFailure && nodes.stream().anyMatch(NodeProgress::failed);
  }

  private List<Condition> oldConditions() {
    return Optional.ofNullable(policy.getStatus()).map(s -> s.conditions).orElse(List.of());
  }
}
