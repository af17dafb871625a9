package io.numaoperator.topology;

import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where a container (or, under scope pod, a pod) is, and what that means.
 *
 * @param verdict whether it is aligned
 * @param cpuZones the zones of its exclusive CPUs
 * @param memoryZones the zones of its memory blocks; empty when memory is not pinned
 * @param deviceZones every zone that one of its devices is on
 */
public record Placement(
    Verdict verdict, Set<Integer> cpuZones, Set<Integer> memoryZones, Set<Integer> deviceZones) {

  /** Whether it is aligned. */
  public enum Verdict {
    /** One zone has all exclusive CPUs, all memory, and fits every device. */
    Aligned,
    /** No zone does. */
    CrossNUMA,
    /** It has no exclusive CPUs: it may run anywhere. */
    NotPinned,
    /** It has CPUs that are on no known zone (the inventory is older than a hotplug). */
    Unknown
  }

  /**
   * Judges what PodResources says. Aligned if and only if there is one zone n with CPUs ⊆ {n},
   * memory ⊆ {n} and every device on n, where a device on several zones fits each of them and one
   * without topology fits all. Where one of its CPUs is on no zone that is known, so is the
   * verdict.
   */
  public static Placement of(Holding holding, Machine machine) {
    var cpuZones = new TreeSet<Integer>();
    var known = CpuSet.EMPTY;
    for (var zone : machine.zones()) {
      var here = zone.cpus().intersect(holding.cpus());
      if (!here.isEmpty()) {
        cpuZones.add(zone.id());
        known = known.union(here);
      }
    }
    var memoryZones = all(holding.memory());
    var deviceZones = all(holding.devices().values());
    boolean aligned =
        cpuZones.size() == 1
            && cpuZones.containsAll(memoryZones)
            && holding.devices().values().stream()
                .allMatch(zones -> zones.isEmpty() || zones.contains(cpuZones.first()));
    var verdict =
        holding.cpus().isEmpty()
            ? Verdict.NotPinned
            : !known.equals(holding.cpus())
                ? Verdict.Unknown
                : aligned ? Verdict.Aligned : Verdict.CrossNUMA;
    return new Placement(verdict, Collections.unmodifiableSet(cpuZones), memoryZones, deviceZones);
  }

  private static Set<Integer> all(Collection<Set<Integer>> sets) {
    var all = new TreeSet<Integer>();
    sets.forEach(all::addAll);
    return Collections.unmodifiableSet(all);
  }
}
