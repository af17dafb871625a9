package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.readiness.SchedulerSightings.Unattended;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The pods and the Lease of a scheduler, and the pods that wait for it; watched from the first
 * question on.
 */
final class SchedulerPods implements AutoCloseable {
  private final String namespace;
  private final KeyedStore<Pod> replicas;
  private final KeyedStore<Lease> leases;

  /** Pods that name a scheduler and are on no node yet. */
  private final KeyedStore<Pod> waiting;

  SchedulerPods(KubernetesClient client, String namespace) {
    this.namespace = namespace;
    this.replicas =
        new KeyedStore<>(
            name ->
                client
                    .pods()
                    .inNamespace(namespace)
                    .withLabels(
                        Map.of(
                            Ownership.NAME_LABEL,
                            name,
                            Ownership.PART_OF_LABEL,
                            Ownership.OPERATOR)));
    this.leases =
        new KeyedStore<>(
            name -> client.leases().inNamespace(namespace).withField("metadata.name", name));
    this.waiting =
        new KeyedStore<>(
            schedulerName ->
                client
                    .pods()
                    .inAnyNamespace()
                    .withField("spec.schedulerName", schedulerName)
                    .withField("spec.nodeName", ""));
  }

  @Override
  public void close() {
    List.of(replicas, leases, waiting).forEach(KeyedStore::close);
  }

  /** Those of the Deployment that are not on their way out. */
  Stream<Pod> replicas() {
    return replicas
        .of(BuiltInScheduler.DEPLOYMENT)
        .list()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null);
  }

  Optional<Lease> lease() {
    return leases.of(BuiltInScheduler.LEASE).get(namespace + "/" + BuiltInScheduler.LEASE);
  }

  /** The pod that has waited longest without a word of a scheduler. */
  Optional<Unattended> unattended(String schedulerName) {
    return waiting
        .of(schedulerName)
        .list()
        .filter(SchedulerPods::isUnattended)
        .map(
            pod ->
                new Unattended(
                    Residents.name(pod), Instant.parse(pod.getMetadata().getCreationTimestamp())))
        .min(Comparator.comparing(Unattended::created).thenComparing(Unattended::pod));
  }

  /** A gated pod has its word from the API server; one that fits nowhere from its scheduler. */
  static boolean isUnattended(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && (pod.getSpec().getNodeName() == null || pod.getSpec().getNodeName().isEmpty())
        && Optional.ofNullable(pod.getStatus()).stream()
            .flatMap(status -> status.getConditions().stream())
            .noneMatch(condition -> condition.getType().equals("PodScheduled"));
  }
}
