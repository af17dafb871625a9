package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.readiness.NodeReadiness;
import io.numaoperator.rollout.Approval;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One node, put together from the objects: the input of the plan, the rollout and the readiness
 * chain.
 *
 * @param scheduler whether a NUMA-aware scheduler knows the node
 * @param publish whether the agent is to publish the node's NodeResourceTopology
 * @param standing what the policy means for its kubelet, and how it stands to that
 */
record NodeAssessment(
    NumaPolicy policy,
    NumaNodeState state,
    Node node,
    Agent agent,
    PlanStanding standing,
    boolean publish,
    Scheduler scheduler) {

  static NodeAssessment of(NumaPolicy policy, NumaNodeState state, Node node, ClusterView cluster) {
    var name = node.getMetadata().getName();
    return new NodeAssessment(
        policy,
        state,
        node,
        agent(state, node, Optional.ofNullable(cluster.agentPods().get(name))),
        PlanStanding.of(policy, state, node),
        cluster.agentPublishes(),
        scheduler(policy, name, cluster.scheduler()));
  }

  NodeAssessment with(Approval approval) {
    return new NodeAssessment(
        policy, state, node, agent, standing.with(approval), publish, scheduler);
  }

  /** A node that no policy has: nothing is wanted of it. */
  static NodeProgress withoutPolicy(NumaNodeState state, Node node) {
    return progress(state, node, new Agent.Alive(), new Target.Unplanned(), Optional.empty());
  }

  /** The spec as it should be, grant aside. */
  NumaNodeStateSpec desiredSpec() {
    var spec = new NumaNodeStateSpec();
    spec.policy = policy.getMetadata().getName();
    spec.topology = new NumaNodeStateSpec.DesiredTopology();
    spec.topology.publish = publish;
    boolean kept = standing.plan().isEmpty() || progress().underChange();
    spec.kubelet =
        standing.desired().orElse(kept ? state.getSpec().kubelet : null); // what was granted stays
    return spec;
  }

  /** Pods with devices on it that a scheduler which does not see its zones has bound. */
  int foreignPods() {
    return scheduler instanceof Scheduler.Aware(var foreign) ? foreign : 0;
  }

  NodeProgress progress() {
    return progress(state, node, agent, standing.target(), heldBack());
  }

  NodeEvidence evidence() {
    return new NodeEvidence(
        policy.getSpec(),
        PolicyReconciler.isPaused(policy),
        new NodeFacts(node.getMetadata().getName(), Nodes.isReady(node), Nodes.bootId(node)),
        agent,
        standing.outlook(),
        progress(),
        observed(state),
        topology(),
        scheduler);
  }

  /** The conditions as they should be now. */
  List<Condition> conditions(Instant now) {
    return Conditions.update(
        conditions(state),
        NodeReadiness.judge(evidence()),
        state.getMetadata().getGeneration(),
        now);
  }

  static List<Condition> conditions(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus())
        .flatMap(s -> Optional.ofNullable(s.conditions))
        .orElse(List.of());
  }

  static Optional<NumaNodeStateStatus.Plan> plan(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus()).flatMap(s -> Optional.ofNullable(s.plan));
  }

  static boolean agentPodsDiffer(Pod old, Pod pod) {
    return isReady(old) != isReady(pod)
        || (old.getMetadata().getDeletionTimestamp() == null)
            != (pod.getMetadata().getDeletionTimestamp() == null);
  }

  private Topology topology() {
    return Optional.ofNullable(observed(state).topology)
        .<Topology>map(
            seen ->
                seen.published ? new Topology.Published(seen.differences) : new Topology.Missing())
        .orElseGet(
            () ->
                new Topology.NotJudged(
                    "the agent has not compared the NodeResourceTopology with the kubelet yet"));
  }

  private static Scheduler scheduler(NumaPolicy policy, String node, SchedulerState state) {
    var provider = policy.getSpec().scheduler.provider;
    if (provider == SchedulerPolicy.Provider.None) {
      return new Scheduler.NotWanted();
    }
    return switch (state) {
      case SchedulerState.None none ->
          new Scheduler.NotJudged(
              "whether scheduler provider " + provider + " has seen this node is not judged yet");
      case SchedulerState.Down(var why) -> new Scheduler.Down(why);
      case SchedulerState.Live(var nodes, var foreign) ->
          nodes.contains(node)
              ? new Scheduler.Aware(foreign.getOrDefault(node, 0))
              : new Scheduler.Unaware();
    };
  }

  /**
   * A kubelet that rejects what it cannot align makes pods loop in TopologyAffinityError unless a
   * scheduler sees what it sees. So that comes first, or the policy accepts the loops (provider
   * None). A node that rejects nothing now and will not is never held back.
   */
  private Optional<String> heldBack() {
    var strict =
        switch (policy.getSpec().kubelet.topologyManager.policy) {
          case SingleNUMANode, Restricted -> true;
          case BestEffort, None -> false;
        };
    if (!strict || standing.restores() || scheduler instanceof Scheduler.NotWanted) {
      return Optional.empty();
    }
    return switch (scheduler) {
      case Scheduler.Aware aware -> Optional.empty();
      case Scheduler.NotWanted notWanted -> Optional.empty();
      case Scheduler.Unaware unaware ->
          Optional.of("the scheduler has not read this node's NodeResourceTopology yet");
      case Scheduler.Down(var why) -> Optional.of("the NUMA-aware scheduler comes first: " + why);
      case Scheduler.NotJudged(var why) ->
          Optional.of(
              "a strict kubelet needs a scheduler that is seen to work (scheduler.provider None"
                  + " accepts TopologyAffinityError loops): "
                  + why);
    };
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

  private static NodeProgress progress(
      NumaNodeState state, Node node, Agent agent, Target target, Optional<String> heldBack) {
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
        heldBack,
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
