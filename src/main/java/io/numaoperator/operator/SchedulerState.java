package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.numaoperator.scheduler.SchedulerExtender;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** How the scheduler of the policies is, by what is seen of it. */
sealed interface SchedulerState {
  /** The operator runs none. */
  record None() implements SchedulerState {}

  /** One of which it cannot be known whether it sees zones. */
  record Unjudged(String why) implements SchedulerState {}

  /** One that looks at its pods, and of which its owner says that it sees zones. */
  record Assumed(String scheduler) implements SchedulerState {}

  /** It cannot place a pod now. */
  record Down(String why) implements SchedulerState {}

  /**
   * It places pods: BuiltIn, when a replica is available (its probe asks for its leader election
   * too) and the extender answers; others as {@link Schedulers} has it.
   *
   * @param nodes whose NodeResourceTopology it has read and can use
   * @param otherwise what holds for the other nodes
   * @param foreignPods node → how many pods with devices there were bound by another scheduler
   */
  record Live(Set<String> nodes, Map<String, Integer> foreignPods, String otherwise)
      implements SchedulerState {
    private static final String UNREAD =
        "the scheduler has not read this node's NodeResourceTopology";

    public Live {
      nodes = Set.copyOf(nodes);
      foreignPods = Map.copyOf(foreignPods);
    }

    public Live(Set<String> nodes, Map<String, Integer> foreignPods) {
      this(nodes, foreignPods, UNREAD);
    }
  }

  /** The nodes for which this state says something else than a former one. */
  default Predicate<String> differsFrom(SchedulerState former) {
    if (this instanceof Live now
        && former instanceof Live then
        && now.otherwise().equals(then.otherwise())) {
      return node ->
          now.nodes().contains(node) != then.nodes().contains(node)
              || !Objects.equals(now.foreignPods().get(node), then.foreignPods().get(node));
    }
    return node -> !equals(former);
  }

  static SchedulerState of(Optional<Deployment> deployment, SchedulerExtender.Status extender) {
    if (!extender.synced()) {
      return new Down("the extender has not read pods and topologies yet");
    }
    return deployment.filter(d -> available(d) > 0).isPresent()
        ? new Live(extender.nodes(), extender.foreignPods())
        : new Down("no replica of the scheduler is available");
  }

  static int available(Deployment deployment) {
    return Optional.ofNullable(deployment.getStatus()).map(s -> s.getAvailableReplicas()).orElse(0);
  }
}
