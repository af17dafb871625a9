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
import io.numaoperator.topology.Placement.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Pure: turns what PodResources says into counts of devices and placements of containers. */
final class ContainerAudit {
  private static final int LONGEST_LIST = 64;
  private static final int MOST_DEVICES = 16;
  private static final Pattern UUID =
      Pattern.compile("^GPU-\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

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

  /**
   * Judges all containers. Proof pods are told, and nobody's workload: theirs are in no number and
   * no list but their own.
   *
   * @param proofPods namespace/name
   */
  static Containers containers(
      List<Container> containers, Machine machine, boolean scopePod, Set<String> proofPods) {
    var parts =
        containers.stream()
            .collect(Collectors.partitioningBy(c -> proofPods.contains(c.podName())));
    var result = containers(parts.get(false), machine, scopePod);
    var proofs = containers(parts.get(true), machine, scopePod).placed;
    result.proofs = proofs.isEmpty() ? null : proofs;
    return result;
  }

  /**
   * Judges all containers and lists those that hold something.
   *
   * @param scopePod whether the kubelet aligns whole pods: then each container is as its pod is
   */
  static Containers containers(List<Container> containers, Machine machine, boolean scopePod) {
    var pods = new LinkedHashMap<String, List<Container>>();
    for (var container : containers) {
      pods.computeIfAbsent(container.podName(), p -> new ArrayList<>()).add(container);
    }
    var result = new Containers();
    var placed = new ArrayList<PlacedContainer>();
    pods.values().forEach(pod -> pod(pod, machine, scopePod, result, placed));
    placed.sort(
        Comparator.<PlacedContainer, Boolean>comparing(c -> c.placement != Placement.CrossNUMA)
            .thenComparing(c -> c.pod)
            .thenComparing(c -> c.container));
    result.placed = placed.subList(0, Math.min(placed.size(), LONGEST_LIST));
    int leftOut = placed.size() - result.placed.size();
    result.placedLeftOut = leftOut == 0 ? null : leftOut;
    return result;
  }

  private static void pod(
      List<Container> pod,
      Machine machine,
      boolean scopePod,
      Containers result,
      List<PlacedContainer> placed) {
    boolean claims = pod.stream().anyMatch(Container::claims);
    var whole = whole(pod, machine);
    for (var container : pod) {
      boolean holds = container.holdsExclusive() || container.claims();
      var own = io.numaoperator.topology.Placement.of(holding(container), machine);
      var verdict =
          claims && holds
              ? Placement.Unsupported
              : Placement.valueOf((scopePod ? worse(own.verdict(), whole) : own.verdict()).name());
      switch (verdict) {
        case Aligned -> result.aligned++;
        case CrossNUMA -> result.crossNuma++;
        case NotPinned -> result.notPinned++;
        case Unknown -> result.unknown = oneMore(result.unknown);
        case Unsupported -> result.unsupported = oneMore(result.unsupported);
      }
      if (holds) {
        placed.add(placed(container, own, verdict));
      }
    }
  }

  private static Verdict whole(List<Container> pod, Machine machine) {
    return io.numaoperator.topology.Placement.of(
            Holding.union(pod.stream().map(ContainerAudit::holding).toList()), machine)
        .verdict();
  }

  /** A container without CPUs of its own is not pinned, whatever its pod is. */
  private static Verdict worse(Verdict own, Verdict pod) {
    return own == Verdict.Aligned ? pod : own;
  }

  private static int oneMore(Integer count) {
    return count == null ? 1 : count + 1;
  }

  private static PlacedContainer placed(
      Container container, io.numaoperator.topology.Placement placement, Placement verdict) {
    var placed = new PlacedContainer();
    placed.pod = container.podName();
    placed.container = container.name();
    placed.placement = verdict;
    placed.cpus = container.cpus().format();
    placed.cpuZones = List.copyOf(placement.cpuZones());
    placed.memoryZones = List.copyOf(placement.memoryZones());
    placed.deviceZones = List.copyOf(placement.deviceZones());
    placed.memory =
        container.memory().isEmpty()
            ? null
            : container.memory().stream().mapToLong(PodResources.Memory::bytes).sum();
    placed.devices = devices(container.devices());
    placed.gpus = gpus(container);
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

  /** A share's id is that of its GPU with a number behind it (GPU-…-3, GPU-…::3). */
  private static List<String> gpus(Container container) {
    return container.devices().stream()
        .filter(device -> device.resource().equals("nvidia.com/gpu"))
        .map(device -> UUID.matcher(device.id()))
        .flatMap(id -> id.find() ? Stream.of(id.group()) : Stream.empty())
        .distinct()
        .sorted()
        .limit(MOST_DEVICES)
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
