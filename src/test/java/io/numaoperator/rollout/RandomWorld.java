package io.numaoperator.rollout;

import static io.numaoperator.rollout.TestNode.NOW;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Resident;
import io.numaoperator.rollout.MaintenanceWindows.Window;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.RolloutSettings.Canary;
import io.numaoperator.rollout.RolloutSettings.DrainSettings;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * 200 nodes whose agents, pods, people and failures are made up from a seed. Every action of the
 * rollout is carried out as the operator would, and each law is looked at when it could be broken.
 */
final class RandomWorld {
  private static final Target REACHED = new Target.Reached();

  private final Random random;
  private final int failing;
  private final List<TestNode> nodes = new ArrayList<>();
  private final Set<String> started = new HashSet<>();
  private final Set<String> right = new HashSet<>();
  private final Map<String, RandomProof> proofs = new HashMap<>();
  private final Set<String> proving = new HashSet<>();
  private int proven;
  private int quiet;
  final RolloutSettings settings;
  Instant now = NOW;
  int mostOut;

  /**
   * @param failing of how many attempts one fails; 0 for none
   */
  RandomWorld(long seed, int failing) {
    this.random = new Random(seed);
    this.failing = failing;
    this.settings =
        new RolloutSettings(
            1 + random.nextInt(7),
            true,
            random.nextBoolean(),
            Duration.ofSeconds(30),
            random.nextBoolean()
                ? Optional.of(new Canary(1 + random.nextInt(3), Duration.ofMinutes(10)))
                : Optional.empty(),
            random.nextBoolean() ? nightly() : MaintenanceWindows.ALWAYS,
            new DrainSettings(
                random.nextBoolean(),
                Duration.ofMinutes(5),
                random.nextBoolean() ? Optional.of(Duration.ofMinutes(20)) : Optional.empty()));
    for (int i = 0; i < 200; i++) {
      var node = TestNode.named("n" + i).in("z" + i % 3);
      if (random.nextInt(10) == 0) {
        node.target(REACHED); // not settled: it would prove the change
        right.add(node.name);
      } else if (random.nextInt(3) == 0) {
        node.devices(new Devices.Change("d", now));
      }
      fill(node);
      nodes.add(node);
    }
  }

  private static MaintenanceWindows nightly() {
    return new MaintenanceWindows(
        List.of(
            new Window(
                EnumSet.allOf(DayOfWeek.class),
                LocalTime.of(22, 0),
                Duration.ofHours(6),
                ZoneOffset.UTC)),
        Optional.empty());
  }

  private void fill(TestNode node) {
    for (int i = random.nextInt(3); i > 0; i--) {
      node.pod(node.name + "/p" + i, Kind.values()[random.nextInt(Kind.values().length)]);
    }
    if (random.nextInt(3) == 0) {
      node.pod(node.name + "/llm", Kind.Replaced).holders(node.name + "/llm");
    }
  }

  /** Nothing was to be done for long enough that everything that can happen has happened. */
  boolean isOver() {
    return quiet > 20;
  }

  /** A failure stops the policy, or canaries that failed hold up the others. */
  boolean mayStop() {
    return nodes.stream().anyMatch(node -> node.progress().failed())
        && (settings.pauseOnFailure() || settings.canary().isPresent());
  }

  List<NodeProgress> unfinished() {
    return nodes.stream()
        .map(TestNode::progress)
        .filter(
            node ->
                node.begun()
                    || node.devicesWanted()
                    || (!node.target().equals(REACHED) && !node.failed()))
        .toList();
  }

  Set<String> rightFromTheBeginning() {
    return right;
  }

  Set<String> started() {
    return started;
  }

