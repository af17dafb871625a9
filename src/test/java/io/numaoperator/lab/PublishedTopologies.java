package io.numaoperator.lab;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.fit.NodeFree;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Every version of the NodeResourceTopology objects that a watch showed, and when. */
final class PublishedTopologies implements AutoCloseable {
  private final List<Version> versions = new CopyOnWriteArrayList<>();
  private final SharedIndexInformer<NodeResourceTopology> informer;

  /**
   * @param free what the zones have left, {@code ZONE RESOURCE} → amount
   */
  private record Version(String node, Instant seen, Map<String, Long> free) {}

  PublishedTopologies(KubernetesClient client) {
    informer =
        client
            .resources(NodeResourceTopology.class)
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(NodeResourceTopology topology) {
                    versions.add(version(topology));
                  }

                  @Override
                  public void onUpdate(NodeResourceTopology old, NodeResourceTopology topology) {
                    versions.add(version(topology));
                  }

                  @Override
                  public void onDelete(NodeResourceTopology topology, boolean unknown) {}
                });
  }

  private static Version version(NodeResourceTopology topology) {
    var free = new TreeMap<String, Long>();
    for (var zone : topology.zones) {
      for (var resource : zone.resources) {
        free.put(
            zone.name.substring("node-".length()) + " " + resource.name,
            resource.available.getNumericalAmount().longValueExact());
      }
    }
    return new Version(topology.getMetadata().getName(), Instant.now(), free);
  }

  /** The same of what a kubelet's state files say. */
  static Map<String, Long> free(NodeFree node) {
    var free = new TreeMap<String, Long>();
    node.zones()
        .forEach(
            zone -> {
              free.put(zone.id() + " cpu", (long) zone.freeCpus());
              zone.memory().entrySet().stream()
                  .filter(type -> type.getValue().allocatable() > 0)
                  .forEach(
                      type -> free.put(zone.id() + " " + type.getKey(), type.getValue().free()));
            });
    node.devices()
        .forEach(
            device ->
                device
                    .zones()
                    .forEach(
                        zone -> free.put(zone + " " + device.resource(), (long) device.free())));
    return free;
  }

  /** What is published of a node now. */
  Map<String, Long> now(String node) {
    return versions.stream()
        .filter(version -> version.node().equals(node))
        .reduce((a, b) -> b)
        .map(Version::free)
        .orElse(Map.of());
  }

  /** When the newest run of versions of a node that say this began. */
  Optional<Instant> since(String node, Map<String, Long> free) {
    Optional<Instant> since = Optional.empty();
    for (var version : versions) {
      if (version.node().equals(node)) {
        since =
            version.free().equals(free)
                ? since.or(() -> Optional.of(version.seen()))
                : Optional.empty();
      }
    }
    return since;
  }

  @Override
  public void close() {
    informer.close();
  }
}
