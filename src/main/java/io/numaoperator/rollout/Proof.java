package io.numaoperator.rollout;

import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The proof of one changed node, decided from what is there: nothing is remembered between two
 * calls. It goes: note which pods → make them → judge → remove them; the agent waits for the
 * verdict, and rolls back on its own when that is Failed.
 *
 * <p>Failed needs evidence against the kubelet: its own refusal, or where it put a pod, with nobody
 * else's pod in the way. All else that keeps pods from being tried is NotProven.
 */
public final class Proof {
  /** How long pods may take; the kubelet hands out CPUs and devices before it pulls an image. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  /** When a pod that could not be made is tried again. */
  public static final Duration RETRY = Duration.ofSeconds(5);

  /**
   * What a rejected pod has as its reason when the kubelet's managers cannot serve it
   * (lifecycle/predicate.go, topologymanager, cpumanager). With other reasons (OutOfcpu,
   * NodeAffinity, ...) these were not asked.
   */
  private static final Set<String> REFUSALS =
      Set.of("TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError");

  private Proof() {}

  /**
   * What is asked of one pod.
   *
   * @param cpus exclusive CPUs
   * @param device the extended resource that it asks for one of
   */
  public record Ask(String name, int cpus, Optional<String> device) {
    String described() {
      return "proof pod %s (%d CPUs%s)"
          .formatted(name, cpus, device.map(resource -> ", 1 " + resource).orElse(""));
    }

    private boolean isLike(Ask other) {
      return cpus == other.cpus && device.equals(other.device);
    }
  }

  /**
   * A proof that was noted.
   *
   * @param since when it was
   * @param verdict how it ended
   */
  public record Noted(Instant since, List<Ask> asks, Optional<ProofVerdict> verdict) {
    public Noted {
      asks = List.copyOf(asks);
    }
  }

  /**
   * A proof pod as the API server has it.
   *
   * @param asAsked its requests are what was asked for; an admission webhook may change a pod
   * @param terminating it is being removed
   */
  public record Seen(
      String name,
      Phase phase,
      String reason,
      String message,
      boolean asAsked,
      boolean terminating) {
    /** How far it is. */
    public enum Phase {
      Waiting,
      Running,
      Ended
    }
  }

  /**
   * A proof pod that holds something, by PodResources.
   *
   * @param aligned all that it holds is on one zone
   * @param whole it holds CPUs, and memory and a device where it is to
   * @param zones the zones of its CPUs
   * @param described what is where
   */
  public record Held(
      String name, boolean aligned, boolean whole, Set<Integer> zones, String described) {}

  /**
   * What is known of a node's proof.
   *
   * @param proving its agent waits for the verdict
   * @param noted empty before pods were noted
   * @param plan which pods there should be; empty while the settings of the running kubelet are not
   *     known
   * @param pods all proof pods on the node, those of former attempts too
   * @param others pods of others that hold CPUs or devices there; the plan leaves them what they
   *     have, and what fails beside them may be their doing
   * @param arriving those that may, which its agent has not told of yet
   * @param refused why a pod could not be made
   * @param agentAlive its agent answers, and sees all of the node
   * @param withdrawn why no proof is wanted any more
   * @param provingSince when its agent began to wait
   */
  public record View(
      boolean proving,
      Optional<Noted> noted,
      Supplier<Optional<ProofPlan>> plan,
      List<Seen> pods,
      Map<String, Held> held,
      List<String> others,
      List<String> arriving,
      Optional<String> refused,
      boolean agentAlive,
      Optional<String> withdrawn,
      Instant provingSince) {
    public View {
      pods = List.copyOf(pods);
      held = Map.copyOf(held);
      others = List.copyOf(others);
      arriving = List.copyOf(arriving);
    }

    /** Nobody else can have taken what a proof pod was to get. */
    private boolean isAlone() {
      return others.isEmpty() && arriving.isEmpty();
    }
  }

  /** What is done next; each may be done again. */
  public sealed interface Next {
    /** Nothing, until something changes. */
    record Nothing() implements Next {}

    /** Nothing; time alone may change that. */
    record Wait(Instant until) implements Next {}

    /** Note these pods, before any is made. */
    record Note(List<Ask> asks) implements Next {}

    /** Make these. */
    record Make(List<Ask> asks) implements Next {}

    /** Write the verdict down, for the agent. */
    record Judge(ProofVerdict verdict, String message) implements Next {}

    /** Remove these pods. */
    record Remove(List<String> pods) implements Next {}
  }

  /** The next step. */
  public static Next next(View view, Instant now) {
    if (!view.proving() || view.noted().flatMap(Noted::verdict).isPresent()) {
      return remove(view.pods());
    }
    return view.noted().isPresent() ? judged(view, view.noted().get(), now) : begun(view, now);
  }

  private static Next remove(List<Seen> pods) {
    var there = pods.stream().filter(pod -> !pod.terminating()).map(Seen::name).toList();
    return there.isEmpty() ? new Next.Nothing() : new Next.Remove(there);
  }

  private static Next begun(View view, Instant now) {
    if (view.withdrawn().isPresent()) {
      return new Next.Judge(ProofVerdict.NotNeeded, view.withdrawn().get());
    }
    if (!view.pods().isEmpty()) {
      return remove(view.pods()); // of a former attempt: they would take what these need
    }
    return switch (view.plan().get().orElse(null)) {
      case null ->
          waiting(
              view.provingSince().plus(PATIENCE),
              now,
              () -> notProven("the running kubelet has not said what it is set to"));
      case ProofPlan.NotNeeded(var why) -> new Next.Judge(ProofVerdict.NotNeeded, why);
      case ProofPlan.Impossible(var why) -> notProven(why);
      case ProofPlan.Pods(var asks) -> new Next.Note(asks);
    };
  }

