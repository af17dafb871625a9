package io.numaoperator.rollout;

import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Decides what to do next. One node goes through: cordon → (pods that hold devices or exclusive
 * CPUs end) → grant → the agent works → revoke → uncordon. Each call gives at most one action a
 * node; the next call sees its effect.
 */
public final class Rollout {
  /** The order in which nodes are taken: stable, one failure domain after the other. */
  static final Comparator<NodeProgress> ORDER =
      Comparator.comparing(NodeProgress::failureDomain).thenComparing(NodeProgress::name);

  private Rollout() {}

  /** The next actions, for all nodes of one policy. */
  public static List<Action> next(
      Collection<NodeProgress> nodes, RolloutSettings settings, Instant now) {
    var actions = new ArrayList<Action>();
    for (var node : nodes.stream().sorted(ORDER).toList()) {
      continueOne(node, settings).ifPresent(actions::add);
    }
    if (mayStart(nodes, settings)) {
      var free = settings.maxUnavailable() - count(nodes, NodeProgress::unavailable);
      nodes.stream()
          .sorted(ORDER)
          .filter(node -> canStart(node, settings, now))
          .limit(Math.max(0, free))
          .forEach(node -> actions.add(new Action.Cordon(node.name(), node.nextAttempt())));
    }
    return actions;
  }

  /** Brings what was begun to its end; the budget was spent when it began. */
  private static Optional<Action> continueOne(NodeProgress node, RolloutSettings settings) {
    if (node.underChange()) {
      return Optional.empty(); // the agent's turn
    }
    if (node.granted()) {
      // A grant that nobody wants any more is taken back first; only when the agent cannot have
      // begun (next call) the node goes back into service.
      return isWanted(node, settings) && fits(node)
          ? Optional.empty()
          : Optional.of(new Action.Revoke(node.name()));
    }
    if (node.grant().isPresent()) {
      return Optional.of(new Action.Revoke(node.name()));
    }
    if (!(node.cordon() instanceof Cordon.Ours ours)) {
      return Optional.empty();
    }
    if (node.brokenNow()) {
      return Optional.empty();
    }
    if (!isWanted(node, settings) || used(node, ours.attempt())) {
      return Optional.of(new Action.Uncordon(node.name()));
    }
    if (node.target() instanceof Target.Change change
        && node.holders().isEmpty()
        && node.agentAlive()) {
      return Optional.of(
          new Action.Grant(node.name(), ours.attempt(), change.hash(), node.bootId()));
    }
    return Optional.empty(); // waits for its pods to end
  }

  private static boolean isWanted(NodeProgress node, RolloutSettings settings) {
    return settings.enforce()
        && !node.skipped()
        && !node.failed()
        && node.target() instanceof Target.Change;
  }

  /** The grant is for what is wanted now, and for this boot. */
  private static boolean fits(NodeProgress node) {
    return node.grant()
        .filter(
            grant ->
                node.target() instanceof Target.Change change
                    && change.hash().equals(grant.hash())
                    && grant.bootId().equals(node.bootId())
                    && node.cordon() instanceof Cordon.Ours ours
                    && ours.attempt() == grant.attempt())
        .isPresent();
  }

  private static boolean used(NodeProgress node, long attempt) {
    return node.attempt().filter(a -> a.number() >= attempt).isPresent();
  }

  private static boolean mayStart(Collection<NodeProgress> nodes, RolloutSettings settings) {
    return settings.enforce()
        && !(settings.pauseOnFailure() && nodes.stream().anyMatch(NodeProgress::failed));
  }

  private static boolean canStart(NodeProgress node, RolloutSettings settings, Instant now) {
    return isWanted(node, settings)
        && !node.unavailable()
        && node.agentAlive()
        && node.grant().isEmpty()
        && node.heldBack().isEmpty()
        && node.attempt()
            .filter(a -> a.outcome() == Outcome.Refused || isSucceeded(a, node))
            .map(a -> !now.isBefore(a.since().plus(settings.retryDelay())))
            .orElse(true);
  }

  /**
   * The very change that is wanted again did succeed: somebody undid it. Healing is as slow as a
   * retry, so that two writers do not restart a kubelet in turns without a pause.
   */
  private static boolean isSucceeded(NodeProgress.Attempt attempt, NodeProgress node) {
    return attempt.outcome() == Outcome.Succeeded
        && node.target() instanceof Target.Change change
        && change.hash().equals(attempt.hash());
  }

  private static int count(
      Collection<NodeProgress> nodes, java.util.function.Predicate<NodeProgress> which) {
    return (int) nodes.stream().filter(which).count();
  }
}
