package io.numaoperator.rollout;

import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.RolloutSettings.Canary;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Lets a change through to the first nodes only, until these have proved it. What proves it is
 * counted from the nodes, so that nothing has to be remembered: a node that has its plan, for the
 * same or a later spec, is settled and has soaked. A node that already was right proves its first
 * plan, so that drift and new nodes do not wait for canaries again.
 */
final class CanaryGate {
  private final List<NodeProgress> nodes;
  private final Optional<Canary> canary;
  private final Instant now;
  private final Map<Optional<Long>, State> states = new HashMap<>();
  private final Set<String> admitted = new HashSet<>();

  /** Where the canaries of one revision are. */
  private record State(int missing, List<String> trying, Optional<Instant> until) {}

  CanaryGate(List<NodeProgress> nodes, Optional<Canary> canary, Instant now) {
    this.nodes = nodes;
    this.canary = canary;
    this.now = now;
  }

  /** Empty for a node that may go on: as a canary, or since all canaries are through. */
  Optional<Wait> obstacle(NodeProgress node) {
    if (canary.isEmpty() || admitted.contains(node.name())) {
      return Optional.empty();
    }
    var state = states.computeIfAbsent(node.revision(), this::state);
    if (state.missing() <= 0 && state.trying().isEmpty()) {
      return Optional.empty();
    }
    if (state.missing() > 0) {
      var trying = new ArrayList<>(state.trying());
      trying.add(node.name());
      states.put(node.revision(), new State(state.missing() - 1, trying, Optional.empty()));
      admitted.add(node.name());
      return Optional.empty();
    }
    return Optional.of(new Wait.Canary(state.trying(), state.until()));
  }

  private State state(Optional<Long> revision) {
    var wanted = canary.orElseThrow().nodes();
    var proven = nodes.stream().filter(node -> isProof(node, revision)).count();
    if (proven >= wanted) {
      return new State(0, List.of(), Optional.empty());
    }
    var trying = nodes.stream().filter(node -> isTrying(node, revision)).toList();
    var soaked =
        trying.stream().allMatch(NodeProgress::settled)
            ? trying.stream().flatMap(node -> soakedAt(node).stream()).max(Instant::compareTo)
            : Optional.<Instant>empty();
    return new State(
        (int) (wanted - proven - trying.size()),
        trying.stream().map(NodeProgress::name).toList(),
        soaked);
  }

  private boolean isProof(NodeProgress node, Optional<Long> revision) {
    return node.target() instanceof Target.Reached
        && node.settled()
        && !(node.cordon() instanceof Cordon.Ours)
        && isFor(node, revision)
        && soakedAt(node).map(end -> !now.isBefore(end)).orElse(true);
  }

  private boolean isTrying(NodeProgress node, Optional<Long> revision) {
    return node.begun()
        || node.failed()
        || (node.reachedAt().isPresent() && isFor(node, revision) && !isProof(node, revision));
  }

  /** Unlike a node that a change of the spec did not concern, it went through that change. */
  private static boolean isFor(NodeProgress node, Optional<Long> revision) {
    return revision.isEmpty()
        || (node.reachedAt().isPresent()
            && node.revision().filter(r -> r >= revision.get()).isPresent());
  }

  private Optional<Instant> soakedAt(NodeProgress node) {
    return node.reachedAt().map(at -> at.plus(canary.orElseThrow().soak()));
  }
}
