package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.explain.Crossing;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Tells of pods with GPUs that run across NUMA nodes, as a Warning Event of the pod, once each. The
 * agents report them; they need no permission for pods or Events. A pod is read once, for its uid.
 */
@ApplicationScoped
class CrossingStory {
  private static final Logger LOG = Logger.getLogger(CrossingStory.class);

  private final KubernetesClient client;
  private final Events events;
  private final Map<String, Set<String>> told = new ConcurrentHashMap<>();

  @Inject
  CrossingStory(KubernetesClient client, Events events) {
    this.client = client;
    this.events = events;
  }

  /** Looks at what a node's agent reports. */
  void look(NumaNodeState state) {
    var node = state.getMetadata().getName();
    var crossing = crossing(state);
    var before = Optional.ofNullable(told.get(node)).orElse(Set.of());
    if (!before.equals(crossing.keySet())) {
      var now = new HashSet<>(before);
      now.retainAll(crossing.keySet());
      crossing.forEach(
          (pod, containers) -> {
            if (!before.contains(pod) && tell(node, pod, containers)) {
              now.add(pod);
            }
          });
      told.put(node, now);
    }
  }

  /** namespace/name → its containers with GPUs across NUMA nodes. */
  private static Map<String, List<PlacedContainer>> crossing(NumaNodeState state) {
    var pods = new TreeMap<String, List<PlacedContainer>>();
    Optional.ofNullable(state.getStatus()).map(s -> s.containers).stream()
        .flatMap(c -> c.placed.stream())
        .filter(Crossing::isMisalignedGpu)
        .forEach(c -> pods.computeIfAbsent(c.pod, p -> new ArrayList<>()).add(c));
    return pods;
  }

  /**
   * @return whether that is done with
   */
  private boolean tell(String node, String pod, List<PlacedContainer> containers) {
    var name = pod.split("/", 2);
    try {
      var found =
          Optional.ofNullable(client.pods().inNamespace(name[0]).withName(name[1]).get())
              .filter(p -> node.equals(p.getSpec().getNodeName()));
      found.ifPresent(
          p ->
              events.tell(
                  p, "crossing", true, "AcrossNUMANodes", Crossing.message(node, containers)));
      return true;
    } catch (KubernetesClientException e) {
      LOG.warnf("pod %s, which lies across NUMA nodes: %s", pod, e.getMessage());
      return false;
    }
  }
}
