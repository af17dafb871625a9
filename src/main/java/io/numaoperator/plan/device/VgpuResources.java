package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.Node;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What pods ask HAMi for beside the GPU. It is in the allocatable of HAMi's nodes only with its
 * mockDevicePlugin, which is off by default.
 */
public final class VgpuResources {
  private static final String GPU = "nvidia.com/gpu";
  private static final Set<String> PARTS = Set.of("nvidia.com/gpumem", "nvidia.com/gpucores");

  private VgpuResources() {}

  /** Whether all of the nodes that have GPUs, at least one, have them allocatable. */
  public static boolean areAllocatable(Collection<Node> nodes) {
    var resources =
        nodes.stream()
            .flatMap(node -> Optional.ofNullable(node.getStatus()).stream())
            .flatMap(status -> Optional.ofNullable(status.getAllocatable()).stream())
            .map(Map::keySet)
            .filter(names -> names.contains(GPU))
            .toList();
    return !resources.isEmpty() && resources.stream().allMatch(names -> names.containsAll(PARTS));
  }
}
