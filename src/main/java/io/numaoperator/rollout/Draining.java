package io.numaoperator.rollout;

import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.Drain.Resident;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The drain of one node that is out of service for us. */
record Draining(NodeProgress node, RolloutSettings settings, Instant now) {

  /** What a drain begins with. */
  static Phase begin(RolloutSettings settings, Instant now) {
    return settings.drain().evict() ? new Phase.Evicting(now) : new Phase.Waiting(now);
  }

  /** Empty when the node is free. */
  Optional<Step> next() {
    return switch (node.drain().phase().orElse(null)) {
      case null -> Optional.of(phase(begin(settings, now)));
      case Phase.Waiting waiting when evict() -> Optional.of(phase(new Phase.Evicting(now)));
      case Phase.Waiting(var since) -> waiting(since);
      case Phase.Evicting(var since) -> evicting(since);
    };
  }

  private Optional<Step> waiting(Instant since) {
    var deadline = settings.drain().waitTimeout();
    if (!holders().isEmpty()) {
      return Optional.of(holding(holders(), since, deadline));
    }
    return evictable().isEmpty() ? Optional.empty() : Optional.of(phase(new Phase.Evicting(now)));
  }

  private Optional<Step> evicting(Instant since) {
    var deadline = settings.drain().timeout();
    if (!evict() && !holders().isEmpty()) {
      return Optional.of(holding(holders(), since, Optional.of(deadline)));
    }
    var there = evictable();
    if (!there.isEmpty()) {
      return Optional.of(
          now.isBefore(since.plus(deadline))
              ? new Step(ask(there), Optional.of(evictions(there, since.plus(deadline))))
              : giveUp(deadline, names(there)));
    }
    return node.holders().isEmpty()
        ? Optional.empty()
        : Optional.of(holding(holders(), since, Optional.of(deadline)));
  }

  private Step holding(List<String> pods, Instant since, Optional<Duration> deadline) {
    var until = deadline.map(since::plus);
    return until.filter(end -> !now.isBefore(end)).isPresent()
        ? giveUp(deadline.get(), pods)
        : Step.hold(new Wait.Pods(pods, until, node.drain().gang()));
  }

  private Optional<Action> ask(List<Resident> there) {
    var pods = there.stream().filter(pod -> !pod.terminating()).map(Resident::name).toList();
    return pods.isEmpty() ? Optional.empty() : Optional.of(new Action.Evict(node.name(), pods));
  }

  private Wait evictions(List<Resident> there, Instant until) {
    var left =
        node.drain().residents().stream()
            .filter(pod -> !there.contains(pod))
            .map(Draining::described)
            .toList();
    return new Wait.Evictions(names(there), Map.of(), left, until, node.drain().gang());
  }

  private Step phase(Phase phase) {
    return Step.act(new Action.BeginPhase(node.name(), phase));
  }

  private Step giveUp(Duration waited, List<String> pods) {
    var why = pods.isEmpty() ? "" : pods.getFirst();
    return Step.act(
        new Action.Uncordon(
            node.name(),
            Optional.of(node.drain().givenUpAgain(now, waited, settings.retryDelay(), why))));
  }

  private boolean evict() {
    return settings.drain().evict();
  }

  /**
   * Those that must end by themselves. One that began a moment ago may hold what the agent has not
   * told of yet.
   */
  private List<String> holders() {
    return Stream.concat(
            node.holders().stream().map(this::described),
            node.drain().residents().stream()
                .filter(pod -> pod.mayHold() && !evict())
                .filter(pod -> !node.holders().contains(pod.name()))
                .map(Draining::described))
        .toList();
  }

  private List<Resident> evictable() {
    return node.drain().residents().stream()
        .filter(pod -> pod.kind() == Kind.Replaced || (evict() && pod.kind() == Kind.Bare))
        .toList();
  }

  private String described(String holder) {
    return node.drain().residents().stream()
        .filter(pod -> pod.name().equals(holder))
        .findFirst()
        .map(Draining::described)
        .orElse(holder);
  }

  private static String described(Resident pod) {
    return pod.name()
        + switch (pod.kind()) {
          case Replaced -> "";
          case Bare -> " (no controller would replace it)";
          case DaemonSet -> " (of a DaemonSet)";
          case Static -> " (a static pod)";
          case Operator -> " (this operator)";
        };
  }

  private static List<String> names(List<Resident> pods) {
    return pods.stream().map(Resident::name).toList();
  }
}
