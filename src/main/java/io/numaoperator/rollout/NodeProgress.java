package io.numaoperator.rollout;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One node as the rollout sees it.
 *
 * @param name the node's name
 * @param failureDomain its zone label ({@code topology.kubernetes.io/zone}), or empty
 * @param target what should become of its kubelet
 * @param nodeReady the Node's Ready condition is True
 * @param cordon who keeps it out of service
 * @param skipped the owner asked to leave this node alone
 * @param agentAlive its agent answers, from the boot the node is in
 * @param bootId the boot that the node is in
 * @param grant the permission that is given now
 * @param attempt the last attempt that its agent tells of
 * @param heldBack what must be there before this node may be changed; empty when nothing is missing
 * @param holders pods that hold devices or exclusive CPUs, as {@code namespace/name}
 * @param revision the policy's generation at which its present plan took the place of another one;
 *     empty for a node's first plan
 * @param settled it is seen to be as wanted, with nothing known that would be wrong about it
 * @param newcomer it is not in service yet: it carries the startup taint
 * @param drain how it gets free of its pods
 * @param devices what should become of its device plugin
 */
public record NodeProgress(
    String name,
    String failureDomain,
    Target target,
    boolean nodeReady,
    Cordon cordon,
    boolean skipped,
    boolean agentAlive,
    String bootId,
    Optional<Grant> grant,
    Optional<Attempt> attempt,
    Optional<String> heldBack,
    List<String> holders,
    Optional<Long> revision,
    boolean settled,
    boolean newcomer,
    Drain drain,
    Devices devices) {

  public NodeProgress {
    holders = List.copyOf(holders);
  }

  /** What should become of a node's kubelet. */
  public sealed interface Target {
    /** Not known yet, or not to be had: nothing is done. */
    record Unplanned() implements Target {}

    /** It is as the policy wants it. */
    record Reached() implements Target {}

    /**
     * It has to be changed, and its plan is not approved: nothing is started, and what was not
     * begun is taken back.
     *
     * @param plan the hash that the plan over all nodes has, to be approved
     */
    record Unapproved(String plan) implements Target {}

    /**
     * It has to be changed to the drop-in with this hash.
     *
     * @param again whether it is done also where it failed before; a failure is then followed by
     *     another attempt, later each time
     */
    record Change(String hash, boolean again) implements Target {
      public Change(String hash) {
        this(hash, false);
      }
    }
  }

  /** Who keeps a node out of service. */
  public sealed interface Cordon {
    /** Nobody. */
    record None() implements Cordon {}

    /** This operator, for this attempt. */
    record Ours(long attempt) implements Cordon {}

    /** Somebody else: it is never uncordoned by us, and not changed meanwhile. */
    record Foreign() implements Cordon {}
  }

  /** Permission for one attempt. */
  public record Grant(long attempt, String hash, String bootId) {}

  /** The last attempt that the agent tells of. */
  public record Attempt(long number, String hash, Outcome outcome, Instant since) {}

  /** How an attempt stands. */
  public enum Outcome {
    Running,
    Succeeded,
    RolledBack,
    RollbackFailed,
    Refused
  }

  /** The agent works on the kubelet, or is about to: the grant must not be taken back. */
  public boolean underChange() {
    return attempt.map(a -> a.outcome() == Outcome.Running).orElse(false);
  }

  /** A grant is out that the agent has not answered yet. */
  public boolean granted() {
    return grant.filter(g -> attempt.map(a -> a.number() < g.attempt()).orElse(true)).isPresent();
  }

  /** The change that is wanted now was tried and did not last; only another one is tried again. */
  public boolean failed() {
    return devices instanceof Devices.Failed || kubeletFailed();
  }

  /** The same of its kubelet alone. */
  public boolean kubeletFailed() {
    return brokenNow()
        || attempt
            .filter(a -> a.outcome() == Outcome.RolledBack || a.outcome() == Outcome.RollbackFailed)
            .filter(a -> target instanceof Target.Change change && change.hash().equals(a.hash()))
            .filter(a -> !isTriedAgain())
            .isPresent();
  }

  /** The very change that was rolled back is tried once more. */
  boolean isTriedAgain() {
    return attempt
        .filter(a -> a.outcome() == Outcome.RolledBack)
        .filter(
            a ->
                target instanceof Target.Change change
                    && change.again()
                    && change.hash().equals(a.hash()))
        .isPresent();
  }

  /** Its kubelet did not come back from a rollback: it stays out of service for a person to see. */
  boolean brokenNow() {
    return !nodeReady && attempt.filter(a -> a.outcome() == Outcome.RollbackFailed).isPresent();
  }

  /** The same with what is known of its drain. */
  public NodeProgress with(Drain known) {
    return new NodeProgress(
        name,
        failureDomain,
        target,
        nodeReady,
        cordon,
        skipped,
        agentAlive,
        bootId,
        grant,
        attempt,
        heldBack,
        holders,
        revision,
        settled,
        newcomer,
        known,
        devices);
  }

  /** The same with whether it is settled. */
  public NodeProgress settled(boolean known) {
    return new NodeProgress(
        name,
        failureDomain,
        target,
        nodeReady,
        cordon,
        skipped,
        agentAlive,
        bootId,
        grant,
        attempt,
        heldBack,
        holders,
        revision,
        known,
        newcomer,
        drain,
        devices);
  }

  /** The same after its agent is gone for good: how its attempt ended will not be told. */
  public NodeProgress abandoned() {
    return new NodeProgress(
        name,
        failureDomain,
        target,
        nodeReady,
        cordon,
        skipped,
        agentAlive,
        bootId,
        grant,
        attempt.map(a -> new Attempt(a.number(), a.hash(), Outcome.RolledBack, a.since())),
        heldBack,
        holders,
        revision,
        settled,
        newcomer,
        drain,
        devices);
  }

  /** Service is missing it, whatever the reason. */
  boolean unavailable() {
    return !newcomer
        && (!nodeReady || !(cordon instanceof Cordon.None) || underChange() || loading());
  }

  /** Somebody works on it for a change of ours. */
  public boolean begun() {
    return cordon instanceof Cordon.Ours || underChange() || granted() || loading();
  }

  private boolean loading() {
    return devices instanceof Devices.Loading;
  }

  /** It has to be changed, and may be as far as it alone is concerned. */
  boolean wanted() {
    return kubeletWanted() || devicesWanted();
  }

  /** Its kubelet has to be changed. */
  boolean kubeletWanted() {
    return target instanceof Target.Change && !skipped && !failed();
  }

  /** Its device plugin has to load other settings. Without an approved plan nothing is started. */
  public boolean devicesWanted() {
    return devices instanceof Devices.Change
        && !(target instanceof Target.Unapproved)
        && !skipped
        && !failed();
  }

  /** When its last attempt succeeded, while that is what it still has. */
  Optional<Instant> reachedAt() {
    return target instanceof Target.Reached
        ? attempt.filter(a -> a.outcome() == Outcome.Succeeded).map(Attempt::since)
        : Optional.empty();
  }

  /** The number for the next attempt: above every number seen so far. */
  long nextAttempt() {
    var seen = attempt.map(Attempt::number).orElse(0L);
    seen = Math.max(seen, grant.map(Grant::attempt).orElse(0L));
    return 1 + (cordon instanceof Cordon.Ours ours ? Math.max(seen, ours.attempt()) : seen);
  }
}
