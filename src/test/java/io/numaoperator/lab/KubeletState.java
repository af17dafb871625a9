package io.numaoperator.lab;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.fit.DeviceFree;
import io.numaoperator.topology.fit.KubeletRules;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.ZoneFree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What is free on a node of the lab, from its kubelet's own state files. What they still hold for
 * pods that are no longer is counted as free: the kubelet drops it before it admits the next pod
 * (removeStaleState, UpdateAllocatedDevices).
 */
record KubeletState(
    Lab lab, String node, KubeletRules rules, Map<Integer, CpuSet> zones, CpuSet reserved) {
  private static final ObjectMapper JSON = new ObjectMapper();

  NodeFree free(Set<String> active, int devicesPerZone) {
    var cpus = freeCpus(active);
    var memory = memory(active);
    var free = new ArrayList<ZoneFree>();
    var devices = new ArrayList<DeviceFree>();
    var taken = takenDevices(active);
    zones.forEach(
        (id, all) -> {
          int here = all.intersect(cpus).size();
          free.add(
              new ZoneFree(
                  id,
                  all.size(),
                  all.minus(reserved).size(),
                  here,
                  here,
                  memory.get(id).amounts(),
                  memory.get(id).group(),
                  Map.of()));
          devices.add(
              new DeviceFree(
                  "nvidia.com/gpu",
                  Set.of(id),
                  devicesPerZone,
                  devicesPerZone - taken.getOrDefault(id, Set.of()).size()));
        });
    return new NodeFree(rules, free, devices);
  }

  private CpuSet freeCpus(Set<String> active) {
    var free = zones.values().stream().reduce(CpuSet.EMPTY, CpuSet::union).minus(reserved);
    for (var pod : read("cpu_manager_state").path("entries").properties()) {
      if (active.contains(pod.getKey())) {
        for (var container : pod.getValue().properties()) {
          free = free.minus(CpuSet.parse(container.getValue().asText()));
        }
      }
    }
    return free;
  }

  private record Memory(Map<String, ZoneFree.Memory> amounts, Set<Integer> group) {}

  private static final class Zone {
    int assignments;
    Set<Integer> cells = new HashSet<>();
    final Map<String, long[]> tables = new TreeMap<>();
  }

  private Map<Integer, Memory> memory(Set<String> active) {
    var state = read("memory_manager_state");
    var zonesById = new TreeMap<Integer, Zone>();
    for (var entry : state.path("machineState").properties()) {
      var zone = new Zone();
      zone.assignments = entry.getValue().path("numberOfAssignments").asInt();
      entry.getValue().path("cells").forEach(cell -> zone.cells.add(cell.asInt()));
      for (var table : entry.getValue().path("memoryMap").properties()) {
        zone.tables.put(
            table.getKey(),
            new long[] {
              table.getValue().path("allocatable").asLong(),
              table.getValue().path("free").asLong(),
              table.getValue().path("reserved").asLong()
            });
      }
      zonesById.put(Integer.valueOf(entry.getKey()), zone);
    }
    for (var pod : state.path("entries").properties()) {
      if (!active.contains(pod.getKey())) {
        for (var container : pod.getValue().properties()) {
          container.getValue().forEach(block -> release(zonesById, block));
        }
      }
    }
    var memory = new HashMap<Integer, Memory>();
    zonesById.forEach(
        (id, zone) -> {
          var amounts = new TreeMap<String, ZoneFree.Memory>();
          zone.tables.forEach(
              (type, table) -> amounts.put(type, new ZoneFree.Memory(table[0], table[1])));
          memory.put(id, new Memory(amounts, zone.assignments > 0 ? zone.cells : Set.of()));
        });
    return memory;
  }

  /** memorymanager/policy_static.go, releaseMemory. */
  private static void release(Map<Integer, Zone> zones, JsonNode block) {
    long left = block.path("size").asLong();
    for (var id : block.path("numaAffinity")) {
      var zone = zones.get(id.asInt());
      zone.assignments--;
      var table = zone.tables.get(block.path("type").asText());
      long here = Math.min(left, table[2]);
      table[1] += here;
      table[2] -= here;
      left -= here;
    }
  }

  /** By id: an app container's entry names devices that its init container's does too. */
  private Map<Integer, Set<String>> takenDevices(Set<String> active) {
    var taken = new HashMap<Integer, Set<String>>();
    for (var entry :
        read("device-plugins/kubelet_internal_checkpoint").at("/Data/PodDeviceEntries")) {
      if (active.contains(entry.path("PodUID").asText())) {
        for (var zone : entry.path("DeviceIDs").properties()) {
          var ids = taken.computeIfAbsent(Integer.valueOf(zone.getKey()), z -> new HashSet<>());
          zone.getValue().forEach(id -> ids.add(id.asText()));
        }
      }
    }
    return taken;
  }

  /** When the last of them was written. */
  Instant written() {
    return Stream.of(
            "cpu_manager_state",
            "memory_manager_state",
            "device-plugins/kubelet_internal_checkpoint")
        .map(
            file -> {
              try {
                return Files.getLastModifiedTime(lab.kubeletFile(node, file)).toInstant();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            })
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  private JsonNode read(String file) {
    try {
      return JSON.readTree(Files.readString(lab.kubeletFile(node, file)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Zones and reserved CPUs of a node: the first core of each zone. */
  static KubeletState of(Lab lab, String node, KubeletRules rules) {
    var zones = new TreeMap<Integer, CpuSet>();
    var reserved = CpuSet.EMPTY;
    var online = CpuSet.parse(lab.exec(node, "cat", "/sys/devices/system/node/online").strip());
    for (int id : online.stream().toArray()) {
      var cpus =
          CpuSet.parse(
              lab.exec(node, "cat", "/sys/devices/system/node/node" + id + "/cpulist").strip());
      zones.put(id, cpus);
      reserved =
          reserved.union(
              CpuSet.parse(
                  lab.exec(
                          node,
                          "cat",
                          "/sys/devices/system/cpu/cpu"
                              + cpus.lowest()
                              + "/topology/thread_siblings_list")
                      .strip()));
    }
    return new KubeletState(lab, node, rules, zones, reserved);
  }

  /** A drop-in with static managers, which reserves the least that a kubelet takes. */
  String dropIn(String policy, String scope) {
    // the sum of reservedMemory is systemReserved plus evictionHard, to the byte
    long each = (300L << 20) / zones.size();
    var reservedMemory = new ArrayList<String>();
    zones
        .keySet()
        .forEach(
            id ->
                reservedMemory.add("{numaNode: %d, limits: {memory: \"%d\"}}".formatted(id, each)));
    return """
        apiVersion: kubelet.config.k8s.io/v1beta1
        kind: KubeletConfiguration
        cpuManagerPolicy: static
        reservedSystemCPUs: "%s"
        memoryManagerPolicy: Static
        systemReserved: {memory: 200Mi}
        evictionHard: {memory.available: 100Mi}
        reservedMemory: [%s]
        topologyManagerPolicy: %s
        topologyManagerScope: %s
        """
        .formatted(reserved.format(), String.join(", ", reservedMemory), policy, scope);
  }

  List<Integer> ids() {
    return List.copyOf(zones.keySet());
  }
}
