package io.numaoperator.explain;

import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
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

  /** Whether it has GPUs and exclusive CPUs, and they are not together. */
  public static boolean isMisalignedGpu(PlacedContainer container) {
    return container.placement == Placement.CrossNUMA
        && container.devices.stream().anyMatch(devices -> isGpu(devices.resource));
  }

  /** Whole GPUs (nvidia.com/gpu, amd.com/gpu) and slices of them (nvidia.com/mig-1g.5gb). */
  private static boolean isGpu(String resource) {
    return resource.endsWith("/gpu") || resource.contains("/gpu.") || resource.contains("/mig-");
  }

  /**
   * What an Event says of a pod.
   *
   * @param containers those of it that lie across
   */
  public static String message(String node, List<PlacedContainer> containers) {
    var each =
        containers.stream()
            .map(
                container -> "container %s: %s".formatted(container.container, sentence(container)))
            .toList();
    return "runs across NUMA nodes of %s and is slower for it: %s. A pod is aligned when it is admitted: make it again on a node with the label numaoperator.io/aligned=true"
        .formatted(node, String.join("; ", each));
  }

  private static String zones(List<Integer> zones) {
    return zones.isEmpty() ? "no known zone" : Numbers.zones(new TreeSet<>(zones));
  }
}
