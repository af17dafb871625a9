package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Optional;

/**
 * Who makes a pod again when it is gone.
 *
 * @param namespace the pod's
 * @param reference its controller: a ReplicaSet, Job, StatefulSet…
 * @param kind of the one that a person knows: Deployment for a Deployment's ReplicaSet
 * @param name of that one
 */
public record Owner(String namespace, OwnerReference reference, String kind, String name) {
  /** Label of a Deployment's pods; its ReplicaSets are named after it. */
  private static final String TEMPLATE_HASH = "pod-template-hash";

  /** Empty for a pod that nobody makes again. */
  public static Optional<Owner> of(Pod pod) {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst()
        .map(owner -> of(pod, owner));
  }

  private static Owner of(Pod pod, OwnerReference owner) {
    var labels = Optional.ofNullable(pod.getMetadata().getLabels()).orElse(Map.of());
    var suffix = "-" + labels.getOrDefault(TEMPLATE_HASH, "");
    boolean deployment =
        owner.getKind().equals("ReplicaSet")
            && suffix.length() > 1
            && owner.getName().endsWith(suffix);
    return new Owner(
        pod.getMetadata().getNamespace(),
        owner,
        deployment ? "Deployment" : owner.getKind(),
        deployment
            ? owner.getName().substring(0, owner.getName().length() - suffix.length())
            : owner.getName());
  }

  /** For example "Deployment train/llm". */
  public String text() {
    return "%s %s/%s".formatted(kind, namespace, name);
  }
}