  private static Next judged(View view, Noted noted, Instant now) {
    var pods = view.pods().stream().collect(Collectors.toMap(Seen::name, Function.identity()));
    return failure(view, noted, pods)
        .map(why -> view.isAlone() ? failed(why) : notProven(inTheWay(view) + "; " + why))
        .or(() -> passed(view, noted))
        .or(() -> view.withdrawn().map(Proof::notProven))
        .or(() -> obstacle(noted, pods))
        .orElseGet(() -> going(view, noted, pods, now));
  }

  /** What speaks against the kubelet. */
  private static Optional<String> failure(View view, Noted noted, Map<String, Seen> pods) {
    var taken = new HashSet<Integer>();
    for (var ask : noted.asks()) {
      var pod = pods.get(ask.name());
      if (pod != null && !pod.asAsked()) {
        continue;
      }
      if (pod != null && pod.phase() == Seen.Phase.Ended && REFUSALS.contains(pod.reason())) {
        return Optional.of(
            "the kubelet refused %s: %s: %s"
                .formatted(ask.described(), pod.reason(), pod.message()));
      }
      var held = view.held().get(ask.name());
      if (held == null || !held.whole()) {
        continue;
      }
      if (!held.aligned()) {
        return Optional.of("%s is not aligned: %s".formatted(ask.described(), held.described()));
      }
      if (!taken.addAll(held.zones())) {
        return Optional.of(
            "%s is where only one such pod has room: %s"
                .formatted(ask.described(), held.described()));
      }
    }
    return Optional.empty();
  }

  private static Optional<Next> passed(View view, Noted noted) {
    var there = new ArrayList<Held>();
    for (var ask : noted.asks()) {
      Optional.ofNullable(view.held().get(ask.name())).filter(Held::whole).ifPresent(there::add);
    }
    return there.size() == noted.asks().size()
        ? Optional.of(
            new Next.Judge(
                ProofVerdict.Passed,
                there.stream().map(Held::described).sorted().collect(Collectors.joining("; "))))
        : Optional.empty();
  }

  /** What keeps a pod from being tried, and is not the kubelet's alignment. */
  private static Optional<Next> obstacle(Noted noted, Map<String, Seen> pods) {
    for (var ask : noted.asks()) {
      var pod = pods.get(ask.name());
      if (pod != null && !pod.asAsked()) {
        return Optional.of(
            notProven(
                ask.described()
                    + " was changed when it was made, by an admission webhook or policy"));
      }
      if (pod != null && pod.phase() == Seen.Phase.Ended) {
        return Optional.of(
            notProven("%s ended: %s: %s".formatted(ask.described(), pod.reason(), pod.message())));
      }
    }
    return Optional.empty();
  }

  private static Next going(View view, Noted noted, Map<String, Seen> pods, Instant now) {
    var until = noted.since().plus(PATIENCE);
    if (!now.isBefore(until)) {
      return late(view, noted, pods);
    }
    var first = noted.asks().stream().filter(ask -> !isPlaced(view, ask)).findFirst().orElseThrow();
    var missing =
        noted.asks().stream()
            .filter(ask -> ask.isLike(first))
            .filter(ask -> !isPlaced(view, ask) && !pods.containsKey(ask.name()))
            .toList();
    return missing.isEmpty() ? new Next.Wait(until) : new Next.Make(missing);
  }

  private static boolean isPlaced(View view, Ask ask) {
    return Optional.ofNullable(view.held().get(ask.name())).filter(Held::whole).isPresent();
  }

  /** A pod that runs was admitted: what it does not hold by now it was not given. */
  private static Next late(View view, Noted noted, Map<String, Seen> pods) {
    for (var ask : noted.asks()) {
      var pod = pods.get(ask.name());
      if (isPlaced(view, ask)) {
        continue;
      }
      if (pod == null) {
        return notProven(
            ask.described()
                + " could not be made"
                + view.refused().map(why -> ": " + why).orElse(""));
      }
      if (pod.phase() == Seen.Phase.Running && view.agentAlive() && view.isAlone()) {
        return failed(
            ask.described()
                + " runs without what it asked for: by PodResources it holds "
                + Optional.ofNullable(view.held().get(ask.name()))
                    .map(Held::described)
                    .orElse("nothing"));
      }
      return notProven(
          "%s was neither admitted nor refused in %d minutes"
              .formatted(ask.described(), PATIENCE.toMinutes()));
    }
    return notProven("not all pods were seen"); // cannot be: some pod is not placed
  }

  private static Next waiting(Instant until, Instant now, Supplier<Next> late) {
    return now.isBefore(until) ? new Next.Wait(until) : late.get();
  }

  private static String inTheWay(View view) {
    return "other pods hold CPUs or devices, or may: "
        + Stream.concat(view.others().stream(), view.arriving().stream())
            .distinct()
            .collect(Collectors.joining(", "));
  }

  private static Next failed(String why) {
    return new Next.Judge(ProofVerdict.Failed, why);
  }

  private static Next notProven(String why) {
    return new Next.Judge(ProofVerdict.NotProven, why);
  }
}
