package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The pods of the nodes that are out of service for a change. They are few, so each is watched on
 * its own: all pods of a large cluster would be hundreds of megabytes, for a handful that matter.
 */
@ApplicationScoped
class DrainedNodes {
  private final KubernetesClient client;
  private final Map<Drained, Store<Pod>> nodes = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** A node, and the policy that drains it: none closes what another has opened. */
  private record Drained(String policy, String node) {}

  @Inject
  DrainedNodes(KubernetesClient client) {
    this.client = client;
  }

  /** Watches exactly these nodes of the policy; returns when their pods are known. */
  void watch(String policy, Set<String> names) {
    nodes.forEach(
        (drained, pods) -> {
          if (drained.policy().equals(policy) && !names.contains(drained.node())) {
            nodes.remove(drained);
            pods.close();
          }
        });
    names.forEach(name -> nodes.computeIfAbsent(new Drained(policy, name), drained -> start(name)));
  }

  private Store<Pod> start(String node) {
    var pods = Store.ofPods(client.pods().inAnyNamespace().withField("spec.nodeName", node));
    pods.onChange(Residents::differ, pod -> listeners.forEach(Runnable::run));
    return pods;
  }

  /** Empty for a node that is not watched: what runs there is not known. */
  Optional<List<Pod>> pods(String policy, String node) {
    return watched(policy, node).map(pods -> pods.list().toList());
  }

  Optional<Pod> pod(String policy, String node, String name) {
    return watched(policy, node).flatMap(pods -> pods.get(name));
  }

  private Optional<Store<Pod>> watched(String policy, String node) {
    return Optional.ofNullable(nodes.get(new Drained(policy, node)));
  }

  void onChange(Runnable listener) {
    listeners.add(listener);
  }

  @PreDestroy
  void close() {
    nodes.values().forEach(Store::close);
  }
}
