package io.numaoperator.rollout;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Brings what was begun to its end; the budget was spent when it began.
 *
 * @param mayGrant whether attempts may be started at all now
 */
record UnderWay(RolloutSettings settings, boolean mayGrant, Instant now) {

  /** Of retries of a refused grant (30 s): a failure is tried again after 10 minutes and later. */
  private static final int FAILURE_DELAYS = 20;

  Step next(NodeProgress node) {
    if (node.underChange()) {
      return Step.NOTHING; // the agent's turn
    }
    if (node.granted()) {
      // A grant that would not be given now is taken back first; only when the agent cannot have
      // begun (next call) the node goes back into service.
      return mayGrant && isTime(node) && node.wanted() && fits(node)
          ? Step.NOTHING
          : Step.act(new Action.Revoke(node.name()));
    }
    if (node.grant().isPresent()) {
      return Step.act(new Action.Revoke(node.name()));
    }
    if (node.devices() instanceof Devices.Loading loading) {
      return loading(node, loading);
    }
    if (!(node.cordon() instanceof Cordon.Ours ours) || node.brokenNow()) {
      return Step.NOTHING;
    }
    var inVain = refused(node).or(() -> failed(node)).filter(givenUp -> used(node, ours.attempt()));
    if (inVain.isPresent() || isThrough(node, ours.attempt())) {
      return Step.act(new Action.Uncordon(node.name(), inVain));
    }
    if (!mayGrant || !node.wanted() || !isTime(node)) {
      return Step.act(new Action.Uncordon(node.name(), node.drain().givenUp()));
    }
    return new Draining(node, settings, now).next().orElseGet(() -> free(node, ours.attempt()));
  }

  /** All that it was taken out of service for, and can be done now, is done. */
  private static boolean isThrough(NodeProgress node, long attempt) {
    return !node.devicesWanted()
        && (used(node, attempt) || (node.heldBack().isPresent() && hasLoadedDevices(node)));
  }

  /** During this drain: what a node that is held back was taken out of service for. */
  private static boolean hasLoadedDevices(NodeProgress node) {
    return node.devices() instanceof Devices.AsWanted(var loaded)
        && loaded
            .filter(
                at ->
                    node.drain()
                        .phase()
                        .map(phase -> !at.isBefore(phase.since().truncatedTo(ChronoUnit.SECONDS)))
                        .orElse(false))
            .isPresent();
  }

  /** The device plugin comes first: a kubelet is verified with its devices. */
  private Step free(NodeProgress node, long attempt) {
    if (node.devicesWanted() && node.devices() instanceof Devices.Change(var hash, var at)) {
      return now.isBefore(at)
          ? Step.hold(new Wait.Settings(at))
          : Step.act(new Action.LoadDevices(node.name(), hash));
    }
    return granting(node, attempt, (Target.Change) node.target());
  }

  /** To its end, whatever is wanted now: a plugin is not left with half of it. */
  private Step loading(NodeProgress node, Devices.Loading loading) {
    if (loading.back()) {
      return Step.act(new Action.DevicesLoaded(node.name(), loading.hash(), true));
    }
    var until = loading.settles().plus(settings.drain().timeout());
    return now.isBefore(until)
        ? Step.hold(new Wait.DevicesBack(loading.settles(), until))
        : Step.act(new Action.DevicesLoaded(node.name(), loading.hash(), false));
  }

  /** What is refused again and again must not drain the node again and again. */
  private Optional<GivenUp> refused(NodeProgress node) {
    return node.attempt()
        .filter(attempt -> attempt.outcome() == Outcome.Refused)
        .map(
            attempt ->
                node.drain()
                    .givenUpAgain(
                        now, settings.retryDelay(), settings.retryDelay(), GivenUp.REFUSED));
  }

  /** What caused it is with the node's owner, who needs some time. */
  private Optional<GivenUp> failed(NodeProgress node) {
    var pause = settings.retryDelay().multipliedBy(FAILURE_DELAYS);
    return node.isTriedAgain()
        ? Optional.of(node.drain().givenUpAgain(now, pause, pause, GivenUp.FAILED))
        : Optional.empty();
  }

  private Step granting(NodeProgress node, long attempt, Target.Change change) {
    return node.agentAlive()
        ? Step.act(new Action.Grant(node.name(), attempt, change.hash(), node.bootId()))
        : silent(node);
  }

  /**
   * The agent of a node that is free has as long again as evictions may take. Pods may have been
   * waited for without end before: so the time counts from a mark that is set now.
   */
  private Step silent(NodeProgress node) {
    if (!(node.drain().phase().orElse(null) instanceof Phase.Evicting(var since))) {
      return Step.act(new Action.BeginPhase(node.name(), new Phase.Evicting(now)));
    }
    var patience = settings.drain().timeout();
    var until = since.plus(patience.multipliedBy(2));
    return now.isBefore(until)
        ? Step.hold(new Wait.Free(node.drain().gang(), until))
        : Step.act(
            new Action.Uncordon(
                node.name(),
                Optional.of(
                    node.drain()
                        .givenUpAgain(now, patience, settings.retryDelay(), GivenUp.NO_AGENT))));
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
