package io.numaoperator.topology;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One NUMA node.
 *
 * @param id the kernel's id; ids need not be contiguous
 * @param cpus its online CPUs; empty for a zone of memory only (HBM, CXL)
 * @param cores its physical cores, each as its online hardware threads; lowest first
 * @param sockets the physical packages its CPUs are on
 * @param memory its memory in bytes, hugepages included
 * @param hugepages its hugepages in bytes, over all sizes
 * @param distances distance to each zone, in the order of the zones
 * @param devices how many devices the kubelet can hand out from here, by resource name
 */
public record Zone(
    int id,
    CpuSet cpus,
    List<CpuSet> cores,
    Set<Integer> sockets,
    long memory,
    long hugepages,
    List<Integer> distances,
    Map<String, Integer> devices) {

  /**
   * @throws IllegalArgumentException if the cores do not add up to the CPUs: whoever reserves whole
   *     cores would miss hardware threads
   */
  public Zone {
    cores =
        cores.stream()
            .filter(core -> !core.isEmpty())
            .sorted(Comparator.comparingInt(CpuSet::lowest))
            .toList();
    sockets = Collections.unmodifiableSet(new TreeSet<>(sockets));
    distances = List.copyOf(distances);
    devices = Collections.unmodifiableMap(new TreeMap<>(devices));
    var threads = cores.stream().reduce(CpuSet.EMPTY, CpuSet::union);
    if (!threads.equals(cpus) || threads.size() != cores.stream().mapToInt(CpuSet::size).sum()) {
      throw new IllegalArgumentException(
          "zone %d: its cores %s do not add up to its CPUs %s".formatted(id, cores, cpus));
    }
  }

  public boolean hasCpus() {
    return !cpus.isEmpty();
  }

  /**
   * Bytes that are not hugepages. The Memory Manager takes hugepages out of a zone's memory before
   * it reserves from it (cm/memorymanager/policy_static.go, getDefaultMachineState).
   */
  public long plainMemory() {
    return Math.max(0, memory - hugepages);
  }
}
