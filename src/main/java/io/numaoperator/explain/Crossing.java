package io.numaoperator.explain;

import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/** How a running container lies on its machine, in words. */
public final class Crossing {
  private Crossing() {}

  /**
   * For example "CPUs 0-3 on zone 0, memory on zone 0, 2 nvidia.com/gpu on zone 1". What is not
   * pinned, or has no zone, is left out.
   */
  public static String sentence(PlacedContainer container) {
    var parts = new ArrayList<String>();
    var cpus = Objects.requireNonNullElse(container.cpus, "");
    if (!cpus.isEmpty()) {
      parts.add("CPUs %s on %s".formatted(cpus, zones(container.cpuZones)));
    }
    if (!container.memoryZones.isEmpty()) {
      parts.add("memory on " + zones(container.memoryZones));
    }
    for (var devices : container.devices) {
      if (!devices.zones.isEmpty()) {
        parts.add(
            "%s on %s"
                .formatted(Numbers.amount(devices.resource, devices.count), zones(devices.zones)));
      }
    }
    return Numbers.listed(parts);
  }

  private static String zones(List<Integer> zones) {
    return zones.isEmpty() ? "no known zone" : Numbers.zones(new TreeSet<>(zones));
  }
}
