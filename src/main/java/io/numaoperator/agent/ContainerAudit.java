package io.numaoperator.agent;

import io.numaoperator.agent.PodResources.Allocatable;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.PlacedDevices;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.topology.Holding;
import io.numaoperator.topology.Machine;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Pure: turns what PodResources says into counts of devices and placements of containers. */
final class ContainerAudit {
  private static final int LONGEST_LIST = 64;
  private static final int MOST_DEVICES = 16;

  private ContainerAudit() {}

  /** Fills in what the kubelet can hand out, zone by zone. */
  static void devices(Inventory inventory, Allocatable allocatable) {
    var devices = allocatable.devices();
    for (var zone : inventory.zones) {
      zone.devices = counts(devices, device -> device.zones().contains(zone.id), LONGEST_LIST);
    }
    inventory.unplacedDevices = counts(devices, device -> device.zones().isEmpty(), LONGEST_LIST);
    inventory.gpuCount =
        (int) devices.stream().filter(device -> device.resource().endsWith("/gpu")).count();
  }

  private static List<DeviceCount> counts(
      List<Device> devices, Predicate<Device> counted, int limit) {
    var counts = new TreeMap<String, Integer>();
    for (var device : devices) {
      if (counted.test(device)) {
        counts.merge(device.resource(), 1, Integer::sum);
      }
    }
    var list = new ArrayList<DeviceCount>();
    for (var count : counts.entrySet()) {
      if (list.size() < limit) {
        list.add(new DeviceCount(count.getKey(), count.getValue()));
      }
    }
    return list;
  }

  /** Judges all containers and lists those that hold something. */
  static Containers containers(List<Container> containers, Machine machine) {
    var result = new Containers();
    var placed = new ArrayList<PlacedContainer>();
    for (var container : containers) {
      var placement = io.numaoperator.topology.Placement.of(holding(container), machine);
      switch (placement.verdict()) {
        case Aligned -> result.aligned++;
        case CrossNUMA -> result.crossNuma++;
        case NotPinned -> result.notPinned++;
      }
      if (container.holdsExclusive()) {
        placed.add(placed(container, placement));
      }
    }
    placed.sort(
        Comparator.<PlacedContainer, Boolean>comparing(c -> c.placement != Placement.CrossNUMA)
            .thenComparing(c -> c.pod)
            .thenComparing(c -> c.container));
    result.placed = placed.subList(0, Math.min(placed.size(), LONGEST_LIST));
    int leftOut = placed.size() - result.placed.size();
    result.placedLeftOut = leftOut == 0 ? null : leftOut;
    return result;
  }

  private static PlacedContainer placed(
      Container container, io.numaoperator.topology.Placement placement) {
    var placed = new PlacedContainer();
    placed.pod = container.namespace() + "/" + container.pod();
    placed.container = container.name();
    placed.placement = Placement.valueOf(placement.verdict().name());
    placed.cpus = container.cpus().format();
    placed.cpuZones = List.copyOf(placement.cpuZones());
    placed.memoryZones = List.copyOf(placement.memoryZones());
    placed.deviceZones = List.copyOf(placement.deviceZones());
    placed.memory =
        container.memory().isEmpty()
            ? null
            : container.memory().stream().mapToLong(PodResources.Memory::bytes).sum();
    placed.devices = devices(container.devices());
    return placed;
  }

  private static List<PlacedDevices> devices(List<Device> devices) {
    record Key(String resource, List<Integer> zones) {}
    var counts = new LinkedHashMap<Key, Integer>();
    devices.stream()
        .map(d -> new Key(d.resource(), d.zones().stream().sorted().toList()))
        .sorted(Comparator.comparing(Key::resource).thenComparing(key -> key.zones().toString()))
        .forEach(key -> counts.merge(key, 1, Integer::sum));
    return counts.entrySet().stream()
        .limit(MOST_DEVICES)
        .map(
            entry -> {
              var same = new PlacedDevices();
              same.resource = entry.getKey().resource();
              same.zones = entry.getKey().zones();
              same.count = entry.getValue();
              return same;
            })
        .toList();
  }

  /** In the words of the alignment rule. */
  static Holding holding(Container container) {
    Map<String, Set<Integer>> devices = new TreeMap<>();
    for (var device : container.devices()) {
      devices.put(device.resource() + "/" + device.id(), device.zones());
    }
    var memory = container.memory().stream().map(PodResources.Memory::zones).toList();
    return new Holding(container.cpus(), memory, devices);
  }
}
