package io.numaoperator.rollout;

import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.Optional;

/**
 * Brings what was begun to its end; the budget was spent when it began.
 *
 * @param mayGrant whether attempts may be started at all now
 */
record UnderWay(RolloutSettings settings, boolean mayGrant, Instant now) {

  Step next(NodeProgress node) {
    if (node.underChange()) {
      return Step.NOTHING; // the agent's turn
    }
    if (node.granted()) {
      // A grant that nobody wants any more is taken back first; only when the agent cannot have
      // begun (next call) the node goes back into service.
      return settings.enforce() && node.wanted() && fits(node)
          ? Step.NOTHING
          : Step.act(new Action.Revoke(node.name()));
    }
    if (node.grant().isPresent()) {
      return Step.act(new Action.Revoke(node.name()));
    }
    if (!(node.cordon() instanceof Cordon.Ours ours) || node.brokenNow()) {
      return Step.NOTHING;
    }
    if (used(node, ours.attempt())) {
      return Step.act(new Action.Uncordon(node.name(), Optional.empty()));
    }
    if (!mayGrant || !node.wanted() || !isTime(node)) {
      return Step.act(new Action.Uncordon(node.name(), node.drain().givenUp()));
    }
    return new Draining(node, settings, now)
        .next()
        .orElseGet(() -> granting(node, ours.attempt(), (Target.Change) node.target()));
  }

  private static Step granting(NodeProgress node, long attempt, Target.Change change) {
    return node.agentAlive()
        ? Step.act(new Action.Grant(node.name(), attempt, change.hash(), node.bootId()))
        : Step.hold(new Wait.Free(node.drain().gang()));
  }

  private boolean isTime(NodeProgress node) {
    return node.newcomer() || settings.windows().isOpenAt(now);
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
}
