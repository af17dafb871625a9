package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** The Static Memory Manager (memorymanager/policy_static.go). */
final class MemoryManager implements HintProvider {
  private static final ZoneFree.Memory ABSENT = new ZoneFree.Memory(0, 0);

  private final KubeletRules rules;
  private final Map<Integer, Zone> zones = new TreeMap<>();
  private final long allZones;

  /** initContainersReusableMemory: what init containers had on a set of zones, by kind. */
  private final Map<Long, Map<String, Long>> reusable = new HashMap<>();

  private static final class Zone {
    final Map<String, ZoneFree.Memory> memory;

    /** The kubelet's Cells where it has assignments; 0 where it has none. */
    long group;

    Zone(ZoneFree zone) {
      memory = new TreeMap<>(zone.memory());
      group = Masks.of(zone.memoryGroup());
    }

    ZoneFree.Memory of(String type) {
      return memory.getOrDefault(type, ABSENT);
    }
  }

  MemoryManager(NodeFree node) {
    this.rules = node.rules();
    node.zones().forEach(zone -> zones.put(zone.id(), new Zone(zone)));
    this.allZones = Masks.of(zones.keySet());
  }

  @Override
  public Claim claim(PodRequest pod) {
    return claim(pod.pinnedMemory());
  }

  @Override
  public Claim claim(PodRequest pod, ContainerRequest container) {
    return claim(pod.pinnedMemory(container));
  }

  private Claim claim(Map<String, Long> wanted) {
    boolean relevant = rules.staticMemory() && !wanted.isEmpty();
    return new Claim() {
      @Override
      public List<List<Hint>> hints() {
        return relevant ? opinion(wanted) : List.of();
      }

      @Override
      public List<Need> needs() {
        return relevant
            ? wanted.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(entry -> need(entry.getKey(), entry.getValue()))
                .toList()
            : List.of();
      }
    };
  }

  /**
   * All kinds of memory share their hints. No hint at all is no opinion, and allocate will refuse;
   * hints of several zones only are one, with which single-numa-node refuses.
   */
  private List<List<Hint>> opinion(Map<String, Long> wanted) {
    var hints = hints(wanted, rules.narrow());
    if (hints.isEmpty() && rules.narrow()) {
      hints = hints(wanted, false);
    }
    return hints.isEmpty() ? List.of() : List.of(hints);
  }

  /** calculateHints. */
  private List<Hint> hints(Map<String, Long> wanted, boolean narrow) {
    return Hint.of(
        allZones,
        narrow,
        mask -> serves(mask, wanted, ZoneFree.Memory::allocatable, Map.of()),
        mask ->
            !mixes(mask)
                && serves(mask, wanted, ZoneFree.Memory::allocatable, Map.of())
                && serves(
                    mask, wanted, ZoneFree.Memory::free, reusable.getOrDefault(mask, Map.of())));
  }

  private boolean serves(
      long mask,
      Map<String, Long> wanted,
      ToLongFunction<ZoneFree.Memory> amount,
      Map<String, Long> more) {
    for (var entry : wanted.entrySet()) {
      long there = sum(mask, entry.getKey(), amount) + more.getOrDefault(entry.getKey(), 0L);
      if (there < entry.getValue()) {
        return false;
      }
    }
    return true;
  }

  private long sum(long mask, String type, ToLongFunction<ZoneFree.Memory> amount) {
    long sum = 0;
    for (var entry : zones.entrySet()) {
      if (Masks.has(mask, entry.getKey())) {
        sum += amount.applyAsLong(entry.getValue().of(type));
      }
    }
    return sum;
  }

  /** A zone serves either single allocations, or those of one group of zones. */
  private boolean mixes(long mask) {
    boolean single = Long.bitCount(mask) == 1;
    for (var entry : zones.entrySet()) {
      long group = entry.getValue().group;
      if (Masks.has(mask, entry.getKey())
          && (single ? Long.bitCount(group) > 1 : group != 0 && group != mask)) {
        return true;
      }
    }
    return false;
  }

  private Need need(String type, long wanted) {
    var free = new TreeMap<Integer, Long>();
    var elsewhere = new TreeMap<Integer, String>();
    zones.forEach(
        (id, zone) -> {
          free.put(
              id,
              zone.of(type).free()
                  + reusable.getOrDefault(1L << id, Map.of()).getOrDefault(type, 0L));
          if (Long.bitCount(zone.group) > 1) {
            elsewhere.put(id, "its memory is given together with zones " + Masks.zones(zone.group));
          }
        });
    int fewest =
        Masks.subsets(allZones)
            .filter(mask -> sum(mask, type, ZoneFree.Memory::allocatable) >= wanted)
            .mapToInt(Long::bitCount)
            .min()
            .orElse(zones.size());
    return new Need(type, wanted, free, fewest, elsewhere);
  }

  @Override
  public Optional<String> allocate(PodRequest pod, ContainerRequest container, Affinity affinity) {
    var wanted = rules.staticMemory() ? pod.pinnedMemory(container) : Map.<String, Long>of();
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    var chosen = choose(wanted, affinity);
    if (chosen.isEmpty()) {
      return Optional.of("no zones have its memory free");
    }
    long mask = chosen.get();
    if (violatesGroups(mask)) {
      return Optional.of(
          "memory on zones %s is given in other groups of zones".formatted(Masks.zones(mask)));
    }
    wanted.forEach((type, size) -> give(container, mask, type, size));
    return Optional.empty();
  }

  /** Allocate: the affinity where it suffices, else one that contains it. */
  private Optional<Long> choose(Map<String, Long> wanted, Affinity affinity) {
    var start = affinity.mask().map(m -> new Hint(m, affinity.preferred()));
    if (start.isEmpty()) {
      start =
          best(hints(wanted, false), 0).filter(hint -> hint.preferred() || !affinity.preferred());
    }
    if (start.isEmpty() || serves(start.get().mask(), wanted, ZoneFree.Memory::free, Map.of())) {
      return start.map(Hint::mask);
    }
    var hint = start.get();
    return best(hints(wanted, false), hint.mask())
        .filter(extended -> extended.preferred() || !hint.preferred())
        .map(Hint::mask);
  }

  /** findBestHint. */
  private static Optional<Hint> best(List<Hint> hints, long containing) {
    return hints.stream()
        .filter(hint -> Masks.within(containing, hint.mask()))
        .min(
            Comparator.comparing((Hint hint) -> !hint.preferred())
                .thenComparing(Hint::mask, Masks.NARROWEST));
  }

  /** isAffinityViolatingNUMAAllocations: a single zone always passes. */
  private boolean violatesGroups(long mask) {
    return Long.bitCount(mask) > 1 && mixes(mask);
  }

  private void give(ContainerRequest container, long mask, String type, long size) {
    var reused = reusable.computeIfAbsent(mask, m -> new HashMap<>());
    long had = reused.getOrDefault(type, 0L);
    long left = Math.max(0, size - had);
    for (int id : Masks.zones(mask)) {
      var zone = zones.get(id);
      zone.group = mask;
      var memory = zone.of(type);
      long here = Math.min(left, memory.free());
      zone.memory.put(type, new ZoneFree.Memory(memory.allocatable(), memory.free() - here));
      left -= here;
    }
    // updatePodReusableMemory
    reused.put(type, container.kind() == Kind.Init ? Math.max(had, size) : Math.max(0, had - size));
  }

  Map<String, ZoneFree.Memory> left(int zone) {
    return zones.get(zone).memory;
  }

  /** The zones that share their memory with this one. */
  Set<Integer> group(int zone) {
    return Masks.zones(zones.get(zone).group);
  }
}
