package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the kubelet's managers have left, from their state files: pure. PodResources leaves out
 * regular init containers, but the managers keep what these held beyond the app containers until
 * the pod ends; so what is free is read from where the kubelet itself reads it.
 *
 * @param sharedCpus CPUs that no container of a living pod has for itself, reserved ones included;
 *     empty where cpu_manager_state is absent or unreadable
 * @param freeMemory by zone and type, in bytes; empty where memory_manager_state is
 * @param heldDevices of living pods, as {@code resource/id}
 */
record ManagerState(
    Optional<CpuSet> sharedCpus,
    Map<Integer, Map<String, Long>> freeMemory,
    Set<String> heldDevices) {
  static final ManagerState UNKNOWN = new ManagerState(Optional.empty(), Map.of(), Set.of());

  /** The device manager's file, below the kubelet's root directory. */
  static final String DEVICE_CHECKPOINT = "device-plugins/kubelet_internal_checkpoint";

  /**
   * @param cpuFile cpu_manager_state
   * @param memoryFile memory_manager_state
   * @param deviceFile kubelet_internal_checkpoint
   */
  static ManagerState of(
      Optional<byte[]> cpuFile,
      Optional<byte[]> memoryFile,
      Optional<byte[]> deviceFile,
      LivingPods living) {
    return new ManagerState(
        cpuFile.flatMap(ManagerState::json).flatMap(state -> shared(state, living)),
        memoryFile.flatMap(ManagerState::json).map(state -> free(state, living)).orElse(Map.of()),
        deviceFile
            .flatMap(ManagerState::json)
            .map(state -> devices(state, living))
            .orElse(Set.of()));
  }

  private static Optional<CpuSet> shared(JsonNode state, LivingPods living) {
    var set = state.path("defaultCpuSet");
    if (!set.isTextual()) {
      return Optional.empty();
    }
    return CpuSet.tryParse(set.asText())
        .map(
            shared ->
                state.path("entries").properties().stream()
                    .filter(pod -> !living.contains(pod.getKey()))
                    .flatMap(pod -> pod.getValue().valueStream())
                    .flatMap(cpus -> CpuSet.tryParse(cpus.asText()).stream())
                    .reduce(shared, CpuSet::union));
  }

  private static Map<Integer, Map<String, Long>> free(JsonNode state, LivingPods living) {
    var free = new TreeMap<Integer, Map<String, Long>>();
    var reserved = new TreeMap<Integer, Map<String, Long>>();
    for (var zone : state.path("machineState").properties()) {
      var id = Integer.valueOf(zone.getKey());
      for (var type : zone.getValue().path("memoryMap").properties()) {
        amounts(free, id).put(type.getKey(), type.getValue().path("free").asLong());
        amounts(reserved, id).put(type.getKey(), type.getValue().path("reserved").asLong());
      }
    }
    state.path("entries").properties().stream()
        .filter(pod -> !living.contains(pod.getKey()))
        .flatMap(pod -> pod.getValue().valueStream())
        .flatMap(JsonNode::valueStream)
        .forEach(block -> release(block, free, reserved));
    return free;
  }

  /** memorymanager/policy_static.go, releaseMemory. */
  private static void release(
      JsonNode block,
      Map<Integer, Map<String, Long>> free,
      Map<Integer, Map<String, Long>> reserved) {
    var type = block.path("type").asText();
    long left = block.path("size").asLong();
    for (var zone : block.path("numaAffinity")) {
      long here = Math.min(left, amounts(reserved, zone.asInt()).getOrDefault(type, 0L));
      amounts(reserved, zone.asInt()).merge(type, -here, Long::sum);
      amounts(free, zone.asInt()).merge(type, here, Long::sum);
      left -= here;
    }
  }

  private static Map<String, Long> amounts(Map<Integer, Map<String, Long>> zones, int id) {
    return zones.computeIfAbsent(id, zone -> new TreeMap<>());
  }

  private static Set<String> devices(JsonNode checkpoint, LivingPods living) {
    return checkpoint
        .path("Data")
        .path("PodDeviceEntries")
        .valueStream()
        .filter(entry -> living.contains(entry.path("PodUID").asText()))
        .flatMap(
            entry ->
                entry
                    .path("DeviceIDs")
                    .valueStream()
                    .flatMap(JsonNode::valueStream)
                    .map(id -> entry.path("ResourceName").asText() + "/" + id.asText()))
        .collect(Collectors.toSet());
  }

  private static Optional<JsonNode> json(byte[] content) {
    try {
      return Optional.of(new ObjectMapper().readTree(content));
    } catch (IOException e) {
      return Optional.empty(); // the kubelet writes by rename, so this is not a torn file
    }
  }
}
