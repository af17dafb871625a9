package io.numaoperator.topology;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What a container holds, as the kubelet's PodResources tells it.
 *
 * @param cpus its exclusive CPUs; empty when it runs in the shared pool
 * @param memory for each of its memory and hugepage blocks the zones that the block is on
 * @param devices for each device, by an id that is unique over all resources, the zones that the
 *     device fits; empty for a device without topology. PodResources gives a device on several
 *     zones as several entries: they are one device here.
 */
public record Holding(CpuSet cpus, List<Set<Integer>> memory, Map<String, Set<Integer>> devices) {
  public Holding {
    memory = memory.stream().map(Holding::sorted).toList();
    devices = merged(Stream.of(devices));
  }

  /** What a pod holds: all that its containers hold. Under scope pod, alignment is of this. */
  public static Holding union(Collection<Holding> containers) {
    var memory = new ArrayList<Set<Integer>>();
    containers.forEach(container -> memory.addAll(container.memory()));
    return new Holding(
        containers.stream().map(Holding::cpus).reduce(CpuSet.EMPTY, CpuSet::union),
        memory,
        merged(containers.stream().map(Holding::devices)));
  }

  private static Map<String, Set<Integer>> merged(Stream<Map<String, Set<Integer>>> maps) {
    var merged = new TreeMap<String, Set<Integer>>();
    maps.flatMap(map -> map.entrySet().stream())
        .forEach(
            device ->
                merged.merge(
                    device.getKey(),
                    sorted(device.getValue()),
                    (one, other) -> {
                      var both = new TreeSet<>(one);
                      both.addAll(other);
                      return sorted(both);
                    }));
    return Collections.unmodifiableMap(merged);
  }

  private static Set<Integer> sorted(Set<Integer> zones) {
    return Collections.unmodifiableSet(new TreeSet<>(zones));
  }
}
