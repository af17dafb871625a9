package io.numaoperator.rollout;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.Drain.Resident;
import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.RolloutSettings.Canary;
import io.numaoperator.rollout.RolloutSettings.DrainSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A node that tests change step by step; at first at rest, and to be changed to {@code new}. */
final class TestNode {
  static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  final String name;
  String domain = "";
  Target target = new Target.Change("new");
  boolean ready = true;
  Cordon cordon = new Cordon.None();
  boolean skipped;
  boolean agentAlive = true;
  Optional<Grant> grant = Optional.empty();
  Optional<Attempt> attempt = Optional.empty();
  Optional<String> heldBack = Optional.empty();
  List<String> holders = List.of();
  Optional<Long> revision = Optional.empty();
  boolean settled;
  boolean newcomer;
  Optional<Phase> phase = Optional.empty();
  Optional<String> gang = Optional.empty();
  Optional<GivenUp> givenUp = Optional.empty();
  List<Resident> residents = new ArrayList<>();
  Devices devices = new Devices.AsWanted();

  private TestNode(String name) {
    this.name = name;
  }

  static TestNode named(String name) {
    return new TestNode(name);
  }

  NodeProgress progress() {
    return new NodeProgress(
        name,
        domain,
        target,
        ready,
        cordon,
        skipped,
        agentAlive,
        "boot",
        grant,
        attempt,
        heldBack,
        holders,
        revision,
        settled,
        newcomer,
        new Drain(phase, gang, givenUp, residents),
        devices);
  }

  TestNode in(String domain) {
    this.domain = domain;
    return this;
  }

  TestNode target(Target target) {
    this.target = target;
    return this;
  }

  TestNode notReady() {
    ready = false;
    return this;
  }

  TestNode silent() {
    agentAlive = false;
    return this;
  }

  TestNode skipped() {
    skipped = true;
    return this;
  }

  TestNode newcomer() {
    newcomer = true;
    return this;
  }

  TestNode devices(Devices devices) {
    this.devices = devices;
    return this;
  }

  TestNode heldBack() {
    heldBack = Optional.of("no scheduler");
    return this;
  }

  TestNode revision(long generation) {
    revision = Optional.of(generation);
    return this;
  }

  /** Taken out of service by us a moment ago. */
  TestNode cordoned(long attempt) {
    return drained(attempt, new Phase.Waiting(NOW));
  }

  TestNode drained(long attempt, Phase phase) {
    cordon = new Cordon.Ours(attempt);
    this.phase = Optional.of(phase);
    return this;
  }

  TestNode cordonedByOthers() {
    cordon = new Cordon.Foreign();
    return this;
  }

  TestNode grant(long attempt, String hash) {
    grant = Optional.of(new Grant(attempt, hash, "boot"));
    return this;
  }

  TestNode attempt(long number, String hash, Outcome outcome) {
    return attempt(number, hash, outcome, NOW);
  }

  TestNode attempt(long number, String hash, Outcome outcome, Instant since) {
    attempt = Optional.of(new Attempt(number, hash, outcome, since));
    return this;
  }

  /** Changed, and nothing is wrong with it. */
  TestNode done(Instant since) {
    target = new Target.Reached();
    settled = true;
    return attempt(1, "new", Outcome.Succeeded, since);
  }

  TestNode holders(String... pods) {
    holders = List.of(pods);
    return this;
  }

  TestNode pod(String name, Kind kind) {
    return pod(new Resident(name, kind, false, false));
  }

  TestNode pod(Resident resident) {
    residents.add(resident);
    return this;
  }

  TestNode givenUp(int count, Instant notBefore) {
    givenUp = Optional.of(new GivenUp(count, notBefore, "train/llm"));
    return this;
  }

  // ---- what is decided about nodes

  static Decision decide(RolloutSettings settings, Instant now, TestNode... nodes) {
    return decide(settings, Gangs.NONE, now, nodes);
  }

  static Decision decide(RolloutSettings settings, Gangs gangs, Instant now, TestNode... nodes) {
    return Rollout.decide(Stream.of(nodes).map(TestNode::progress).toList(), settings, gangs, now);
  }

  static List<Action> next(RolloutSettings settings, TestNode... nodes) {
    return decide(settings, NOW, nodes).actions();
  }

  /** A cordon of now, in mode WhenIdle. */
  static Action cordon(String node, long attempt) {
    return cordon(node, attempt, NOW);
  }

  static Action cordon(String node, long attempt, Instant now) {
    return new Action.Cordon(node, attempt, new Phase.Waiting(now), Optional.empty());
  }

  static Action uncordon(String node) {
    return new Action.Uncordon(node, Optional.empty());
  }

  static Action grant(String node, long attempt) {
    return new Action.Grant(node, attempt, "new", "boot");
  }

  // ---- settings

  /** Stops at a failure, waits for pods for as long as it takes. */
  static RolloutSettings budget(int maxUnavailable) {
    return new RolloutSettings(
        maxUnavailable,
        true,
        true,
        Duration.ofSeconds(30),
        Optional.empty(),
        MaintenanceWindows.ALWAYS,
        new DrainSettings(false, Duration.ofMinutes(10), Optional.empty()));
  }

  static RolloutSettings goingOn(RolloutSettings s) {
    return new RolloutSettings(
        s.maxUnavailable(), true, false, s.retryDelay(), s.canary(), s.windows(), s.drain());
  }

  static RolloutSettings paused(RolloutSettings s) {
    return new RolloutSettings(
        s.maxUnavailable(),
        false,
        s.pauseOnFailure(),
        s.retryDelay(),
        s.canary(),
        s.windows(),
        s.drain());
  }

  static RolloutSettings canary(RolloutSettings s, int nodes, Duration soak) {
    return new RolloutSettings(
        s.maxUnavailable(),
        s.enforce(),
        s.pauseOnFailure(),
        s.retryDelay(),
        Optional.of(new Canary(nodes, soak)),
        s.windows(),
        s.drain());
  }

  static RolloutSettings windows(RolloutSettings s, MaintenanceWindows windows) {
    return new RolloutSettings(
        s.maxUnavailable(),
        s.enforce(),
        s.pauseOnFailure(),
        s.retryDelay(),
        s.canary(),
        windows,
        s.drain());
  }

  static RolloutSettings drain(
      RolloutSettings s, boolean evict, Duration timeout, Optional<Duration> waitTimeout) {
    return new RolloutSettings(
        s.maxUnavailable(),
        s.enforce(),
        s.pauseOnFailure(),
        s.retryDelay(),
        s.canary(),
        s.windows(),
        new DrainSettings(evict, timeout, waitTimeout));
  }
}
