package io.numaoperator.rollout;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides what to do next. One node goes through: cordon → (drain) → (the device plugin loads other
 * settings) → grant → the agent works → revoke → uncordon. Each call gives at most one action a
 * node; the next call sees its effect.
 */
public final class Rollout {
  /** The order in which nodes are taken: stable, one failure domain after the other. */
  static final Comparator<NodeProgress> ORDER =
      Comparator.comparing(NodeProgress::failureDomain).thenComparing(NodeProgress::name);

  /** How long after an eviction was asked for it is looked at again, as kubectl drain does. */
  static final Duration EVICTION_RETRY = Duration.ofSeconds(5);

  private Rollout() {}

  /** The next actions, for all nodes of one policy. */
  public static Decision decide(
      Collection<NodeProgress> nodes, RolloutSettings settings, Gangs gangs, Instant now) {
    var sorted = nodes.stream().sorted(ORDER).toList();
    var failed =
        settings.pauseOnFailure()
            ? sorted.stream()
                .filter(node -> node.failed() || node.isTriedAgain())
                .map(NodeProgress::name)
                .toList()
            : List.<String>of();
    var underWay = new UnderWay(settings, settings.enforce() && failed.isEmpty(), now);
    var again = new UnderWay(settings, settings.enforce(), now);
    var actions = new ArrayList<Action>();
    var waits = new LinkedHashMap<String, Wait>();
    for (var node : sorted) {
      var step = (node.isTriedAgain() ? again : underWay).next(node);
      step.action().ifPresent(actions::add);
      step.waitsFor().ifPresent(wait -> waits.put(node.name(), wait));
    }
    var draining = sorted.stream().anyMatch(NodeProgress::begun);
    if (settings.enforce()) {
      var stopping = failed.isEmpty() ? failing(actions, settings) : failed;
      new Starts(sorted, settings, gangs, now).next(stopping, actions, waits);
    }
    return new Decision(actions, waits, due(waits.values(), draining, settings, now));
  }

  /** The nodes whose failure these very actions write down. */
  private static List<String> failing(List<Action> actions, RolloutSettings settings) {
    return actions.stream()
        .filter(
            action ->
                settings.pauseOnFailure()
                    && action instanceof Action.DevicesLoaded loaded
                    && !loaded.back())
        .map(Action::node)
        .toList();
  }

  private static Optional<Instant> due(
      Collection<Wait> waits, boolean draining, RolloutSettings settings, Instant now) {
    return Stream.concat(
            waits.stream().flatMap(wait -> due(wait, now).stream()),
            draining ? settings.windows().nextClosing(now).stream() : Stream.empty())
        .min(Instant::compareTo);
  }

  private static Optional<Instant> due(Wait wait, Instant now) {
    return switch (wait) {
      case Wait.Window(var opens) -> opens;
      case Wait.Canary(var nodes, var until) -> until;
      case Wait.Retry(var at) -> Optional.of(at);
      case Wait.Backoff(var givenUp) -> Optional.of(givenUp.notBefore());
      case Wait.Pods pods -> pods.until();
      case Wait.Evictions evictions -> Optional.of(now.plus(EVICTION_RETRY));
      case Wait.Turn turn -> Optional.empty();
      case Wait.Together together -> Optional.empty();
      case Wait.Stopped stopped -> Optional.empty();
      case Wait.Free free -> Optional.of(free.until());
      case Wait.Settings(var at) -> Optional.of(at);
      case Wait.DevicesBack(var settles, var until) ->
          Optional.of(now.isBefore(settles) ? settles : until);
    };
  }
}
