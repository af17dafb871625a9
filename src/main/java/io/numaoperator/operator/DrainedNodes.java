package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/**
 * The pods of the nodes that are out of service for a change. They are few, so each is watched on
 * its own: all pods of a large cluster would be hundreds of megabytes, for a handful that matter.
 */
@ApplicationScoped
class DrainedNodes {
  private final KubernetesClient client;
  private final Map<String, Watched> nodes = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** A node's pods, and the policy that drains it. */
  private record Watched(String policy, Store<Pod> pods) {}

  @Inject
  DrainedNodes(KubernetesClient client) {
    this.client = client;
  }

  /** Watches exactly these nodes of the policy; returns when their pods are known. */
  void watch(String policy, Set<String> names) {
    nodes.forEach(
        (name, watched) -> {
          if (watched.policy().equals(policy) && !names.contains(name)) {
            nodes.remove(name);
            watched.pods().close();
          }
        });
    names.forEach(name -> nodes.computeIfAbsent(name, n -> new Watched(policy, start(n))));
  }

  private Store<Pod> start(String node) {
    var pods = new Store<>(client.pods().inAnyNamespace().withField("spec.nodeName", node));
    pods.onChange(Residents::differ, pod -> listeners.forEach(Runnable::run));
    return pods;
  }

  /** The pods of a node that is watched. */
  Stream<Pod> pods(String node) {
    return Optional.ofNullable(nodes.get(node)).stream().flatMap(w -> w.pods().list());
  }

  Optional<Pod> pod(String node, String name) {
    return Optional.ofNullable(nodes.get(node)).flatMap(watched -> watched.pods().get(name));
  }

  void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @PreDestroy
  void close() {
    nodes.values().forEach(watched -> watched.pods().close());
  }
}
