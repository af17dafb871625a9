package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the kubelet's managers have left, from their state files: pure. PodResources leaves out
 * regular init containers, but the managers keep what these held beyond the app containers until
 * the pod ends; so what is free is read from where the kubelet itself reads it.
 *
 * @param sharedCpus {@code defaultCpuSet} of cpu_manager_state: CPUs that no container has for
 *     itself, reserved ones included; empty where the file is absent or unreadable
 * @param freeMemory by zone and type, in bytes, {@code machineState} of memory_manager_state
 */
record ManagerState(Optional<CpuSet> sharedCpus, Map<Integer, Map<String, Long>> freeMemory) {
  static final ManagerState UNKNOWN = new ManagerState(Optional.empty(), Map.of());

  static ManagerState of(Optional<byte[]> cpuFile, Optional<byte[]> memoryFile) {
    return new ManagerState(
        cpuFile.flatMap(ManagerState::json).flatMap(ManagerState::shared),
        memoryFile.flatMap(ManagerState::json).map(ManagerState::free).orElse(Map.of()));
  }

  private static Optional<CpuSet> shared(JsonNode state) {
    var set = state.path("defaultCpuSet");
    return set.isTextual() ? CpuSet.tryParse(set.asText()) : Optional.empty();
  }

  private static Map<Integer, Map<String, Long>> free(JsonNode state) {
    var free = new TreeMap<Integer, Map<String, Long>>();
    for (var zone : state.path("machineState").properties()) {
      var types = new TreeMap<String, Long>();
      for (var type : zone.getValue().path("memoryMap").properties()) {
        types.put(type.getKey(), type.getValue().path("free").asLong());
      }
      free.put(Integer.valueOf(zone.getKey()), types);
    }
    return free;
  }

  private static Optional<JsonNode> json(byte[] content) {
    try {
      return Optional.of(new ObjectMapper().readTree(content));
    } catch (IOException e) {
      return Optional.empty(); // the kubelet writes by rename, so this is not a torn file
    }
  }
}
