package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.delivery.PlannedNode;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.NodeEvidence;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.readiness.NodeReadiness;
import io.numaoperator.rollout.Approval;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Wait;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One node, put together from the objects: the input of the plan, the rollout and the readiness
 * chain.
 *
 * @param scheduler whether a NUMA-aware scheduler knows the node
 * @param devices how its device plugin stands to what it is to load
 * @param publishing who publishes the node's NodeResourceTopology
 * @param standing what the policy means for its kubelet, and how it stands to that
 * @param waitsFor what its change waits for, when the rollout last looked
 */
record NodeAssessment(
    NumaPolicy policy,
    NumaNodeState state,
    Node node,
    Agent agent,
    PlanStanding standing,
    Publishing publishing,
    Scheduler scheduler,
    DeviceStanding devices,
    Optional<Wait> waitsFor) {

  static NodeAssessment of(NumaPolicy policy, NumaNodeState state, Node node, ClusterView cluster) {
    var name = node.getMetadata().getName();
    return new NodeAssessment(
        policy,
        state,
        node,
        agent(state, node, cluster.agentPods().apply(name), cluster.agentTemplate()),
        PlanStanding.of(policy, state, node, cluster),
        cluster.publishing(),
        scheduler(policy, name, cluster.scheduler()),
        DeviceStanding.of(policy, node, cluster.devices()),
        Optional.ofNullable(cluster.waits().get(name)));
  }

  /** One that has no object yet. */
  static NodeAssessment ofUnclaimed(NumaPolicy policy, Node node, ClusterView cluster) {
    var state = new NumaNodeState();
    state.setMetadata(new ObjectMetaBuilder().withName(node.getMetadata().getName()).build());
    state.setSpec(new NumaNodeStateSpec());
    return of(policy, state, node, cluster);
  }

  NodeAssessment waitingFor(Optional<Wait> known) {
    return new NodeAssessment(
        policy, state, node, agent, standing, publishing, scheduler, devices, known);
  }

  /** For those who plan deliveries in the agent's place. */
  Optional<PlannedNode> delivered() {
    return standing.delivered(heldBack());
  }

  NodeAssessment with(Approval approval) {
    return new NodeAssessment(
        policy,
        state,
        node,
        agent,
        standing.with(approval),
        publishing,
        scheduler,
        devices,
        waitsFor);
  }

  /** A node that no policy has: nothing is wanted of it. */
  static NodeProgress withoutPolicy(NumaNodeState state, Node node) {
    return Progress.of(state, node).progress(new Target.Unplanned());
  }

  String name() {
    return node.getMetadata().getName();
  }

  /** The spec as it should be, grant aside. */
  NumaNodeStateSpec desiredSpec() {
    var spec = new NumaNodeStateSpec();
    spec.policy = policy.getMetadata().getName();
    spec.topology =
        SharedSettings.enforces(policy)
            ? publishing.desired()
            : publishing.observed(Optional.ofNullable(state.getSpec().topology));
    // without a plan, for want of knowledge or for a fault, the former one stays: one that comes
    // later takes its place, and goes to the canaries first
    boolean kept = standing.planned().isEmpty() || progress().underChange();
    spec.kubelet =
        standing
            .desired(revision())
            .orElse(kept ? state.getSpec().kubelet : null); // what was granted stays
    return spec;
  }

  /** Pods with devices on it that a scheduler which does not see its zones has bound. */
  int foreignPods() {
    return scheduler instanceof Scheduler.Aware(var foreign) ? foreign : 0;
  }

  NodeProgress progress() {
    return Progress.of(state, node)
        .agent(agent instanceof Agent.Alive)
        .heldBack(heldBack())
        .revision(revision())
        .startupTaint(Optional.ofNullable(policy.getSpec().rollout.startupTaint))
        .devices(devices.devices(Instant.now()))
        .progress(target(Instant.now()));
  }

  /**
   * The way back has but one plan: where it failed, nobody can ask for another one, so it is tried
   * again.
   */
  private Target target(Instant now) {
    var target = standing.target();
    if (!standing.restores() || !(target instanceof Target.Change change)) {
      return target;
    }
    var due =
        DrainMarks.read(node)
            .givenUp()
            .filter(givenUp -> now.isBefore(givenUp.notBefore()))
            .isEmpty();
    return new Target.Change(change.hash(), due);
  }

  /** A plan that takes the place of another one is of the policy's generation of now. */
  private Optional<Long> revision() {
    var known = Optional.ofNullable(state.getSpec().kubelet);
    return known.isPresent()
            && standing.planned().filter(plan -> !plan.hash().equals(known.get().hash)).isPresent()
        ? Optional.ofNullable(policy.getMetadata().getGeneration())
        : known.flatMap(k -> Optional.ofNullable(k.policyGeneration));
  }

  /** The kubelet is seen to be as wanted, and nothing else is known to be wrong. */
  boolean isSettled(Instant now) {
    var conditions = conditions(now);
    return conditions.stream()
            .anyMatch(c -> c.type.equals(NodeReadiness.KUBELET) && c.status == Status.True)
        && conditions.stream()
            .noneMatch(c -> c.type.equals(NodeReadiness.ALIGNMENT) && c.status == Status.False);
  }

  NodeEvidence evidence() {
    return new NodeEvidence(
        policy.getSpec(),
        PolicyReconciler.isPaused(policy),
        new NodeFacts(node.getMetadata().getName(), Nodes.isReady(node), Nodes.bootId(node)),
        agent,
        standing.outlook(),
        progress(),
        waitsFor,
        observed(state),
        topology(),
        scheduler,
        devices.evidence());
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
    return Sightings.isReady(old) != Sightings.isReady(pod)
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
              SharedSettings.enforces(policy)
                  ? "whether scheduler provider %s has seen this node is not judged yet"
                      .formatted(provider)
                  : "mode Observe sets up no scheduler; Enforce would set up provider " + provider);
      case SchedulerState.Unjudged(var why) -> new Scheduler.NotJudged(why);
      case SchedulerState.Assumed(var scheduler) -> new Scheduler.Assumed(scheduler);
      case SchedulerState.Down(var why) -> new Scheduler.Down(why);
      case SchedulerState.Live(var nodes, var foreign, var otherwise) ->
          nodes.contains(node)
              ? new Scheduler.Aware(foreign.getOrDefault(node, 0))
              : new Scheduler.Unaware(otherwise);
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
      case Scheduler.Assumed assumed -> Optional.empty();
      case Scheduler.NotWanted notWanted -> Optional.empty();
      case Scheduler.Unaware(var why) -> Optional.of(why);
      case Scheduler.Down(var why) -> Optional.of("the NUMA-aware scheduler comes first: " + why);
      case Scheduler.NotJudged(var why) ->
          Optional.of(
              "a strict kubelet needs a scheduler that is seen to work (scheduler.provider None"
                  + " accepts TopologyAffinityError loops): "
                  + why);
    };
  }

  static NumaNodeStateStatus observed(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus()).orElseGet(NumaNodeStateStatus::new);
  }

  /** The API server has it as it is wanted. One with older CRDs drops what these do not know. */
  boolean isWritten() {
    return Json.same(desiredSpec().kubelet, state.getSpec().kubelet);
  }

  private static Agent agent(NumaNodeState state, Node node, Optional<Pod> pod, String template) {
    if (!Nodes.isReady(node)) {
      return new Agent.Silent("NodeNotReady", "the node is not Ready");
    }
    if (pod.isEmpty()) {
      return new Agent.Silent("NoAgent", "no agent pod runs on the node");
    }
    if (!Sightings.isReady(pod.get())) {
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
    return template.isEmpty() || AgentUpdates.isOf(template, pod.get())
        ? new Agent.Alive()
        : new Agent.Outdated(
            "agent pod %s is of another version than the operator, and is replaced first"
                .formatted(pod.get().getMetadata().getName()));
  }
}
