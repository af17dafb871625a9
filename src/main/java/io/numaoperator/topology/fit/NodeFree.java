package io.numaoperator.topology.fit;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A node's free resources by zone, and how its kubelet hands them out.
 *
 * @param zones by id
 * @param devices what its device plugins serve; a resource that no entry names is not the kubelet's
 */
public record NodeFree(KubeletRules rules, List<ZoneFree> zones, List<DeviceFree> devices) {

  /**
   * @throws IllegalArgumentException if a zone is there twice, or a device is on an unknown zone
   */
  public NodeFree {
    zones = zones.stream().sorted(Comparator.comparingInt(ZoneFree::id)).toList();
    devices = List.copyOf(devices);
    var ids = new HashSet<Integer>();
    for (var zone : zones) {
      if (!ids.add(zone.id())) {
        throw new IllegalArgumentException("zone %d is there twice".formatted(zone.id()));
      }
    }
    for (var device : devices) {
      if (!ids.containsAll(device.zones())) {
        throw new IllegalArgumentException(
            "%s on zones %s, of %s".formatted(device.resource(), device.zones(), ids));
      }
    }
  }

  /** The same node with nobody on it: what does not fit here never will. */
  public NodeFree empty() {
    return new NodeFree(
        rules,
        zones.stream()
            .map(
                zone ->
                    new ZoneFree(
                        zone.id(),
                        zone.cpus(),
                        zone.allocatableCpus(),
                        zone.allocatableCpus(),
                        zone.allocatableCpus(),
                        released(zone.memory()),
                        Set.of(),
                        zone.distances()))
            .toList(),
        devices.stream()
            .map(d -> new DeviceFree(d.resource(), d.zones(), d.total(), d.total()))
            .toList());
  }

  /**
   * The same node after a pod that held all it asked for on this one zone is gone. Never more than
   * the zone has.
   */
  public NodeFree without(PodRequest pod, int zoneId) {
    int cpus = rules.staticCpus() ? pod.exclusiveCpus() : 0;
    var memory = rules.staticMemory() ? pod.pinnedMemory() : Map.<String, Long>of();
    var wanted = new HashMap<>(pod.devices());
    return new NodeFree(
        rules,
        zones.stream().map(zone -> zone.id() == zoneId ? plus(zone, cpus, memory) : zone).toList(),
        devices.stream().map(d -> d.zones().contains(zoneId) ? plus(d, wanted) : d).toList());
  }

  private static ZoneFree plus(ZoneFree zone, int cpus, Map<String, Long> memory) {
    var after = new HashMap<String, ZoneFree.Memory>();
    zone.memory()
        .forEach(
            (type, bytes) ->
                after.put(
                    type,
                    new ZoneFree.Memory(
                        bytes.allocatable(),
                        Math.min(
                            bytes.allocatable(), bytes.free() + memory.getOrDefault(type, 0L)))));
    boolean unused = after.values().stream().allMatch(m -> m.free() == m.allocatable());
    return new ZoneFree(
        zone.id(),
        zone.cpus(),
        zone.allocatableCpus(),
        Math.min(zone.allocatableCpus(), zone.freeCpus() + cpus),
        Math.min(zone.allocatableCpus(), zone.freeCoreCpus() + cpus),
        after,
        unused ? Set.of() : zone.memoryGroup(),
        zone.distances());
  }

  private static DeviceFree plus(DeviceFree device, Map<String, Long> wanted) {
    long back =
        Math.min(device.total() - device.free(), wanted.getOrDefault(device.resource(), 0L));
    wanted.merge(device.resource(), -back, Long::sum);
    return new DeviceFree(
        device.resource(), device.zones(), device.total(), (int) (device.free() + back));
  }

  /** Of two views of the same node, the lesser of each number. */
  NodeFree least(NodeFree other) {
    return new NodeFree(
        rules,
        IntStream.range(0, zones.size())
            .mapToObj(i -> least(zones.get(i), other.zones.get(i)))
            .toList(),
        IntStream.range(0, devices.size())
            .mapToObj(
                i ->
                    devices.get(i).free() <= other.devices.get(i).free()
                        ? devices.get(i)
                        : other.devices.get(i))
            .toList());
  }

  private static ZoneFree least(ZoneFree one, ZoneFree other) {
    var memory = new HashMap<>(one.memory());
    other
        .memory()
        .forEach((type, m) -> memory.merge(type, m, (a, b) -> a.free() <= b.free() ? a : b));
    return new ZoneFree(
        one.id(),
        one.cpus(),
        one.allocatableCpus(),
        Math.min(one.freeCpus(), other.freeCpus()),
        Math.min(one.freeCoreCpus(), other.freeCoreCpus()),
        memory,
        one.memoryGroup().isEmpty() ? other.memoryGroup() : one.memoryGroup(),
        one.distances());
  }

  private static Map<String, ZoneFree.Memory> released(Map<String, ZoneFree.Memory> memory) {
    var released = new HashMap<String, ZoneFree.Memory>();
    memory.forEach((type, bytes) -> released.put(type, bytes.released()));
    return released;
  }
}
