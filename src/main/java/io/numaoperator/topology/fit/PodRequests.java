package io.numaoperator.topology.fit;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Reads from a Pod what the kubelet's managers read from it. */
public final class PodRequests {
  private static final Set<String> NATIVE = Set.of("cpu", "memory", "ephemeral-storage");
  private static final String HUGEPAGES = "hugepages-";

  private PodRequests() {}

  public static PodRequest of(Pod pod) {
    var containers = new ArrayList<ContainerRequest>();
    for (var init : orEmpty(pod.getSpec().getInitContainers())) {
      containers.add(
          container(init, "Always".equals(init.getRestartPolicy()) ? Kind.Sidecar : Kind.Init));
    }
    for (var app : orEmpty(pod.getSpec().getContainers())) {
      containers.add(container(app, Kind.App));
    }
    return new PodRequest(guaranteed(pod), podLevelResources(pod), containers);
  }

  private static boolean podLevelResources(Pod pod) {
    var resources = pod.getSpec().getResources();
    return resources != null
        && (!orEmpty(resources.getRequests()).isEmpty()
            || !orEmpty(resources.getLimits()).isEmpty());
  }

  /**
   * The API server fills it in when a pod is created; computed as v1qos.ComputePodQOS otherwise.
   */
  private static boolean guaranteed(Pod pod) {
    if (pod.getStatus() != null && pod.getStatus().getQosClass() != null) {
      return pod.getStatus().getQosClass().equals("Guaranteed");
    }
    return Stream.concat(
            orEmpty(pod.getSpec().getInitContainers()).stream(),
            orEmpty(pod.getSpec().getContainers()).stream())
        .allMatch(
            container ->
                Stream.of("cpu", "memory")
                    .allMatch(
                        name -> {
                          var limit = limits(container).get(name);
                          var request = requests(container).getOrDefault(name, limit);
                          return limit != null
                              && limit.getNumericalAmount().signum() > 0
                              && request.getNumericalAmount().compareTo(limit.getNumericalAmount())
                                  == 0;
                        }));
  }

  private static ContainerRequest container(Container container, Kind kind) {
    var memory = new HashMap<String, Long>();
    requests(container)
        .forEach(
            (name, quantity) -> {
              if (name.equals("memory") || name.startsWith(HUGEPAGES)) {
                memory.put(name, whole(quantity));
              }
            });
    var devices = new HashMap<String, Long>();
    limits(container)
        .forEach(
            (name, quantity) -> {
              if (!NATIVE.contains(name) && !name.startsWith(HUGEPAGES)) {
                devices.put(name, whole(quantity));
              }
            });
    var cpu = requests(container).get("cpu");
    return new ContainerRequest(
        container.getName(),
        kind,
        cpu == null
            ? 0
            : cpu.getNumericalAmount()
                .movePointRight(3)
                .setScale(0, RoundingMode.CEILING)
                .longValueExact(),
        memory,
        devices);
  }

  /** Quantity.Value rounds up. */
  private static long whole(Quantity quantity) {
    return quantity.getNumericalAmount().setScale(0, RoundingMode.CEILING).longValueExact();
  }

  private static Map<String, Quantity> requests(Container container) {
    return container.getResources() == null
        ? Map.of()
        : orEmpty(container.getResources().getRequests());
  }

  private static Map<String, Quantity> limits(Container container) {
    return container.getResources() == null
        ? Map.of()
        : orEmpty(container.getResources().getLimits());
  }

  private static <T> List<T> orEmpty(List<T> list) {
    return list == null ? List.of() : list;
  }

  private static Map<String, Quantity> orEmpty(Map<String, Quantity> map) {
    return map == null ? Map.of() : map;
  }
}
