package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.KubeletRules.Policy;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Merges the hint providers' lists into one affinity, or refuses. The kubelet walks over every
 * combination of hints (topologymanager/policy.go); here the same result comes from sets, because
 * its order of preference is total: a combination is preferred if and only if all its hints are and
 * name the same zones, and any preferred one wins over all others.
 */
final class TopologyPolicy {
  private final Policy policy;
  private final long allZones;
  private final Comparator<Long> best;

  TopologyPolicy(NodeFree node) {
    this.policy = node.rules().policy();
    this.allZones = Masks.of(node.zones().stream().map(ZoneFree::id).toList());
    this.best =
        node.rules().preferClosest() && policy != Policy.SingleNumaNode
            ? closest(node.zones())
            : Masks.NARROWEST;
  }

  /**
   * The zones to take.
   *
   * @param lists one for each resource that a provider has an opinion on; an empty list says that
   *     no set of zones serves it
   * @return empty when the pod is refused
   */
  Optional<Affinity> merge(List<List<Hint>> lists) {
    return switch (policy) {
      case None -> Optional.of(Affinity.NONE);
      case SingleNumaNode -> single(lists);
      case Restricted -> preferred(lists).map(mask -> new Affinity(Optional.of(mask), true));
      case BestEffort ->
          Optional.of(
              preferred(lists)
                  .map(mask -> new Affinity(Optional.of(mask), true))
                  .orElseGet(() -> new Affinity(Optional.of(leastBad(lists)), false)));
    };
  }

  /** policy_single_numa_node.go: hints of one zone only; all zones together mean no opinion. */
  private Optional<Affinity> single(List<List<Hint>> lists) {
    var narrow =
        lists.stream()
            .map(list -> list.stream().filter(hint -> Long.bitCount(hint.mask()) == 1).toList())
            .toList();
    return preferred(narrow)
        .map(mask -> new Affinity(Optional.of(mask).filter(m -> m != allZones), true));
  }

  private Optional<Long> preferred(List<List<Hint>> lists) {
    if (lists.isEmpty()) {
      return Optional.of(allZones);
    }
    Set<Long> common = masks(lists.getFirst());
    for (var list : lists) {
      common.retainAll(masks(list));
    }
    return common.stream().min(best);
  }

  private static Set<Long> masks(List<Hint> hints) {
    return hints.stream()
        .filter(Hint::preferred)
        .map(Hint::mask)
        .collect(Collectors.toCollection(HashSet::new));
  }

  /**
   * The best of the combinations that are not preferred: as many zones as the most demanding
   * resource needs at least, else fewer but as close to that as can be, else more (policy.go,
   * HintMerger.compare).
   */
  private long leastBad(List<List<Hint>> lists) {
    Set<Long> reachable = Set.of(allZones);
    int enough = 0;
    for (var list : lists) {
      if (list.isEmpty()) {
        continue;
      }
      enough =
          Math.max(
              enough, list.stream().mapToInt(hint -> Long.bitCount(hint.mask())).min().orElse(0));
      var next = new HashSet<Long>();
      for (long mask : reachable) {
        list.forEach(hint -> next.add(mask & hint.mask()));
      }
      reachable = next;
    }
    int wanted = enough;
    Comparator<Long> rank =
        Comparator.comparingInt(
            mask -> {
              int zones = Long.bitCount(mask);
              return zones <= wanted ? wanted - zones : zones + Long.SIZE;
            });
    return reachable.stream()
        .filter(mask -> mask != 0)
        .min(rank.thenComparing(best))
        .orElse(allZones);
  }

  /** numa_info.go, Closest: for as many zones, the least average distance. */
  private static Comparator<Long> closest(List<ZoneFree> zones) {
    Map<Integer, Map<Integer, Integer>> distances = new TreeMap<>();
    zones.forEach(zone -> distances.put(zone.id(), zone.distances()));
    return Comparator.<Long>comparingInt(Long::bitCount)
        .thenComparingDouble(
            mask ->
                Masks.zones(mask).stream()
                    .flatMapToInt(
                        from ->
                            Masks.zones(mask).stream()
                                .mapToInt(to -> distances.get(from).getOrDefault(to, 0)))
                    .average()
                    .orElse(0))
        .thenComparing(Masks.NARROWEST);
  }
}
