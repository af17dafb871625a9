package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.preflight.NodePlan;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.readiness.NodeReadiness;
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
 *
 * @param scheduler whether a NUMA-aware scheduler knows the node
 * @param publish whether the agent is to publish the node's NodeResourceTopology
 * @param plan empty while the node's inventory or its running kubelet's settings are not known
 */
record NodeAssessment(
    NumaPolicy policy,
    NumaNodeState state,
    Node node,
    Agent agent,
    Optional<KubeletPlan> plan,
    boolean publish,
    Scheduler scheduler) {

  static NodeAssessment of(NumaPolicy policy, NumaNodeState state, Node node, ClusterView cluster) {
    var name = node.getMetadata().getName();
    return new NodeAssessment(
        policy,
        state,
        node,
        agent(state, node, Optional.ofNullable(cluster.agentPods().get(name))),
        isKnown(observed(state), node)
            ? Optional.of(
                NodePlan.of(policy.getSpec().kubelet, observed(state), Nodes.bootId(node)))
            : Optional.empty(),
        cluster.agentPublishes(),
        scheduler(policy, name, cluster.scheduler()));
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
    if (plan.isPresent() && plan.get() instanceof KubeletPlan.Planned planned) {
      spec.kubelet = new NumaNodeStateSpec.DesiredKubelet();
      spec.kubelet.fragment = planned.fragment();
      spec.kubelet.hash = planned.hash();
      spec.kubelet.verificationWindow = policy.getSpec().rollout.verification.window;
    } else if (plan.isEmpty() || progress().underChange()) {
      spec.kubelet = state.getSpec().kubelet; // what was granted stays
    }
    return spec;
  }

  /** Pods with devices on it that a scheduler which does not see its zones has bound. */
  int foreignPods() {
    return scheduler instanceof Scheduler.Aware(var foreign) ? foreign : 0;
  }

  NodeProgress progress() {
    return progress(
        state, node, agent, plan.map(this::target).orElseGet(Target.Unplanned::new), heldBack());
  }

  private Target target(KubeletPlan known) {
    return switch (known) {
      case KubeletPlan.Refused refused -> new Target.Unplanned();
      case KubeletPlan.Planned planned ->
          differences(planned).isEmpty() ? new Target.Reached() : new Target.Change(planned.hash());
    };
  }

  /** Nothing is concluded from what another boot or another process of the kubelet said. */
  private static boolean isKnown(NumaNodeStateStatus observed, Node node) {
    return observed.inventory != null
        && observed.inventory.kubelet != null
        && observed.inventory.kubelet.pid != null
        && observed.effective != null
        && Objects.equals(observed.effective.pid, observed.inventory.kubelet.pid)
        && Objects.equals(observed.bootId, Nodes.bootId(node));
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
        plan.map(this::outlook).orElseGet(Plan.Awaited::new),
        progress(),
        observed(state),
        topology(),
        scheduler);
  }

  private Plan outlook(KubeletPlan known) {
    return switch (known) {
      case KubeletPlan.Refused refused -> new Plan.Refused(refused.reason(), refused.message());
      case KubeletPlan.Planned planned -> new Plan.Ready(planned.hash(), differences(planned));
    };
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
    if (!strict || scheduler instanceof Scheduler.NotWanted) {
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
