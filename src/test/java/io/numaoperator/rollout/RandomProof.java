package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.rollout.Proof.Held;
import io.numaoperator.rollout.Proof.Next;
import io.numaoperator.rollout.Proof.Noted;
import io.numaoperator.rollout.Proof.Seen;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * The proof of one attempt with a kubelet, an API server and people made up from a seed; each step
 * is carried out as the operator would, and sometimes twice, as after its death.
 */
final class RandomProof {
  private static final List<Ask> ASKS =
      List.of(
          new Ask("p-0", 6, Optional.of("nvidia.com/gpu")),
          new Ask("p-1", 6, Optional.of("nvidia.com/gpu")),
          new Ask("p-2", 6, Optional.empty()));

  private final Random random;
  private final Instant since;
  private final boolean misaligns;
  private final boolean stuck;
  private final Map<String, Seen> pods = new TreeMap<>();
  private final Map<String, Held> held = new HashMap<>();
  private Optional<Noted> noted = Optional.empty();
  private boolean disturbed;

  RandomProof(Random random, Instant since) {
    this.random = random;
    this.since = since;
    this.misaligns = random.nextInt(15) == 0;
    this.stuck = random.nextInt(15) == 0;
  }

  /** The verdict, once the pods are gone too: what the agent ends on. */
  Optional<ProofVerdict> ended() {
    return verdict().filter(verdict -> held.isEmpty());
  }

  boolean hasPods() {
    return !pods.isEmpty();
  }

  private Optional<ProofVerdict> verdict() {
    return noted.flatMap(Noted::verdict);
  }

  /** What the operator does at a pass. */
  void pass(boolean proving, Instant now) {
    var next = Proof.next(view(proving), now);
    carryOut(next, now);
    if (random.nextInt(5) == 0) {
      carryOut(next, now); // it died before it knew that it was done
    }
  }

  private Proof.View view(boolean proving) {
    return new Proof.View(
        proving,
        noted,
        () -> Optional.of(new ProofPlan.Pods(ASKS)),
        List.copyOf(pods.values()),
        held,
        disturbed ? List.of("train/llm") : List.of(),
        List.of(),
        Optional.empty(),
        random.nextInt(10) > 0,
        Optional.empty(),
        since);
  }

  private void carryOut(Next next, Instant now) {
    switch (next) {
      case Next.Nothing() -> {}
      case Next.Wait(var until) -> assertThat(until).isAfter(now);
      case Next.Note(var asks) -> {
        assertThat(noted.map(Noted::asks).orElse(asks)).as("one set").isEqualTo(asks);
        assertThat(pods).isEmpty();
        noted = Optional.of(new Noted(now, asks, Optional.empty()));
      }
      case Next.Make(var asks) -> {
        assertThat(noted.orElseThrow().asks()).containsAll(asks);
        asks.forEach(
            ask ->
                pods.putIfAbsent(
                    ask.name(), new Seen(ask.name(), Seen.Phase.Waiting, "", "", true, false)));
      }
      case Next.Judge(var verdict, var why) -> {
        if (verdict == ProofVerdict.Failed) {
          assertThat(misaligns && !disturbed).as(why).isTrue();
        }
        if (verdict == ProofVerdict.Passed) {
          assertThat(misaligns).as(why).isFalse();
          assertThat(held.values().stream().flatMap(h -> h.zones().stream()).distinct()).hasSize(3);
        }
        noted =
            Optional.of(
                new Noted(
                    noted.map(Noted::since).orElse(now),
                    noted.map(Noted::asks).orElse(List.of()),
                    Optional.of(verdict)));
      }
      case Next.Remove(var names) ->
          names.forEach(
              name ->
                  pods.computeIfPresent(
                      name,
                      (n, pod) -> new Seen(n, pod.phase(), pod.reason(), "", pod.asAsked(), true)));
    }
  }

  /** What happens by itself. */
  void live() {
    disturbed |= random.nextInt(200) == 0;
    for (var name : List.copyOf(pods.keySet())) {
      var pod = pods.get(name);
      if (pod.terminating() && random.nextInt(3) == 0) {
        pods.remove(name);
        held.remove(name);
      } else if (pod.phase() == Seen.Phase.Waiting && !stuck && random.nextInt(2) == 0) {
        admit(name);
      }
    }
  }

  private void admit(String name) {
    if (misaligns && random.nextBoolean()) {
      end(name, "TopologyAffinityError");
    } else if (misaligns) {
      run(name, new Held(name, false, true, Set.of(0, 1), "apart"));
    } else if (random.nextInt(20) == 0) {
      end(name, "OutOfcpu");
    } else {
      int zone = 0;
      while (taken(zone)) {
        zone++;
      }
      run(name, new Held(name, true, true, Set.of(zone), "zone " + zone));
    }
  }

  private boolean taken(int zone) {
    return held.values().stream().anyMatch(other -> other.zones().contains(zone));
  }

  private void run(String name, Held what) {
    pods.put(name, new Seen(name, Seen.Phase.Running, "", "", true, false));
    held.put(name, what);
  }

  private void end(String name, String reason) {
    pods.put(name, new Seen(name, Seen.Phase.Ended, reason, "", true, false));
  }
}
