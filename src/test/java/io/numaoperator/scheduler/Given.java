package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.api.nrt.NodeResourceTopology.Attribute;
import io.numaoperator.api.nrt.NodeResourceTopology.Zone;
import io.numaoperator.api.nrt.NodeResourceTopology.ZoneResource;
import io.numaoperator.topology.AccountedPods;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Objects for tests. */
final class Given {
  static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
  static final String GPU = "nvidia.com/gpu";
  static final long GI = 1L << 30;

  private Given() {}

  /** Two zones of 8 CPUs (1 reserved), 8 Gi and 4 GPUs with this many GPUs free, all else free. */
  static NodeResourceTopology topology(String node, int gpus0, int gpus1) {
    return topology(node, "single-numa-node", "pod", zone(0, 7, 8, gpus0), zone(1, 7, 8, gpus1));
  }

  static NodeResourceTopology topology(String node, String policy, String scope, Zone... zones) {
    var topology = new NodeResourceTopology();
    topology.getMetadata().setName(node);
    topology.getMetadata().setResourceVersion("1");
    topology.getMetadata().setAnnotations(new HashMap<>(Map.of(AccountedPods.ANNOTATION, "")));
    topology.attributes =
        new ArrayList<>(
            List.of(
                new Attribute("topologyManagerPolicy", policy),
                new Attribute("topologyManagerScope", scope)));
    topology.zones = List.of(zones);
    return topology;
  }

  static NodeResourceTopology accounting(
      NodeResourceTopology topology, Map<String, Set<Integer>> zonesByName) {
    var zones = new HashMap<String, Set<Integer>>();
    zonesByName.forEach((name, ids) -> zones.put(AccountedPods.mark("default", name), ids));
    topology
        .getMetadata()
        .getAnnotations()
        .put(AccountedPods.ANNOTATION, new AccountedPods(zones).format());
    return topology;
  }

  static Zone zone(int id, int cpus, int gi, int gpus) {
    var zone = new Zone();
    zone.name = "node-" + id;
    zone.type = "Node";
    zone.resources =
        List.of(
            resource("cpu", 8, 7, cpus),
            resource("memory", 9 * GI, 8 * GI, gi * GI),
            resource(GPU, 4, 4, gpus));
    return zone;
  }

  static ZoneResource resource(String name, long capacity, long allocatable, long available) {
    var resource = new ZoneResource();
    resource.name = name;
    resource.capacity = new Quantity(Long.toString(capacity));
    resource.allocatable = new Quantity(Long.toString(allocatable));
    resource.available = new Quantity(Long.toString(available));
    return resource;
  }

  /** A Guaranteed pod of 1 CPU and 1 Gi that wants this many GPUs. */
  static Pod pod(String name, int gpus) {
    return pod(name, container("main", "1", "1Gi", gpus));
  }

  static Pod pod(String name, Container... containers) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("default")
        .withName(name)
        .withUid("uid-" + name)
        .withResourceVersion("1")
        .withCreationTimestamp(NOW.toString())
        .endMetadata()
        .withNewSpec()
        .withSchedulerName("numa-scheduler")
        .withContainers(containers)
        .endSpec()
        .withNewStatus()
        .withPhase("Pending")
        .endStatus()
        .build();
  }

  static Container container(String name, String cpu, String memory, int gpus) {
    var amounts = new HashMap<>(Map.of("cpu", new Quantity(cpu), "memory", new Quantity(memory)));
    if (gpus > 0) {
      amounts.put(GPU, new Quantity(Integer.toString(gpus)));
    }
    return new ContainerBuilder()
        .withName(name)
        .withNewResources()
        .withRequests(amounts)
        .withLimits(amounts)
        .endResources()
        .build();
  }

  /** The same, bound this many seconds ago. */
  static Pod bound(Pod pod, String node, long secondsAgo) {
    return pod.edit()
        .editMetadata()
        .withResourceVersion("2")
        .endMetadata()
        .editSpec()
        .withNodeName(node)
        .endSpec()
        .editStatus()
        .addNewCondition()
        .withType("PodScheduled")
        .withStatus("True")
        .withLastTransitionTime(NOW.minusSeconds(secondsAgo).toString())
        .endCondition()
        .endStatus()
        .build();
  }

  static Pod created(Pod pod, long secondsAgo) {
    return pod.edit()
        .editMetadata()
        .withCreationTimestamp(NOW.minusSeconds(secondsAgo).toString())
        .endMetadata()
        .build();
  }

  static Pod priority(Pod pod, int priority) {
    return pod.edit().editSpec().withPriority(priority).endSpec().build();
  }
}