  void round() {
    var views = nodes.stream().map(TestNode::progress).toList();
    var decision = Rollout.decide(views, settings, this::gang, now);
    assertThat(decision.actions()).extracting(Action::node).doesNotHaveDuplicates();
    decision.actions().forEach(this::carryOut);
    proofs.forEach((name, proof) -> proof.pass(proving.contains(name), now));
    nodes.stream().filter(node -> random.nextInt(4) == 0).forEach(this::live);
    nodes.forEach(this::load);
    now = now.plusSeconds(10 + random.nextInt(20));
    var idle =
        decision.actions().isEmpty()
            && nodes.stream().noneMatch(n -> n.progress().begun())
            && !hasProofPods();
    var undisturbed =
        nodes.stream().allMatch(n -> n.ready && !(n.cordon instanceof Cordon.Foreign));
    quiet = idle && undisturbed && decision.due().isEmpty() ? quiet + 1 : 0;
    if (idle) {
      now = decision.due().filter(now::isBefore).orElse(now);
    }
  }

  /** Nodes 0 to 3, 28 to 31 and so on run a job each. */
  private Optional<Gangs.Gang> gang(String name) {
    int number = Integer.parseInt(name.substring(1));
    int first = number - number % 28;
    return number - first > 3
        ? Optional.empty()
        : Optional.of(
            new Gangs.Gang(
                "Job llm-" + first,
                IntStream.range(first, first + 4).mapToObj(i -> "n" + i).collect(toSet())));
  }

  // ---- what the operator does, and the laws

  private void carryOut(Action action) {
    var node = nodes.stream().filter(n -> n.name.equals(action.node())).findFirst().orElseThrow();
    assertThat(right).doesNotContain(node.name);
    switch (action) {
      case Action.Cordon cordon -> cordon(node, cordon);
      case Action.BeginPhase begin -> node.phase = Optional.of(begin.phase());
      case Action.Evict evict -> evict.pods().forEach(pod -> evict(node, pod));
      case Action.LoadDevices load -> {
        assertThat(node.cordon).isInstanceOf(Cordon.Ours.class);
        assertFree(node);
        node.devices = new Devices.Loading(load.hash(), false, now.plusSeconds(60));
      }
      case Action.DevicesLoaded loaded ->
          node.devices = loaded.back() ? new Devices.AsWanted() : new Devices.Failed(loaded.hash());
      case Action.Grant grant -> {
        assertThat(node.devices).isInstanceOf(Devices.AsWanted.class);
        assertFree(node);
        node.grant(grant.attempt(), grant.hash());
      }
      case Action.Revoke revoke -> node.grant = Optional.empty();
      case Action.Uncordon uncordon -> {
        assertThat(node.cordon).isInstanceOf(Cordon.Ours.class);
        assertThat(node.progress().underChange() || node.progress().granted()).isFalse();
        assertThat(proving).doesNotContain(node.name);
        node.cordon = new Cordon.None();
        node.phase = Optional.empty();
        node.givenUp = uncordon.givenUp();
        node.settled = node.target.equals(REACHED);
      }
    }
  }

  private void assertFree(TestNode node) {
    assertThat(node.holders).isEmpty();
    assertThat(node.residents).noneMatch(pod -> pod.kind() == Kind.Replaced);
    assertThat(settings.windows().isOpenAt(now)).isTrue();
    assertThat(isStoppedByFailure()).isFalse();
  }

  private void cordon(TestNode node, Action.Cordon cordon) {
    assertThat(node.cordon).isInstanceOf(Cordon.None.class);
    assertThat(settings.windows().isOpenAt(now)).isTrue();
    assertThat(isStoppedByFailure()).isFalse();
    started.add(node.name);
    node.drained(cordon.attempt(), cordon.phase());
    node.gang = cordon.gang();
    canaryLaw();
    int out = (int) nodes.stream().filter(n -> n.progress().unavailable()).count();
    mostOut = Math.max(mostOut, out);
    assertThat(out).isLessThanOrEqualTo(settings.maxUnavailable());
  }

  private boolean isStoppedByFailure() {
    return settings.pauseOnFailure() && nodes.stream().anyMatch(n -> n.progress().failed());
  }

