package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.preflight.NodePlan;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One node, put together from the objects: the input of the plan, the rollout and the readiness
 * chain.
 */
record NodeAssessment(
    NumaPolicy policy, NumaNodeState state, Node node, Agent agent, KubeletPlan plan) {

  static NodeAssessment of(NumaPolicy policy, NumaNodeState state, Node node, ClusterCache cache) {
    return new NodeAssessment(
        policy,
        state,
        node,
        agent(state, node, cache.agentPodOn(node.getMetadata().getName())),
        NodePlan.of(policy.getSpec().kubelet, observed(state), Nodes.bootId(node)));
  }

  /** A node that no policy has: nothing is wanted of it. */
  static NodeProgress withoutPolicy(NumaNodeState state, Node node) {
    return progress(state, node, new Agent.Alive(), new Target.Unplanned());
  }

  /** The spec as it should be, grant aside. */
  NumaNodeStateSpec desiredSpec() {
    var spec = new NumaNodeStateSpec();
    spec.policy = policy.getMetadata().getName();
    switch (plan) {
      case KubeletPlan.Planned planned -> {
        spec.kubelet = new NumaNodeStateSpec.DesiredKubelet();
        spec.kubelet.fragment = planned.fragment();
        spec.kubelet.hash = planned.hash();
        spec.kubelet.verificationWindow = policy.getSpec().rollout.verification.window;
      }
      case KubeletPlan.Refused refused -> {
        if (isAwaited() || progress().underChange()) {
          // not known for a moment, or an attempt runs on it: what was granted stays
          spec.kubelet = state.getSpec().kubelet;
        }
      }
    }
    return spec;
  }

  NodeProgress progress() {
    return progress(
        state,
        node,
        agent,
        switch (plan) {
          case KubeletPlan.Refused refused -> new Target.Unplanned();
          case KubeletPlan.Planned planned ->
              differences(planned).isEmpty()
                  ? new Target.Reached()
                  : new Target.Change(planned.hash());
        });
  }

  /**
   * The inventory or the kubelet's settings are not there (yet): nothing is wrong with the plan.
   */
  private boolean isAwaited() {
    var observed = observed(state);
    return observed.inventory == null
        || observed.inventory.kubelet == null
        || observed.effective == null
        || !Objects.equals(observed.bootId, Nodes.bootId(node));
  }

  private List<String> differences(KubeletPlan.Planned planned) {
    return ConfigComparison.mismatches(planned.fragment(), observed(state).effective.settings);
  }

  NodeEvidence evidence() {
    return new NodeEvidence(
        policy.getSpec(),
        PolicyReconciler.isPaused(policy),
        new NodeFacts(node.getMetadata().getName(), Nodes.isReady(node), Nodes.bootId(node)),
        agent,
        switch (plan) {
          case KubeletPlan.Refused refused when isAwaited() -> new Plan.Awaited();
          case KubeletPlan.Refused refused -> new Plan.Refused(refused.reason(), refused.message());
          case KubeletPlan.Planned planned -> new Plan.Ready(planned.hash(), differences(planned));
        },
        progress(),
        observed(state),
        topology());
  }

  static List<Condition> conditions(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus())
        .flatMap(s -> Optional.ofNullable(s.conditions))
        .orElse(List.of());
  }

  static boolean agentPodsDiffer(Pod old, Pod pod) {
    return isReady(old) != isReady(pod)
        || (old.getMetadata().getDeletionTimestamp() == null)
            != (pod.getMetadata().getDeletionTimestamp() == null);
  }

  private Topology topology() {
    return policy.getSpec().topologyUpdater.provider == TopologyUpdaterPolicy.Provider.BuiltIn
        ? new Topology.NotJudged("the agent does not publish NodeResourceTopology objects yet")
        : new Topology.NotJudged(
            "what topology updater provider "
                + policy.getSpec().topologyUpdater.provider
                + " publishes is not judged yet");
  }

  private static NumaNodeStateStatus observed(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus()).orElseGet(NumaNodeStateStatus::new);
  }

  private static Agent agent(NumaNodeState state, Node node, Optional<Pod> pod) {
    if (!Nodes.isReady(node)) {
      return new Agent.Silent("NodeNotReady", "the node is not Ready");
    }
    if (pod.isEmpty()) {
      return new Agent.Silent("NoAgent", "no agent pod runs on the node");
    }
    if (!isReady(pod.get())) {
      return new Agent.Silent(
          "AgentSilent",
          "agent pod %s is %s"
              .formatted(
                  pod.get().getMetadata().getName(),
                  Optional.ofNullable(pod.get().getStatus())
                      .map(s -> s.getPhase())
                      .orElse("not started")));
    }
    var boot = observed(state).bootId;
    if (boot != null && !boot.equals(Nodes.bootId(node))) {
      return new Agent.Silent(
          "InventoryOutdated", "its observations are from before the node's last boot");
    }
    return new Agent.Alive();
  }

  private static boolean isReady(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).stream()
        .flatMap(s -> s.getConditions().stream())
        .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  private static NodeProgress progress(NumaNodeState state, Node node, Agent agent, Target target) {
    return new NodeProgress(
        node.getMetadata().getName(),
        Nodes.failureDomain(node),
        target,
        Nodes.isReady(node),
        Nodes.cordon(node),
        Nodes.isSkipped(node),
        agent instanceof Agent.Alive,
        Nodes.bootId(node),
        Optional.ofNullable(state.getSpec().grant).map(g -> new Grant(g.attempt, g.hash, g.bootId)),
        attempt(observed(state)),
        holders(observed(state)));
  }

  private static Optional<Attempt> attempt(NumaNodeStateStatus status) {
    return Optional.ofNullable(status.attempt)
        .filter(a -> a.number != null)
        .map(
            a ->
                new Attempt(
                    a.number,
                    Optional.ofNullable(a.hash).orElse(""),
                    outcome(a.result),
                    Optional.ofNullable(a.since).map(Instant::parse).orElse(Instant.EPOCH)));
  }

  private static Outcome outcome(NumaNodeStateStatus.Result result) {
    return switch (result) {
      case null -> Outcome.Running;
      case Succeeded -> Outcome.Succeeded;
      case RolledBack -> Outcome.RolledBack;
      case RollbackFailed -> Outcome.RollbackFailed;
      case Refused -> Outcome.Refused;
    };
  }

  private static List<String> holders(NumaNodeStateStatus status) {
    return Optional.ofNullable(status.containers).stream()
        .flatMap(c -> c.placed.stream())
        .map(p -> p.pod)
        .distinct()
        .toList();
  }
}
