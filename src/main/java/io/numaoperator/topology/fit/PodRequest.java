package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What a pod asks for. Its overhead plays no part: the managers look at containers only
 * (devicemanager/topology_hints.go excludes it, the others never read it).
 *
 * @param guaranteed whether its QoS class is Guaranteed: no other gets CPUs or memory of its own
 * @param podLevelResources whether spec.resources is set: kubelets up to 1.37 then leave CPUs and
 *     memory alone (policy_static.go of both managers)
 * @param containers init containers and sidecars in their order, then the app containers: the order
 *     in which the kubelet gives them resources
 */
public record PodRequest(
    boolean guaranteed, boolean podLevelResources, List<ContainerRequest> containers) {
  public PodRequest {
    containers = List.copyOf(containers);
  }

  /** CPUs that the pod gets for itself under a static CPU Manager, as one number for scope pod. */
  int exclusiveCpus() {
    return (int) Math.min(most(this::exclusiveCpus), Integer.MAX_VALUE);
  }

  int exclusiveCpus(ContainerRequest container) {
    return pinned() ? container.wholeCpus() : 0;
  }

  /**
   * Bytes by resource name under a Static Memory Manager. Kinds that only init containers ask for
   * are left out (memorymanager/policy_static.go, getPodRequestedResources).
   */
  Map<String, Long> pinnedMemory() {
    var types = new TreeSet<String>();
    containers.stream()
        .filter(c -> c.kind() == Kind.App)
        .forEach(c -> types.addAll(c.memory().keySet()));
    return pinned() ? totals(types, ContainerRequest::memory) : Map.of();
  }

  Map<String, Long> pinnedMemory(ContainerRequest container) {
    return pinned() ? container.memory() : Map.of();
  }

  /** Devices, for every QoS class. */
  Map<String, Long> devices() {
    var resources = new TreeSet<String>();
    containers.forEach(c -> resources.addAll(c.devices().keySet()));
    return totals(resources, ContainerRequest::devices);
  }

  /** Whether any of its containers asks for a device. */
  public boolean wantsDevices() {
    return containers.stream()
        .flatMap(container -> container.devices().values().stream())
        .anyMatch(count -> count > 0);
  }

  private boolean pinned() {
    return guaranteed && !podLevelResources;
  }

  private Map<String, Long> totals(
      Set<String> names, Function<ContainerRequest, Map<String, Long>> of) {
    var totals = new TreeMap<String, Long>();
    names.forEach(name -> totals.put(name, most(c -> of.apply(c).getOrDefault(name, 0L))));
    return totals;
  }

  /**
   * The most that the pod holds at any time: all that runs long, or an init container with the
   * sidecars before it (KEP-753).
   */
  private long most(ToLongFunction<ContainerRequest> amount) {
    long sidecars = 0;
    long apps = 0;
    long init = 0;
    for (var container : containers) {
      long here = amount.applyAsLong(container);
      switch (container.kind()) {
        case Sidecar -> sidecars += here;
        case Init -> init = Math.max(init, sidecars + here);
        case App -> apps += here;
      }
    }
    return Math.max(init, sidecars + apps);
  }
}