  /** Until enough of them soaked, no more than the canaries are out, changed or failed. */
  private void canaryLaw() {
    settings
        .canary()
        .ifPresent(
            canary -> {
              var views = nodes.stream().map(TestNode::progress).toList();
              var soaked =
                  views.stream()
                      .flatMap(node -> node.reachedAt().stream())
                      .filter(at -> !now.isBefore(at.plus(canary.soak())))
                      .count();
              var tried =
                  views.stream()
                      .filter(n -> n.begun() || n.failed() || n.reachedAt().isPresent())
                      .count();
              if (soaked < canary.nodes()) {
                assertThat(tried).isLessThanOrEqualTo(canary.nodes());
              }
            });
  }

  /** A budget refuses some; those that go take their time. */
  private void evict(TestNode node, String name) {
    var pod = node.residents.stream().filter(r -> r.name().equals(name)).findFirst().orElseThrow();
    assertThat(pod.kind())
        .isIn(settings.drain().evict() ? Set.of(Kind.Replaced, Kind.Bare) : Set.of(Kind.Replaced));
    if (!settings.drain().evict()) {
      assertThat(node.holders).doesNotContain(name);
    }
    if (random.nextInt(3) > 0) {
      node.residents.remove(pod);
      node.pod(new Resident(pod.name(), pod.kind(), pod.mayHold(), true));
    }
  }

  // ---- what happens by itself

  private void live(TestNode node) {
    var progress = node.progress();
    Optional.ofNullable(proofs.get(node.name)).ifPresent(RandomProof::live);
    if (progress.granted()) {
      var grant = node.grant.orElseThrow();
      node.attempt(grant.attempt(), grant.hash(), Outcome.Running, now);
    } else if (progress.underChange()) {
      end(node);
    } else if (node.cordon instanceof Cordon.None && random.nextInt(4000) == 0) {
      node.cordonedByOthers();
    } else if (node.cordon instanceof Cordon.Foreign && random.nextInt(4) == 0) {
      node.cordon = new Cordon.None();
    } else if (node.cordon instanceof Cordon.None && random.nextInt(4000) == 0) {
      node.ready = false;
    } else if (random.nextInt(4) == 0) {
      node.ready = true;
    }
    if (random.nextInt(20) == 0) {
      node.holders = List.of();
      node.residents.removeIf(pod -> pod.name().endsWith("/llm"));
    }
    node.residents.removeIf(Resident::terminating);
    if (node.residents.stream().noneMatch(pod -> pod.name().endsWith("/llm"))) {
      node.holders = List.of();
    }
  }

  /** A plugin whose number has no luck never comes back. */
  private void load(TestNode node) {
    if (node.devices instanceof Devices.Loading(var hash, var back, var settles)) {
      boolean lost = failing > 0 && Math.floorMod(node.name.hashCode(), failing) == 0;
      node.devices = new Devices.Loading(hash, !lost && !now.isBefore(settles), settles);
    }
  }

  int proven() {
    return proven;
  }

  boolean hasProofPods() {
    return proofs.values().stream().anyMatch(RandomProof::hasPods);
  }

  /** Most changes that were verified have to be proven. */
  private void end(TestNode node) {
    var attempt = node.attempt.orElseThrow();
    if (proving.contains(node.name)) {
      proofs.get(node.name).ended().ifPresent(verdict -> proven(node, verdict));
      return;
    }
    var outcome =
        failing > 0 && random.nextInt(failing) == 0
            ? Outcome.RolledBack
            : random.nextInt(10) == 0 ? Outcome.Refused : Outcome.Succeeded;
    if (outcome == Outcome.Succeeded && failing > 0 && random.nextInt(3) > 0) {
      proofs.put(node.name, new RandomProof(random, now));
      proving.add(node.name);
      return;
    }
    end(node, outcome);
  }

  private void proven(TestNode node, ProofVerdict verdict) {
    proving.remove(node.name);
    proven++;
    end(node, verdict == ProofVerdict.Failed ? Outcome.RolledBack : Outcome.Succeeded);
  }

  private void end(TestNode node, Outcome outcome) {
    var attempt = node.attempt.orElseThrow();
    if (outcome == Outcome.Succeeded) {
      node.target(REACHED);
    }
    node.attempt(attempt.number(), attempt.hash(), outcome, now);
  }
}
