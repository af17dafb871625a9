package io.numaoperator.topology;

import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A machine's NUMA topology.
 *
 * @param zones by id; the list format of the API ends at 64
 * @param zoneCount how many the machine has, those beyond the list included
 * @param offlineCpus CPUs that the kernel has switched off
 * @param memoryTotal MemTotal in bytes: what the kubelet calls the node's memory capacity
 */
public record Machine(List<Zone> zones, int zoneCount, CpuSet offlineCpus, long memoryTotal) {

  /**
   * @throws IllegalArgumentException if two zones share an id or a CPU
   */
  public Machine {
    zones = zones.stream().sorted(Comparator.comparingInt(Zone::id)).toList();
    zoneCount = Math.max(zoneCount, zones.size());
    var ids = new HashSet<Integer>();
    var seen = CpuSet.EMPTY;
    for (var zone : zones) {
      if (!ids.add(zone.id())) {
        throw new IllegalArgumentException("zone %d is there twice".formatted(zone.id()));
      }
      var shared = seen.intersect(zone.cpus());
      if (!shared.isEmpty()) {
        throw new IllegalArgumentException("CPUs %s are in two zones".formatted(shared));
      }
      seen = seen.union(zone.cpus());
    }
  }

  /**
   * Reads what a node's agent reported.
   *
   * @throws IllegalArgumentException if something needed is missing or contradicts itself; the
   *     message says what
   */
  public static Machine of(Inventory inventory) {
    if (inventory.zones == null || inventory.zones.isEmpty()) {
      throw new IllegalArgumentException("no zones");
    }
    return new Machine(
        inventory.zones.stream().map(Machine::zone).toList(),
        Objects.requireNonNullElse(inventory.zoneCount, 0),
        CpuSet.parse(Objects.requireNonNullElse(inventory.offlineCpus, "")),
        positive(inventory.memoryTotal, "memoryTotal"));
  }

  private static Zone zone(ZoneFacts facts) {
    if (facts.id == null || facts.id < 0) {
      throw new IllegalArgumentException("a zone without an id");
    }
    return new Zone(
        facts.id,
        CpuSet.parse(Objects.requireNonNullElse(facts.cpus, "")),
        orEmpty(facts.cores).stream().map(CpuSet::parse).toList(),
        Set.copyOf(orEmpty(facts.sockets)),
        positive(facts.memory, "memory of zone " + facts.id),
        Objects.requireNonNullElse(facts.hugepages, 0L),
        orEmpty(facts.distances),
        devices(orEmpty(facts.devices)));
  }

  private static Map<String, Integer> devices(List<DeviceCount> devices) {
    return devices.stream().collect(Collectors.toMap(d -> d.resource, d -> d.count, Integer::sum));
  }

  private static <T> List<T> orEmpty(List<T> list) {
    return list == null ? List.of() : list;
  }

  private static long positive(Long value, String what) {
    if (value == null || value < 0) {
      throw new IllegalArgumentException(what + " is not known");
    }
    return value;
  }

  /** All online CPUs. */
  public CpuSet cpus() {
    return zones.stream().map(Zone::cpus).reduce(CpuSet.EMPTY, CpuSet::union);
  }

  /** The zones that have CPUs, by id: memory is reserved and cores are kept on these only. */
  public List<Zone> zonesWithCpus() {
    return zones.stream().filter(Zone::hasCpus).toList();
  }

  /** The zone that a CPU belongs to; empty for a CPU that is not online here. */
  public Optional<Zone> zoneOf(int cpu) {
    return zones.stream().filter(zone -> zone.cpus().contains(cpu)).findFirst();
  }

  /** All online hardware threads of the cores that these CPUs are on. */
  public CpuSet withSiblings(CpuSet cpus) {
    return zones.stream()
        .flatMap(zone -> zone.cores().stream())
        .filter(core -> !core.intersect(cpus).isEmpty())
        .reduce(CpuSet.EMPTY, CpuSet::union);
  }

  /** The physical packages of the machine. */
  public Set<Integer> sockets() {
    return zones.stream()
        .flatMap(zone -> zone.sockets().stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
