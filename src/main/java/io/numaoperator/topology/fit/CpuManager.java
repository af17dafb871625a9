package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/**
 * The static CPU Manager, with counts for sets (cpumanager/policy_static.go).
 *
 * <p>The kubelet takes from the free CPUs and those of the pod's init containers as one set, in its
 * own order. With whole cores what an init container had is taken first; after an odd number of
 * threads that need not be so, and the caller asks for both answers.
 */
final class CpuManager implements HintProvider {
  private final KubeletRules rules;
  private final boolean reuseFirst;
  private final Map<Integer, Zone> zones = new TreeMap<>();
  private int freeCoreCpus;

  private static final class Zone {
    final int id;
    final int total;
    int free;
    int least;
    int reusable;

    Zone(ZoneFree zone) {
      id = zone.id();
      total = zone.cpus();
      free = zone.freeCpus();
      least = free;
    }

    int pool() {
      return free + reusable;
    }
  }

  CpuManager(NodeFree node, boolean reuseFirst) {
    this.rules = node.rules();
    this.reuseFirst = reuseFirst;
    for (var zone : node.zones()) {
      if (zone.cpus() > 0) {
        zones.put(zone.id(), new Zone(zone));
        freeCoreCpus += zone.freeCoreCpus();
      }
    }
  }

  @Override
  public Claim claim(PodRequest pod) {
    return claim(pod.exclusiveCpus());
  }

  @Override
  public Claim claim(PodRequest pod, ContainerRequest container) {
    return claim(pod.exclusiveCpus(container));
  }

  private Claim claim(int cpus) {
    boolean wanted = rules.staticCpus() && cpus > 0;
    return new Claim() {
      @Override
      public List<List<Hint>> hints() {
        return wanted ? List.of(CpuManager.this.hints(cpus)) : List.of();
      }

      @Override
      public List<Need> needs() {
        return wanted ? List.of(need(cpus)) : List.of();
      }
    };
  }

  /** generateCPUTopologyHints: reserved CPUs count for "could ever serve", not for "serves". */
  private List<Hint> hints(int cpus) {
    long reusable =
        Masks.of(zones.values().stream().filter(z -> z.reusable > 0).map(z -> z.id).toList());
    return Hint.of(
        Masks.of(zones.keySet()),
        rules.narrow(),
        mask -> sum(mask, z -> z.total) >= cpus,
        mask -> Masks.within(reusable, mask) && sum(mask, Zone::pool) >= cpus);
  }

  private Need need(int cpus) {
    var free = new TreeMap<Integer, Long>();
    zones.values().forEach(zone -> free.put(zone.id, (long) zone.pool()));
    var elsewhere = new TreeMap<Integer, String>();
    for (var holder : zones.values()) {
      if (holder.reusable > 0) {
        zones.keySet().stream()
            .filter(id -> id != holder.id)
            .forEach(
                id -> elsewhere.put(id, "the pod's init container has CPUs on zone " + holder.id));
      }
    }
    int fewest =
        Masks.subsets(Masks.of(zones.keySet()))
            .filter(mask -> sum(mask, z -> z.total) >= cpus)
            .mapToInt(Long::bitCount)
            .min()
            .orElse(zones.size());
    return new Need("cpu", cpus, free, fewest, elsewhere);
  }

  private int sum(long mask, ToIntFunction<Zone> count) {
    int sum = 0;
    for (var zone : zones.values()) {
      if (Masks.has(mask, zone.id)) {
        sum += count.applyAsInt(zone);
      }
    }
    return sum;
  }

  @Override
  public Optional<String> allocate(PodRequest pod, ContainerRequest container, Affinity affinity) {
    int cpus = rules.staticCpus() ? pod.exclusiveCpus(container) : 0;
    if (cpus == 0) {
      return Optional.empty();
    }
    if (rules.fullCoresOnly()) {
      var refusal = smtAlignment(cpus);
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    long all = Masks.of(zones.keySet());
    if (sum(all, Zone::pool) < cpus) {
      return Optional.of(
          "the node has %d of %d CPUs free for exclusive use"
              .formatted(sum(all, Zone::pool), cpus));
    }
    long aligned = affinity.mask().orElse(0L) & all;
    int here = Math.min(cpus, sum(aligned, Zone::pool));
    take(container, aligned, here);
    take(container, all & ~aligned, cpus - here);
    return Optional.empty();
  }

  /** enforceSMTAlignment: what an init container had does not count as available here. */
  private Optional<String> smtAlignment(int cpus) {
    if (cpus % rules.threadsPerCore() != 0) {
      return Optional.of(
          "%d CPUs are not whole cores of %d threads (full-pcpus-only)"
              .formatted(cpus, rules.threadsPerCore()));
    }
    return cpus > freeCoreCpus
        ? Optional.of(
            "the node has %d of %d CPUs free on whole cores (full-pcpus-only)"
                .formatted(freeCoreCpus, cpus))
        : Optional.empty();
  }

  /**
   * Whole free zones first, then from the zone with the fewest free CPUs on (cpu_assignment.go,
   * takeByTopologyNUMAPacked).
   */
  private void take(ContainerRequest container, long mask, int cpus) {
    var from =
        new ArrayList<>(
            zones.values().stream().filter(z -> Masks.has(mask, z.id) && z.pool() > 0).toList());
    boolean certain = from.size() == 1 || sum(mask, Zone::pool) == cpus;
    from.sort(Comparator.<Zone>comparingInt(Zone::pool).thenComparingInt(z -> z.id));
    int left = cpus;
    var taken = new TreeMap<Integer, Integer>();
    for (var zone : from) {
      if (zone.pool() == zone.total && zone.total <= left) {
        taken.put(zone.id, zone.total);
        left -= zone.total;
      }
    }
    for (var zone : from) {
      int here = Math.min(left, zone.pool() - taken.getOrDefault(zone.id, 0));
      taken.merge(zone.id, here, Integer::sum);
      left -= here;
    }
    for (var zone : from) {
      give(container, zone, taken.get(zone.id), certain ? taken.get(zone.id) : cpus);
    }
  }

  private void give(ContainerRequest container, Zone zone, int count, int atMost) {
    int reused =
        reuseFirst || count == zone.reusable
            ? Math.min(count, zone.reusable)
            : Math.max(0, count - zone.free);
    int fresh = count - reused;
    zone.free -= fresh;
    zone.least = Math.max(0, zone.least - (atMost == count ? fresh : Math.max(fresh, atMost)));
    zone.reusable += container.kind() == Kind.Init ? fresh : -reused;
    freeCoreCpus = Math.max(0, freeCoreCpus - fresh);
  }

  /** What a zone has left, at the least. */
  int left(int zone) {
    return zones.containsKey(zone) ? zones.get(zone).least : 0;
  }

  /** Of what the whole node has left, what is on cores without a reserved thread. */
  int leftOnFreeCores(ZoneFree before) {
    return Math.max(0, before.freeCoreCpus() - (before.freeCpus() - left(before.id())));
  }
}
