package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One node as the rollout sees it, from the objects.
 *
 * @param agentAlive its agent can be relied on
 * @param heldBack what must be there before it may be changed
 * @param revision the policy's generation that its plan is from
 * @param startupTaint the key of the taint that new nodes come with
 * @param devices how its device plugin stands
 */
record Progress(
    NumaNodeState state,
    Node node,
    boolean agentAlive,
    Optional<String> heldBack,
    Optional<Long> revision,
    Optional<String> startupTaint,
    Devices devices) {

  /** What the objects alone say. */
  static Progress of(NumaNodeState state, Node node) {
    return new Progress(
        state,
        node,
        true,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        new Devices.AsWanted());
  }

  Progress agent(boolean alive) {
    return new Progress(state, node, alive, heldBack, revision, startupTaint, devices);
  }

  Progress heldBack(Optional<String> by) {
    return new Progress(state, node, agentAlive, by, revision, startupTaint, devices);
  }

  Progress revision(Optional<Long> generation) {
    return new Progress(state, node, agentAlive, heldBack, generation, startupTaint, devices);
  }

  Progress startupTaint(Optional<String> key) {
    return new Progress(state, node, agentAlive, heldBack, revision, key, devices);
  }

  Progress devices(Devices standing) {
    return new Progress(state, node, agentAlive, heldBack, revision, startupTaint, standing);
  }

  NodeProgress progress(Target target) {
    var observed = NodeAssessment.observed(state);
    return new NodeProgress(
        node.getMetadata().getName(),
        Nodes.failureDomain(node),
        target,
        Nodes.isReady(node),
        Nodes.cordon(node),
        Nodes.isSkipped(node),
        agentAlive,
        Nodes.bootId(node),
        Optional.ofNullable(state.getSpec().grant).map(g -> new Grant(g.attempt, g.hash, g.bootId)),
        attempt(observed),
        heldBack,
        holders(observed),
        revision,
        false,
        startupTaint.filter(key -> Nodes.isTainted(node, key)).isPresent(),
        DrainMarks.read(node),
        devices);
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

  /** A claim alone (DRA) is not in the way: its state is never touched. */
  private static List<String> holders(NumaNodeStateStatus status) {
    return Optional.ofNullable(status.containers).stream()
        .flatMap(c -> c.placed.stream())
        .filter(p -> p.placement != NumaNodeStateStatus.Placement.Unsupported || holdsMore(p))
        .map(p -> p.pod)
        .distinct()
        .toList();
  }

  private static boolean holdsMore(NumaNodeStateStatus.PlacedContainer placed) {
    return !Optional.ofNullable(placed.cpus).orElse("").isEmpty()
        || !placed.devices.isEmpty()
        || !placed.memoryZones.isEmpty();
  }
}
