package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.fit.NodeTopology;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the extender knows of pods and nodes, from watches and from its own doing. Safe for use by
 * several threads.
 */
final class ClusterState {
  /**
   * How long a bound pod is counted on top of an object whose updater does not tell whom it
   * accounts for: NFD's default interval, and a half.
   */
  private static final Duration UNTOLD = Duration.ofSeconds(90);

  private final Clock clock;
  private final Map<String, PodView> pods = new HashMap<>();
  private final Map<String, Map<String, PodView>> byNode = new HashMap<>();
  private final Map<String, PodView> waiting = new LinkedHashMap<>();
  private final Map<String, Topology> topologies = new HashMap<>();
  private long changes;

  /** The versions with which they went. */
  private final Map<String, Long> removedTopologies = new HashMap<>();

  /** An object as it was read once. */
  private record Topology(
      long version,
      Optional<NodeTopology> readable,
      Optional<String> unreadable,
      Decisions decisions) {}

  ClusterState(Clock clock) {
    this.clock = clock;
  }

  /** A pod as a watch or an answer of the API server shows it. */
  synchronized void put(Pod pod) {
    put(PodView.of(pod));
  }

  /** How often it has changed, so that what is counted of all of it is counted only then. */
  synchronized long changes() {
    return changes;
  }

  private void put(PodView pod) {
    changes++;
    var known = pods.get(pod.uid());
    // a binding cannot be undone: what shows it unbound is older than what we did ourselves
    if (known != null && known.node().isPresent() && pod.node().isEmpty()) {
      return;
    }
    remove(pod.uid());
    if (pod.terminal()) {
      return;
    }
    pods.put(pod.uid(), pod);
    pod.node()
        .ifPresentOrElse(
            node -> byNode.computeIfAbsent(node, n -> new HashMap<>()).put(pod.uid(), pod),
            () -> waiting.put(pod.uid(), pod));
  }

  /** That we bind it just now. */
  synchronized void bound(PodView pod, String node) {
    if (!pods.containsKey(pod.uid()) || pods.get(pod.uid()).node().isEmpty()) {
      put(pod.boundTo(node, clock.instant()));
    }
  }

  /**
   * That a binding of ours did not come about; what was heard of the pod since then counts more.
   */
  synchronized void notBound(PodView pod) {
    var known = pods.get(pod.uid());
    if (known != null && known.node().isPresent() && known.version() == pod.version()) {
      remove(pod.uid());
      put(pod);
    }
  }

  synchronized void remove(String uid) {
    changes++;
    var known = pods.remove(uid);
    waiting.remove(uid);
    if (known != null) {
      known.node().map(byNode::get).ifPresent(there -> there.remove(uid));
    }
  }

  /** An object as a watch or an answer of the API server shows it; an older one is ignored. */
  synchronized void put(NodeResourceTopology object) {
    var name = object.getMetadata().getName();
    long version = PodView.number(object.getMetadata().getResourceVersion());
    long known =
        topologies.containsKey(name)
            ? topologies.get(name).version()
            : removedTopologies.getOrDefault(name, -1L);
    if (known > version) {
      return;
    }
    changes++;
    topologies.put(name, read(version, object));
  }

  private static Topology read(long version, NodeResourceTopology object) {
    var annotations = object.getMetadata().getAnnotations();
    var decisions =
        Optional.ofNullable(annotations)
            .map(a -> a.get(Decisions.ANNOTATION))
            .map(Decisions::parse)
            .orElse(Decisions.NONE);
    try {
      return new Topology(
          version, Optional.of(NodeTopology.of(object)), Optional.empty(), decisions);
    } catch (IllegalArgumentException | ArithmeticException problem) {
      return new Topology(version, Optional.empty(), Optional.of(problem.getMessage()), decisions);
    }
  }

  /** That an object is gone; an answer that still shows it may come later. */
  synchronized void remove(NodeResourceTopology object) {
    var name = object.getMetadata().getName();
    changes++;
    removedTopologies.put(name, PodView.number(object.getMetadata().getResourceVersion()));
    topologies.remove(name);
  }

  /** That a node has none. */
  synchronized void removeTopology(String node) {
    changes++;
    topologies.remove(node);
  }

  /** The decisions for a node that are remembered. */
  synchronized Decisions decisions(String node) {
    return topologies.containsKey(node)
        ? topologies.get(node).decisions().at(clock.instant())
        : Decisions.NONE;
  }

  synchronized Optional<PodView> pod(String uid) {
    return Optional.ofNullable(pods.get(uid));
  }

  /** All that is known of a node now. */
  synchronized NodeView node(String name) {
    var now = clock.instant();
    var topology = Optional.ofNullable(topologies.get(name));
    var there = byNode.getOrDefault(name, Map.of()).values();
    var decided = new ArrayList<PodView>();
    for (var decision : decisions(name).all()) {
      Optional.ofNullable(pods.get(decision.uid()))
          .filter(pod -> pod.node().isEmpty() || pod.node().get().equals(name))
          .ifPresent(decided::add);
    }
    return new NodeView(
        name,
        topology.flatMap(Topology::readable),
        topology.flatMap(Topology::unreadable),
        List.copyOf(there),
        decided,
        recent(there, now),
        waiting.values().stream()
            .filter(pod -> pod.nominatedNode().filter(name::equals).isPresent())
            .toList());
  }

  private static Set<String> recent(Collection<PodView> pods, Instant now) {
    return pods.stream()
        .filter(pod -> pod.bound().map(at -> at.plus(UNTOLD).isAfter(now)).orElse(true))
        .map(PodView::uid)
        .collect(Collectors.toSet());
  }

  /** The nodes that an aligned pod can be judged on. */
  synchronized Set<String> usableNodes() {
    return topologies.entrySet().stream()
        .filter(entry -> entry.getValue().readable().isPresent())
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /**
   * How many pods with devices were bound by schedulers that do not ask here, by node; nodes
   * without one are left out.
   *
   * @param ours spec.schedulerName of the pods that come here
   */
  synchronized Map<String, Integer> foreignPods(Set<String> ours) {
    var counts = new HashMap<String, Integer>();
    byNode.forEach(
        (node, there) -> {
          long foreign =
              there.values().stream()
                  .filter(pod -> pod.request().wantsDevices() && !ours.contains(pod.scheduler()))
                  .count();
          if (foreign > 0) {
            counts.put(node, (int) foreign);
          }
        });
    return counts;
  }

  synchronized Set<String> nodesWithTopology() {
    return Set.copyOf(topologies.keySet());
  }

  /** resourceVersion of a node's object; 0 where it has none. */
  synchronized String topologyVersion(String node) {
    return topologies.containsKey(node) ? Long.toString(topologies.get(node).version()) : "0";
  }

  synchronized Set<String> uids() {
    return Set.copyOf(pods.keySet());
  }
}
