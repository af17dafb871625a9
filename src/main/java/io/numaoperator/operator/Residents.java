package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Resident;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What a drain has to know of the pods of a node. */
final class Residents {
  /**
   * An agent reports every 5 s what the containers hold; a pod that was admitted longer ago than
   * this and is not in the report holds nothing.
   */
  static final Duration REPORTED_AFTER = Duration.ofSeconds(30);

  private static final Set<String> FINISHED = Set.of("Succeeded", "Failed");
  private static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

  private Residents() {}

  /**
   * @param operator {@code namespace/name} of this operator's own pod
   */
  static List<Resident> of(Stream<Pod> pods, String operator, Instant now) {
    return pods.filter(pod -> !isFinished(pod))
        .map(
            pod ->
                new Resident(
                    name(pod),
                    kind(pod, operator),
                    mayHold(pod, now),
                    pod.getMetadata().getDeletionTimestamp() != null))
        .sorted(Comparator.comparing(Resident::name))
        .toList();
  }

  static String name(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }

  /** A change that a drain waits for. */
  static boolean differ(Pod old, Pod pod) {
    return isFinished(old) != isFinished(pod)
        || (old.getMetadata().getDeletionTimestamp() == null)
            != (pod.getMetadata().getDeletionTimestamp() == null);
  }

  private static boolean isFinished(Pod pod) {
    return Optional.ofNullable(pod.getStatus())
        .filter(status -> status.getPhase() != null && FINISHED.contains(status.getPhase()))
        .isPresent();
  }

  private static Kind kind(Pod pod, String operator) {
    if (name(pod).equals(operator) || Nodes.isProof(pod)) {
      return Kind.Operator;
    }
    if (Optional.ofNullable(pod.getMetadata().getAnnotations())
        .orElse(Map.of())
        .containsKey(MIRROR_ANNOTATION)) {
      return Kind.Static;
    }
    return controller(pod)
        .map(owner -> owner.getKind().equals("DaemonSet") ? Kind.DaemonSet : Kind.Replaced)
        .orElse(Kind.Bare);
  }

  static Optional<OwnerReference> controller(Pod pod) {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  /**
   * By what it asks for: devices, or as a Guaranteed pod CPUs or memory of its own, while its
   * agent's report may be older than its admission, in which the kubelet hands them out.
   */
  private static boolean mayHold(Pod pod, Instant now) {
    return asksForSomething(pod) && !isAdmittedBefore(pod, now.minus(REPORTED_AFTER));
  }

  private static boolean asksForSomething(Pod pod) {
    return Optional.ofNullable(pod.getStatus())
            .filter(status -> "Guaranteed".equals(status.getQosClass()))
            .isPresent()
        || !pod.getSpec().getResourceClaims().isEmpty()
        || Stream.concat(
                pod.getSpec().getContainers().stream(), pod.getSpec().getInitContainers().stream())
            .flatMap(container -> Optional.ofNullable(container.getResources()).stream())
            .flatMap(r -> Optional.ofNullable(r.getRequests()).orElse(Map.of()).keySet().stream())
            .anyMatch(resource -> resource.contains("/"));
  }

  private static boolean isAdmittedBefore(Pod pod, Instant time) {
    return Optional.ofNullable(pod.getStatus())
        .flatMap(status -> Optional.ofNullable(status.getStartTime()))
        .filter(started -> Instant.parse(started).isBefore(time))
        .isPresent();
  }
}
