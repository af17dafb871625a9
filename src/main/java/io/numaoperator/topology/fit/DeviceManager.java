package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * The Device Manager, with counts for devices (devicemanager/topology_hints.go, manager.go). It
 * aligns the devices of every QoS class.
 */
final class DeviceManager implements HintProvider {
  private final long allZones;
  private final boolean narrow;
  private final Map<String, List<Group>> resources = new TreeMap<>();
  private final List<Group> groups = new ArrayList<>();

  /** Devices of one resource on the same zones. */
  private static final class Group {
    final DeviceFree before;
    final long zones;
    long free;
    long least;
    long reusable;

    Group(DeviceFree device) {
      before = device;
      zones = Masks.of(device.zones());
      free = device.free();
      least = free;
    }

    boolean on(long mask) {
      return (zones & mask) != 0;
    }
  }

  /**
   * @param sharedFirst whether devices on several zones are taken before those on one; the kubelet
   *     takes them in no order
   */
  DeviceManager(NodeFree node, boolean sharedFirst) {
    var order = Comparator.<Group>comparingInt(group -> Long.bitCount(group.zones));
    narrow = node.rules().narrow();
    allZones = Masks.of(node.zones().stream().map(ZoneFree::id).toList());
    for (var device : node.devices()) {
      var group = new Group(device);
      groups.add(group);
      resources.computeIfAbsent(device.resource(), r -> new ArrayList<>()).add(group);
    }
    resources.values().forEach(list -> list.sort(sharedFirst ? order.reversed() : order));
  }

  @Override
  public Claim claim(PodRequest pod) {
    return claim(pod.devices());
  }

  @Override
  public Claim claim(PodRequest pod, ContainerRequest container) {
    return claim(container.devices());
  }

  private Claim claim(Map<String, Long> wanted) {
    var known = new TreeMap<>(wanted);
    known.keySet().removeIf(resource -> !hasTopology(resource));
    return new Claim() {
      @Override
      public List<List<Hint>> hints() {
        return known.entrySet().stream()
            .map(entry -> DeviceManager.this.hints(entry.getKey(), entry.getValue()))
            .toList();
      }

      @Override
      public List<Need> needs() {
        return known.entrySet().stream()
            .map(entry -> need(entry.getKey(), entry.getValue()))
            .toList();
      }
    };
  }

  /** deviceHasTopologyAlignment: one device on a zone is enough. */
  private boolean hasTopology(String resource) {
    return resources.getOrDefault(resource, List.of()).stream().anyMatch(group -> group.zones != 0);
  }

  private long sum(String resource, ToLongFunction<Group> count) {
    long sum = 0;
    for (var group : resources.get(resource)) {
      sum += count.applyAsLong(group);
    }
    return sum;
  }

  /** generateDeviceTopologyHints: over the zones that have such devices. */
  private List<Hint> hints(String resource, long wanted) {
    if (sum(resource, g -> g.free + g.reusable) < wanted) {
      return List.of();
    }
    return Hint.of(
        zonesOf(resource),
        narrow,
        mask -> sum(resource, g -> g.on(mask) ? g.before.total() : 0) >= wanted,
        mask ->
            resources.get(resource).stream()
                    .allMatch(g -> g.reusable == 0 || g.zones == 0 || g.on(mask))
                && sum(resource, g -> g.on(mask) ? g.free + g.reusable : 0) >= wanted);
  }

  private long zonesOf(String resource) {
    return resources.get(resource).stream().mapToLong(g -> g.zones).reduce(0, (a, b) -> a | b);
  }

  private Need need(String resource, long wanted) {
    var free = new TreeMap<Integer, Long>();
    var elsewhere = new TreeMap<Integer, String>();
    for (int zone : Masks.zones(allZones)) {
      long mask = 1L << zone;
      free.put(zone, sum(resource, g -> g.on(mask) ? g.free + g.reusable : 0));
      if (resources.get(resource).stream()
          .anyMatch(g -> g.reusable > 0 && g.zones != 0 && !g.on(mask))) {
        elsewhere.put(zone, "the pod's init container has " + resource + " on another zone");
      } else if (!Masks.within(mask, zonesOf(resource))) {
        elsewhere.put(zone, "it has no " + resource);
      }
    }
    int fewest =
        Masks.subsets(zonesOf(resource))
            .filter(mask -> sum(resource, g -> g.on(mask) ? g.before.total() : 0) >= wanted)
            .mapToInt(Long::bitCount)
            .min()
            .orElse(Long.bitCount(zonesOf(resource)));
    return new Need(resource, wanted, free, fewest, elsewhere);
  }

  @Override
  public Optional<String> allocate(PodRequest pod, ContainerRequest container, Affinity affinity) {
    for (var wanted : container.devices().entrySet()) {
      if (resources.containsKey(wanted.getKey())) {
        var refusal =
            allocate(
                wanted.getKey(), wanted.getValue(), affinity.mask(), container.kind() == Kind.Init);
        if (refusal.isPresent()) {
          return refusal;
        }
      }
    }
    return Optional.empty();
  }

  /** devicesToAllocate: what the init containers had, then the aligned ones, then any. */
  private Optional<String> allocate(
      String resource, long wanted, Optional<Long> mask, boolean init) {
    long needed = wanted;
    var added = new TreeMap<Integer, Long>();
    var all = resources.get(resource);
    for (var group : all) {
      long reused = Math.min(needed, group.reusable);
      needed -= reused;
      if (!init) {
        group.reusable -= reused;
      }
    }
    if (sum(resource, g -> g.free) < needed) {
      return Optional.of(
          "the node has %d of %d %s free".formatted(sum(resource, g -> g.free), needed, resource));
    }
    for (var rank : ranks(resource, mask)) {
      needed -= take(rank, needed, added);
    }
    if (init) {
      added.forEach((index, count) -> groups.get(index).reusable += count);
    }
    return Optional.empty();
  }

  /** filterByAffinity: without an affinity, or a topology to match it with, all are alike. */
  private List<List<Group>> ranks(String resource, Optional<Long> mask) {
    var all = resources.get(resource);
    if (mask.isEmpty() || !hasTopology(resource)) {
      return List.of(all);
    }
    long zones = mask.get();
    return List.of(
        all.stream().filter(g -> g.on(zones)).toList(),
        all.stream().filter(g -> !g.on(zones) && g.zones != 0).toList(),
        all.stream().filter(g -> g.zones == 0).toList());
  }

  private long take(List<Group> from, long wanted, Map<Integer, Long> added) {
    var some = from.stream().filter(group -> group.free > 0).toList();
    boolean certain = some.size() == 1 || some.stream().mapToLong(g -> g.free).sum() <= wanted;
    long left = wanted;
    for (var group : some) {
      long here = Math.min(left, group.free);
      group.free -= here;
      group.least = Math.max(0, group.least - (certain ? here : wanted));
      added.merge(groups.indexOf(group), here, Long::sum);
      left -= here;
    }
    return wanted - left;
  }

  /** What is left, at the least. */
  List<DeviceFree> left() {
    return groups.stream()
        .map(
            group ->
                new DeviceFree(
                    group.before.resource(),
                    group.before.zones(),
                    group.before.total(),
                    (int) group.least))
        .toList();
  }
}
