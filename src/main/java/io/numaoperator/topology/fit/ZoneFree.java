package io.numaoperator.topology.fit;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a zone has, and what of it no pod holds.
 *
 * @param id the kernel's id, at most 63: the kubelet's bit masks end there
 * @param cpus online CPUs, reserved ones included; 0 for a zone of memory only
 * @param allocatableCpus CPUs that can be given exclusively: online less reserved
 * @param freeCpus those of them that no container has exclusively
 * @param freeCoreCpus those of the free ones that share no core with a reserved CPU; matters only
 *     with full-pcpus-only
 * @param memory by resource name: "memory" and "hugepages-2Mi", "hugepages-1Gi"…
 * @param memoryGroup the zones that memory on this zone was given together with, itself included;
 *     empty when no container has memory here. The Memory Manager never mixes groups.
 * @param distances from this zone to each zone, by id; empty where not known
 */
public record ZoneFree(
    int id,
    int cpus,
    int allocatableCpus,
    int freeCpus,
    int freeCoreCpus,
    Map<String, Memory> memory,
    Set<Integer> memoryGroup,
    Map<Integer, Integer> distances) {

  /**
   * @throws IllegalArgumentException if the id is beyond the kubelet's masks or a count is negative
   */
  public ZoneFree {
    if (id < 0 || id > 63) {
      throw new IllegalArgumentException("zone %d: ids go from 0 to 63".formatted(id));
    }
    if (cpus < 0 || allocatableCpus < 0 || freeCpus < 0 || freeCoreCpus < 0) {
      throw new IllegalArgumentException("zone %d: a negative count of CPUs".formatted(id));
    }
    memory = Collections.unmodifiableMap(new TreeMap<>(memory));
    memoryGroup = Collections.unmodifiableSet(new TreeSet<>(memoryGroup));
    distances = Map.copyOf(distances);
  }

  /**
   * Memory of one kind on a zone.
   *
   * @param allocatable bytes that the Memory Manager may hand out
   * @param free bytes of it that nobody has
   */
  public record Memory(long allocatable, long free) {
    /** As if nobody had any. */
    public Memory released() {
      return new Memory(allocatable, allocatable);
    }
  }
}
