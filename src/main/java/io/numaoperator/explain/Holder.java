package io.numaoperator.explain;

import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * A running container that holds CPUs, memory or devices of its own, as its node's agent last
 * reported (every 5 s).
 *
 * @param pod namespace/name
 * @param placement how it lies on the machine
 * @param held what it holds, by resource and zones
 */
public record Holder(String pod, String container, Placement placement, List<Held> held) {
  public Holder {
    held = List.copyOf(held);
  }

  /**
   * What it has of one resource on the same zones.
   *
   * @param resource "cpu", "memory" (hugepages included) or an extended resource
   * @param amount CPUs, bytes or devices
   * @param zones where it is; empty where that is not known
   */
  public record Held(String resource, long amount, Set<Integer> zones) {
    public Held {
      zones = Collections.unmodifiableSet(new TreeSet<>(zones));
    }

    private String text() {
      return Numbers.amount(resource, amount)
          + (zones.isEmpty() ? "" : " on " + Numbers.zones(zones));
    }
  }

  static Holder of(PlacedContainer container, Inventory inventory) {
    var held = new ArrayList<Held>();
    for (var devices : container.devices) {
      held.add(new Held(devices.resource, devices.count, Set.copyOf(devices.zones)));
    }
    var cpus = CpuSet.parse(Objects.requireNonNullElse(container.cpus, ""));
    for (var zone : inventory.zones) {
      int here = cpus.intersect(CpuSet.parse(Objects.requireNonNullElse(zone.cpus, ""))).size();
      if (here > 0) {
        held.add(new Held("cpu", here, Set.of(zone.id)));
      }
    }
    if (container.memory != null && container.memory > 0) {
      held.add(new Held("memory", container.memory, Set.copyOf(container.memoryZones)));
    }
    return new Holder(
        container.pod,
        container.container,
        Objects.requireNonNullElse(container.placement, Placement.NotPinned),
        held);
  }

  /** How much of a resource it holds, over all zones. */
  public long amountOf(String resource) {
    return held.stream().filter(h -> h.resource().equals(resource)).mapToLong(Held::amount).sum();
  }

  /** For example "train/llm-3 holds 2 nvidia.com/gpu on zone 0, 8 CPUs on zone 0". */
  public String sentence() {
    return pod + " holds " + Numbers.listed(held.stream().map(Held::text).toList());
  }

  /** The same of these resources only. */
  String sentence(Set<String> resources) {
    return new Holder(
            pod,
            container,
            placement,
            held.stream().filter(h -> resources.contains(h.resource())).toList())
        .sentence();
  }
}
