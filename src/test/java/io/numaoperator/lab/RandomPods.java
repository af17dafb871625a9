package io.numaoperator.lab;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.topology.fit.ContainerRequest;
import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.PodRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

/** Random pods, as the model's requests and as the API server's objects. */
final class RandomPods {
  private static final String GPU = "nvidia.com/gpu";
  private static final long GI = 1L << 30;

  private RandomPods() {}

  static PodRequest request(Random random) {
    var containers = new ArrayList<ContainerRequest>();
    int extra = random.nextInt(3) == 0 ? 1 + random.nextInt(2) : 0;
    for (int i = 0; i < extra; i++) {
      containers.add(
          container(random, "init" + i, random.nextInt(3) == 0 ? Kind.Sidecar : Kind.Init));
    }
    int apps = 1 + random.nextInt(5) / 3;
    for (int i = 0; i < apps; i++) {
      containers.add(container(random, "app" + i, Kind.App));
    }
    return new PodRequest(random.nextInt(8) > 0, false, containers);
  }

  private static ContainerRequest container(Random random, String name, Kind kind) {
    var devices = new HashMap<String, Long>();
    int gpus = random.nextInt(5);
    if (gpus > 0) {
      devices.put(GPU, (long) gpus);
    }
    long cpus = 500L * (1 + random.nextInt(3)) * (random.nextInt(4) == 0 ? 1 : 4);
    return new ContainerRequest(
        name, kind, cpus, Map.of("memory", GI * (1 + random.nextInt(7))), devices);
  }

  static Pod pod(String name, PodRequest request) {
    var init = new ArrayList<Container>();
    var apps = new ArrayList<Container>();
    for (var container : request.containers()) {
      (container.kind() == Kind.App ? apps : init).add(container(container, request.guaranteed()));
    }
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("default")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withTerminationGracePeriodSeconds(0L)
        .withInitContainers(init)
        .withContainers(apps)
        .endSpec()
        .build();
  }

  private static Container container(ContainerRequest request, boolean guaranteed) {
    var amounts = new HashMap<String, Quantity>();
    amounts.put("cpu", new Quantity(request.milliCpus() + "m"));
    request.memory().forEach((type, bytes) -> amounts.put(type, new Quantity("" + bytes)));
    request.devices().forEach((device, count) -> amounts.put(device, new Quantity("" + count)));
    var limits = new HashMap<>(amounts);
    if (!guaranteed) {
      limits.remove("cpu");
    }
    var builder =
        new ContainerBuilder()
            .withName(request.name())
            .withImage("numa.test/" + (request.kind() == Kind.Init ? "busybox" : "pause"))
            .withNewResources()
            .withRequests(amounts)
            .withLimits(limits)
            .endResources();
    return switch (request.kind()) {
      case Init -> builder.withCommand("true").build();
      case Sidecar -> builder.withRestartPolicy("Always").build();
      case App -> builder.build();
    };
  }

  /**
   * Whether a node has less in total than its pods and this one ask for: that is any scheduler's
   * business, and the kubelet says OutOfcpu then.
   */
  static boolean exceedsTheNode(Lab lab, String node, PodRequest request) {
    var allocatable = lab.client().nodes().withName(node).get().getStatus().getAllocatable();
    var there =
        lab.client()
            .pods()
            .inAnyNamespace()
            .withField("spec.nodeName", node)
            .withoutField("status.phase", "Failed")
            .list()
            .getItems();
    return Stream.of("cpu", "memory", GPU)
        .anyMatch(
            resource ->
                Stream.concat(
                            there.stream().flatMap(pod -> containers(pod).stream()),
                            request.containers().stream()
                                .map(container -> container(container, request.guaranteed())))
                        .map(c -> c.getResources().getRequests().get(resource))
                        .filter(Objects::nonNull)
                        .mapToLong(RandomPods::milli)
                        .sum()
                    > milli(allocatable.get(resource)));
  }

  private static List<Container> containers(Pod pod) {
    var all = new ArrayList<>(pod.getSpec().getInitContainers());
    all.addAll(pod.getSpec().getContainers());
    return all;
  }

  private static long milli(Quantity quantity) {
    return quantity.getNumericalAmount().movePointRight(3).longValueExact();
  }
}
