package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.NodeSelection;
import io.numaoperator.plan.device.DeviceMark;
import io.numaoperator.plan.device.HamiRegister;
import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.NvidiaConfig;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.rollout.NodeProgress.Cordon;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What we read from a Node object. */
final class Nodes {
  private static final String FAILURE_DOMAIN_LABEL = "topology.kubernetes.io/zone";

  private static final List<String> MARKS =
      List.of(
          Names.CORDONED_ANNOTATION,
          Names.DRAIN_ANNOTATION,
          Names.DRAIN_GIVEN_UP_ANNOTATION,
          Names.DEVICE_PLUGIN_ANNOTATION,
          HamiRegister.ANNOTATION);

  private Nodes() {}

  /** Takes from a Node what nobody reads. */
  static void trim(Node node) {
    Optional.ofNullable(node.getStatus())
        .ifPresent(
            status ->
                node.setStatus(
                    new NodeStatusBuilder()
                        .withNodeInfo(status.getNodeInfo())
                        .withAllocatable(status.getAllocatable())
                        .withConditions(readyCondition(node).stream().toList())
                        .build()));
  }

  static boolean isSelected(NumaPolicy policy, Node node) {
    return NodeSelection.isSelected(policy, labels(node));
  }

  static boolean isReady(Node node) {
    return readyCondition(node).map(c -> "True".equals(c.getStatus())).orElse(false);
  }

  static String bootId(Node node) {
    return Optional.ofNullable(node.getStatus())
        .flatMap(s -> Optional.ofNullable(s.getNodeInfo()))
        .flatMap(i -> Optional.ofNullable(i.getBootID()))
        .orElse("");
  }

  static String kubeletVersion(Node node) {
    return Optional.ofNullable(node.getStatus())
        .flatMap(s -> Optional.ofNullable(s.getNodeInfo()))
        .flatMap(i -> Optional.ofNullable(i.getKubeletVersion()))
        .orElse("");
  }

  static String failureDomain(Node node) {
    return labels(node).getOrDefault(FAILURE_DOMAIN_LABEL, "");
  }

  static boolean isSkipped(Node node) {
    return "true".equals(annotations(node).get(Names.SKIP_ANNOTATION));
  }

  static boolean isTainted(Node node, String key) {
    return node.getSpec().getTaints().stream().anyMatch(taint -> key.equals(taint.getKey()));
  }

  /** A pod that proves a change; it is removed with that. */
  static boolean isProof(Pod pod) {
    return Optional.ofNullable(pod.getMetadata().getLabels())
        .orElse(Map.of())
        .containsKey(Names.PROOF_LABEL);
  }

  static boolean isLabelledAligned(Node node) {
    return "true".equals(labels(node).get(Names.ALIGNED_LABEL));
  }

  /**
   * Ours only while both are there: where a person uncordoned the node meanwhile, the annotation
   * alone means nothing, and no agent acts on it.
   */
  static Cordon cordon(Node node) {
    if (!Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
      return new Cordon.None();
    }
    return Optional.ofNullable(annotations(node).get(Names.CORDONED_ANNOTATION))
        .filter(mark -> mark.matches(".+/[0-9]{1,18}")) // else a person's, who is not overruled
        .<Cordon>map(
            mark -> new Cordon.Ours(Long.parseLong(mark.substring(mark.lastIndexOf('/') + 1))))
        .orElseGet(Cordon.Foreign::new);
  }

  /** Whether an update of a Node can change any decision: heartbeats cannot. */
  static boolean differ(Node old, Node node) {
    return !labels(old).equals(labels(node))
        || !Objects.equals(old.getSpec().getUnschedulable(), node.getSpec().getUnschedulable())
        || MARKS.stream()
            .anyMatch(m -> !Objects.equals(annotations(old).get(m), annotations(node).get(m)))
        || !old.getSpec().getTaints().equals(node.getSpec().getTaints())
        || isSkipped(old) != isSkipped(node)
        || isReady(old) != isReady(node)
        || !bootId(old).equals(bootId(node))
        || hasGpus(old) != hasGpus(node);
  }

  /** What the kubelet can hand out of NVIDIA's, by whichever plugin. */
  static boolean hasGpus(Node node) {
    return Optional.ofNullable(node.getStatus())
        .flatMap(status -> Optional.ofNullable(status.getAllocatable()))
        .map(
            allocatable ->
                allocatable.entrySet().stream()
                    .anyMatch(
                        entry ->
                            entry.getKey().startsWith("nvidia.com/")
                                && entry.getValue().getNumericalAmount().signum() > 0))
        .orElse(false);
  }

  /** What the Node says of its device plugins. */
  static NodeDevices devices(Node node, boolean hasPolicy, List<RunningPlugin> plugins) {
    return new NodeDevices(
        hasPolicy,
        Optional.ofNullable(labels(node).get(NvidiaConfig.NODE_LABEL)),
        Optional.ofNullable(annotations(node).get(Names.DEVICE_PLUGIN_ANNOTATION))
            .flatMap(DeviceMark::parse),
        Optional.ofNullable(annotations(node).get(HamiRegister.ANNOTATION)),
        plugins);
  }

  private static Optional<NodeCondition> readyCondition(Node node) {
    return Optional.ofNullable(node.getStatus()).stream()
        .flatMap(s -> s.getConditions().stream())
        .filter(c -> "Ready".equals(c.getType()))
        .findFirst();
  }

  static Map<String, String> labels(Node node) {
    return Optional.ofNullable(node.getMetadata().getLabels()).orElse(Map.of());
  }

  private static Map<String, String> annotations(Node node) {
    return Optional.ofNullable(node.getMetadata().getAnnotations()).orElse(Map.of());
  }
}
