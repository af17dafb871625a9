package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What keeps a pod from a node whatever its NUMA nodes have: what the pod says of nodes, and what
 * the Node says of pods. As kube-scheduler decides it (its plugins NodeName, NodeAffinity,
 * NodeUnschedulable and TaintToleration); affinity between pods, spreading, volumes, ports and the
 * node's sums are left to the scheduler, which tells them itself.
 */
public final class Obstacles {
  private static final Taint CORDON =
      new Taint(Taints.NO_SCHEDULE, "node.kubernetes.io/unschedulable", null, null);

  private Obstacles() {}

  /** The first of them, as the end of a sentence about the node; empty when there is none. */
  public static Optional<String> of(Pod pod, Node node) {
    boolean named = isNamedByItsMaker(pod);
    return otherNode(pod, node, named)
        .or(() -> notSelected(pod, node))
        .or(() -> NodeAffinities.unmet(pod, node))
        .or(() -> isReady(node) ? Optional.empty() : Optional.of("it is not Ready"))
        .or(() -> named ? Optional.empty() : cordoned(pod, node))
        .or(() -> tainted(pod, node, named));
  }

  /**
   * Whether spec.nodeName was there when the pod was made, which goes past every scheduler. A
   * scheduler's binding has no manager of fields.
   */
  private static boolean isNamedByItsMaker(Pod pod) {
    return pod.getMetadata().getManagedFields().stream()
        .filter(m -> m.getFieldsV1() != null)
        .map(m -> m.getFieldsV1().getAdditionalProperties().get("f:spec"))
        .anyMatch(spec -> spec instanceof Map<?, ?> fields && fields.containsKey("f:nodeName"));
  }

  private static Optional<String> otherNode(Pod pod, Node node, boolean named) {
    var wanted = pod.getSpec().getNodeName();
    return named && !node.getMetadata().getName().equals(wanted)
        ? Optional.of("the pod was made for node %s (spec.nodeName)".formatted(wanted))
        : Optional.empty();
  }

  private static Optional<String> notSelected(Pod pod, Node node) {
    var wanted =
        new TreeMap<>(
            Objects.requireNonNullElse(pod.getSpec().getNodeSelector(), Map.<String, String>of()));
    return wanted.entrySet().stream()
        .filter(w -> !w.getValue().equals(labels(node).get(w.getKey())))
        .map(
            w ->
                "the pod's nodeSelector wants %s, and %s"
                    .formatted(
                        w,
                        NodeAffinities.has(
                            w.getKey(), Optional.ofNullable(labels(node).get(w.getKey())))))
        .findFirst();
  }

  static Map<String, String> labels(Node node) {
    return Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
  }

  /**
   * The scheduler takes a toleration of the taint that goes with a cordon for one of the cordon.
   */
  private static Optional<String> cordoned(Pod pod, Node node) {
    return Boolean.TRUE.equals(node.getSpec().getUnschedulable()) && !Taints.tolerates(pod, CORDON)
        ? Optional.of("it is cordoned")
        : Optional.empty();
  }

  /**
   * @param named NoSchedule is the scheduler's, which such a pod does not meet; a kubelet looks at
   *     NoExecute too
   */
  private static Optional<String> tainted(Pod pod, Node node, boolean named) {
    return node.getSpec().getTaints().stream()
        .filter(
            taint ->
                Taints.NO_EXECUTE.equals(taint.getEffect())
                    || (!named && Taints.NO_SCHEDULE.equals(taint.getEffect())))
        .filter(taint -> !Taints.tolerates(pod, taint))
        .map(taint -> "it has the taint %s, which the pod does not tolerate".formatted(text(taint)))
        .findFirst();
  }

  private static String text(Taint taint) {
    var value = Objects.requireNonNullElse(taint.getValue(), "");
    return taint.getKey() + (value.isEmpty() ? "" : "=" + value) + ":" + taint.getEffect();
  }

  private static boolean isReady(Node node) {
    return Optional.ofNullable(node.getStatus()).stream()
        .flatMap(s -> s.getConditions().stream())
        .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }
}
