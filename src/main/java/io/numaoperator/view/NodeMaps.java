package io.numaoperator.view;

import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.view.NodeMap.Holder;
import io.numaoperator.view.NodeMap.Zone;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Draws up a node's map from what its agent reported and its NodeResourceTopology. */
public final class NodeMaps {
  private NodeMaps() {}

  /**
   * @param state of the node
   * @param topology what is free there; without it, only what the listed containers hold is known
   */
  public static NodeMap of(NumaNodeState state, Optional<NodeResourceTopology> topology) {
    var status = Objects.requireNonNullElseGet(state.getStatus(), NumaNodeStateStatus::new);
    var placed = placed(status);
    var holders = placed.stream().map(NodeMaps::holder).toList();
    var amounts = topology.map(ZoneAmounts::byZone).orElse(Map.of());
    return new NodeMap(
        NodeLine.of(state),
        zones(status, placed, holders, amounts),
        holders,
        leftOut(status),
        unplaced(status),
        remarks(status, topology.isPresent()));
  }

  /** In the order of the map's holders. */
  private static List<PlacedContainer> placed(NumaNodeStateStatus status) {
    return status.containers == null
        ? List.of()
        : orEmpty(status.containers.placed).stream()
            .sorted(
                Comparator.comparing((PlacedContainer c) -> c.placement != Placement.CrossNUMA)
                    .thenComparing(c -> c.pod)
                    .thenComparing(c -> c.container))
            .toList();
  }

  private static Holder holder(PlacedContainer placed) {
    return new Holder(
        placed.pod,
        placed.container,
        Objects.requireNonNullElse(placed.placement, Placement.NotPinned),
        cpus(placed.cpus),
        orEmpty(placed.cpuZones),
        orEmpty(placed.memoryZones),
        orEmpty(placed.deviceZones),
        devices(orEmpty(placed.devices).stream(), d -> d.resource, d -> d.count));
  }

  private static List<Zone> zones(
      NumaNodeStateStatus status,
      List<PlacedContainer> placed,
      List<Holder> holders,
      Map<Integer, ZoneAmounts> amounts) {
    if (status.inventory == null || status.inventory.zones == null) {
      return List.of();
    }
    var cpus = new CpuMap(status, listIsWhole(status), holders);
    var devices = new DeviceMap(listIsWhole(status), placed, amounts);
    return status.inventory.zones.stream()
        .sorted(Comparator.comparing((ZoneFacts facts) -> facts.id))
        .map(
            facts -> {
              var free = amounts.getOrDefault(facts.id, ZoneAmounts.NONE);
              return new Zone(
                  facts.id,
                  cpus.of(cpus(facts.cpus), free.cpus()),
                  cores(facts),
                  devices.of(facts.id, devices(facts.devices)),
                  MemoryMap.of(status, facts, free),
                  orEmpty(facts.distances));
            })
        .toList();
  }

  private static List<CpuSet> cores(ZoneFacts facts) {
    return orEmpty(facts.cores).stream()
        .map(NodeMaps::cpus)
        .filter(core -> !core.isEmpty())
        .sorted(Comparator.comparingInt(CpuSet::lowest))
        .toList();
  }

  static int leftOut(NumaNodeStateStatus status) {
    return status.containers == null
        ? 0
        : Objects.requireNonNullElse(status.containers.placedLeftOut, 0);
  }

  /** Whether each container that holds something is listed. */
  private static boolean listIsWhole(NumaNodeStateStatus status) {
    return status.containers != null && leftOut(status) == 0;
  }

  private static Map<String, Integer> unplaced(NumaNodeStateStatus status) {
    return status.inventory == null ? Map.of() : devices(status.inventory.unplacedDevices);
  }

  private static List<String> remarks(NumaNodeStateStatus status, boolean hasTopology) {
    var remarks = new ArrayList<String>();
    if (status.inventory == null || orEmpty(status.inventory.zones).isEmpty()) {
      remarks.add("the node's agent has not reported its NUMA nodes yet");
      return remarks;
    }
    if (status.agentError != null) {
      remarks.add(
          "the agent could not see all of it just now, what is drawn may be from before: "
              + status.agentError);
    }
    if (status.containers == null) {
      remarks.add("the agent has not reported yet what containers hold");
    }
    if (!hasTopology) {
      remarks.add(
          "there is no NodeResourceTopology for this node: what is free of memory is unknown");
    } else if (status.topology != null && !orEmpty(status.topology.differences).isEmpty()) {
      remarks.add(
          "its NodeResourceTopology differs from the kubelet: "
              + String.join("; ", status.topology.differences));
    }
    if (leftOut(status) > 0) {
      remarks.add(
          leftOut(status)
              + " more containers hold something than are listed: whose some CPUs and devices are"
              + " is unknown");
    }
    return remarks;
  }

  /** Unreadable is empty: an agent writes what the kernel says, and a map is no place to fail. */
  static CpuSet cpus(String list) {
    return CpuSet.tryParse(Objects.requireNonNullElse(list, "")).orElse(CpuSet.EMPTY);
  }

  private static Map<String, Integer> devices(List<DeviceCount> devices) {
    return devices(orEmpty(devices).stream(), d -> d.resource, d -> d.count);
  }

  private static <T> Map<String, Integer> devices(
      Stream<T> devices, Function<T, String> resource, Function<T, Integer> count) {
    return Collections.unmodifiableMap(
        devices.collect(Collectors.toMap(resource, count, Integer::sum, TreeMap::new)));
  }

  static <T> List<T> orEmpty(List<T> list) {
    return list == null ? List.of() : List.copyOf(list);
  }
}
