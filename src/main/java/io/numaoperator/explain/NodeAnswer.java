package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.explain.NodeFacts.Zones;
import io.numaoperator.topology.fit.Claimant;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;
import io.numaoperator.topology.fit.PodRequests;
import io.numaoperator.topology.fit.ZoneFree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What one node's kubelet would say to a pod if it came now. It is about NUMA alone: taints,
 * selectors and the node's sums are the scheduler's, and pods that are on their way to the node are
 * not counted.
 *
 * @param outcome what the kubelet would do
 * @param sentence why, in numbers: "needs 4 nvidia.com/gpu in one zone; zone 0 has 2 free, zone 1
 *     has 2 free; 4 free in all"
 * @param into the zones that it would be put into; empty unless it fits and is bound to zones
 * @param zones the numbers of each zone, for what decides; empty where nothing decides
 * @param holders who holds what is missing, the largest first; empty unless something is missing
 * @param remarks what else to know, a sentence each
 */
public record NodeAnswer(
    String node,
    Outcome outcome,
    String sentence,
    Set<Integer> into,
    List<ZoneNumbers> zones,
    List<Holder> holders,
    List<String> remarks) {
  private static final int HOLDERS_TOLD = 4;

  public NodeAnswer {
    into = Collections.unmodifiableSet(new TreeSet<>(into));
    zones = List.copyOf(zones);
    holders = List.copyOf(holders);
    remarks = List.copyOf(remarks);
  }

  /** What a kubelet would do. */
  public enum Outcome {
    /** It would admit the pod, with each of its requests in as few zones as they can be in. */
    Fits,
    /** It would admit the pod, across more zones than it needs (best-effort, or policy none). */
    FitsAcross,
    /** It would reject the pod now (TopologyAffinityError); it would not if others went. */
    NotNow,
    /** It would reject the pod even if it were empty. */
    Never,
    /** It gives the pod nothing of its own: it runs on any zone, and can always come. */
    NotAligned,
    /** The node's zones are not known. */
    Unknown
  }

  /**
   * One zone.
   *
   * @param amounts of each resource that decides
   * @param enough whether this zone alone would do
   */
  public record ZoneNumbers(int zone, List<Amount> amounts, boolean enough) {
    public ZoneNumbers {
      amounts = List.copyOf(amounts);
    }
  }

  /**
   * One resource of a zone: CPUs, bytes or devices.
   *
   * @param wanted what the pod (under scope container: the container that decides) asks for
   * @param free what nobody has
   * @param most what would be free if the node were empty
   */
  public record Amount(String resource, long wanted, long free, long most) {}

  /** Works it out. */
  public static NodeAnswer of(Pod pod, NodeFacts facts) {
    var remarks = new ArrayList<String>();
    if (!pod.getSpec().getResourceClaims().isEmpty()) {
      remarks.add(
          "unsupported: it has ResourceClaims (DRA), which the kubelet aligns with nothing; the"
              + " answer is about the rest");
    }
    return of(PodRequests.of(pod), facts, remarks);
  }

  /** The same for a pod whose requests were read before. */
  public static NodeAnswer of(PodRequest request, NodeFacts facts) {
    return of(request, facts, List.of());
  }

  private static NodeAnswer of(PodRequest request, NodeFacts facts, List<String> remarks) {
    return switch (facts.zones()) {
      case Zones.Unknown(var why) ->
          bare(facts, Outcome.Unknown, "its free resources by zone are not known: " + why, remarks);
      case Zones.Known(var free) ->
          switch (Fit.of(free, request)) {
            case Fit.NotAligned _ ->
                bare(
                    facts,
                    Outcome.NotAligned,
                    "its kubelet gives the pod nothing of its own (no device on a zone, no whole CPUs"
                        + " or memory of a Guaranteed pod), so that it runs on any zone",
                    remarks);
            case Fit.Fits fits -> fits(request, facts, free, fits, remarks);
            case Fit.DoesNotFit no -> doesNotFit(request, facts, free, no, remarks);
          };
    };
  }

  private static NodeAnswer bare(
      NodeFacts facts, Outcome outcome, String sentence, List<String> remarks) {
    return new NodeAnswer(facts.node(), outcome, sentence, Set.of(), List.of(), List.of(), remarks);
  }

  private static NodeAnswer fits(
      PodRequest request, NodeFacts facts, NodeFree free, Fit.Fits fits, List<String> remarks) {
    boolean together = fits.preferred();
    var into = free.zones().size() == 1 ? Set.of(free.zones().getFirst().id()) : fits.zones();
    var where = into.isEmpty() ? "without a choice of zones" : "on " + Numbers.zones(into);
    return new NodeAnswer(
        facts.node(),
        together ? Outcome.Fits : Outcome.FitsAcross,
        "would be admitted now, "
            + where
            + (together ? "" : ", not aligned: topologyManagerPolicy is " + free.rules().policy()),
        into,
        numbers(Claimant.of(free, request).getFirst(), free, request),
        List.of(),
        remarks);
  }

  private static NodeAnswer doesNotFit(
      PodRequest request, NodeFacts facts, NodeFree free, Fit.DoesNotFit no, List<String> remarks) {
    boolean never = Fit.of(free.empty(), request) instanceof Fit.DoesNotFit;
    var claimants = Claimant.of(never ? free.empty() : free, request);
    var shortage =
        Shortages.of(
            claimants,
            free.zones().stream().map(ZoneFree::id).toList(),
            free.rules().policy() == Policy.SingleNumaNode);
    var decides = shortage.map(Shortages.Shortage::claimant).orElseGet(claimants::getFirst);
    var lacking = shortage.map(Shortages.Shortage::resources).orElse(Set.of());
    var sentence =
        shortage
            .map(s -> never ? s.never() : s.now())
            .orElse(never ? "even when empty: " + no.message() : no.message());
    return new NodeAnswer(
        facts.node(),
        never ? Outcome.Never : Outcome.NotNow,
        sentence,
        Set.of(),
        numbers(decides, free, request),
        never ? List.of() : holders(facts, lacking),
        remarks);
  }

  private static List<ZoneNumbers> numbers(Claimant claimant, NodeFree free, PodRequest request) {
    var now = find(Claimant.of(free, request), claimant);
    var empty = find(Claimant.of(free.empty(), request), claimant);
    var zones = new ArrayList<ZoneNumbers>();
    for (var zone : free.zones()) {
      var amounts = new ArrayList<Amount>();
      for (int i = 0; i < now.needs().size(); i++) {
        var need = now.needs().get(i);
        amounts.add(
            new Amount(
                need.resource(),
                need.amount(),
                need.freeOn(zone.id()),
                empty.needs().get(i).freeOn(zone.id())));
      }
      zones.add(
          new ZoneNumbers(
              zone.id(), amounts, now.needs().stream().allMatch(n -> n.isServedBy(zone.id()))));
    }
    return zones;
  }

  private static Claimant find(List<Claimant> claimants, Claimant like) {
    return claimants.stream()
        .filter(c -> c.container().equals(like.container()))
        .findFirst()
        .orElseThrow();
  }

  private static List<Holder> holders(NodeFacts facts, Set<String> lacking) {
    return facts.holders().stream()
        .filter(h -> lacking.stream().anyMatch(r -> h.amountOf(r) > 0))
        .sorted(
            Comparator.<Holder>comparingLong(
                    h -> -lacking.stream().mapToLong(h::amountOf).max().orElse(0))
                .thenComparing(Holder::pod)
                .thenComparing(Holder::container))
        .toList();
  }

  /** Whether a pod could be put here now. */
  public boolean takesIt() {
    return switch (outcome) {
      case Fits, FitsAcross, NotAligned -> true;
      case NotNow, Never, Unknown -> false;
    };
  }

  /** The sentence, and who holds what is missing. */
  public String text() {
    if (holders.isEmpty()) {
      return sentence;
    }
    var lacking = new TreeSet<String>();
    for (var zone : zones) {
      zone.amounts().stream()
          .filter(a -> a.free() < a.wanted())
          .forEach(a -> lacking.add(a.resource()));
    }
    var told = holders.stream().limit(HOLDERS_TOLD).map(h -> h.sentence(lacking)).toList();
    int more = holders.size() - told.size();
    return sentence
        + "; "
        + String.join("; ", told)
        + (more > 0 ? "; and %d more".formatted(more) : "");
  }
}
