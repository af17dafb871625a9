package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What keeps a pod from a node whatever its NUMA nodes have: the plain cases only. Taints, affinity
 * and the node's sums are the scheduler's, which says them itself.
 */
final class Obstacles {
  private Obstacles() {}

  static Optional<String> of(Pod pod, Node node) {
    var labels =
        Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.<String, String>of());
    var wanted =
        Objects.requireNonNullElse(pod.getSpec().getNodeSelector(), Map.<String, String>of());
    if (!labels.entrySet().containsAll(wanted.entrySet())) {
      return Optional.of("the pod's nodeSelector does not select it");
    }
    if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
      return Optional.of("it is cordoned");
    }
    return isReady(node) ? Optional.empty() : Optional.of("it is not Ready");
  }

  private static boolean isReady(Node node) {
    return Optional.ofNullable(node.getStatus()).stream()
        .flatMap(s -> s.getConditions().stream())
        .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }
}
