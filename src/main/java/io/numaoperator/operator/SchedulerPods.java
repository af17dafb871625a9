package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.readiness.SchedulerSightings.Unattended;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The pods and the Lease of a scheduler, and the pods that wait for it; watched from the first
 * question on.
 */
final class SchedulerPods implements AutoCloseable {
  private final KubernetesClient client;
  private final String namespace;
  private Optional<Store<Pod>> replicas = Optional.empty();
  private Optional<Store<Lease>> leases = Optional.empty();
  private Optional<Waiting> waiting = Optional.empty();

  /** Pods that name a scheduler and are on no node yet. */
  private record Waiting(String schedulerName, Store<Pod> pods) {}

  SchedulerPods(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  @Override
  public synchronized void close() {
    replicas.ifPresent(Store::close);
    leases.ifPresent(Store::close);
    waiting.ifPresent(w -> w.pods().close());
  }

  /** Those of the Deployment that are not on their way out. */
  synchronized Stream<Pod> replicas() {
    if (replicas.isEmpty()) {
      replicas =
          Optional.of(
              new Store<>(
                  client
                      .pods()
                      .inNamespace(namespace)
                      .withLabels(
                          Map.of(
                              Ownership.NAME_LABEL,
                              BuiltInScheduler.DEPLOYMENT,
                              Ownership.PART_OF_LABEL,
                              Ownership.OPERATOR))));
    }
    return replicas.get().list().filter(pod -> pod.getMetadata().getDeletionTimestamp() == null);
  }

  synchronized Optional<Lease> lease() {
    if (leases.isEmpty()) {
      leases =
          Optional.of(
              new Store<>(
                  client
                      .leases()
                      .inNamespace(namespace)
                      .withField("metadata.name", BuiltInScheduler.LEASE)));
    }
    return leases.get().get(namespace + "/" + BuiltInScheduler.LEASE);
  }

  /** The pod that has waited longest without a word of a scheduler. */
  synchronized Optional<Unattended> unattended(String schedulerName) {
    return waitingFor(schedulerName)
        .list()
        .filter(SchedulerPods::isUnattended)
        .map(
            pod ->
                new Unattended(
                    pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName(),
                    Instant.parse(pod.getMetadata().getCreationTimestamp())))
        .min(Comparator.comparing(Unattended::created).thenComparing(Unattended::pod));
  }

  private Store<Pod> waitingFor(String schedulerName) {
    if (waiting.filter(w -> w.schedulerName().equals(schedulerName)).isEmpty()) {
      waiting.ifPresent(w -> w.pods().close());
      waiting =
          Optional.of(
              new Waiting(
                  schedulerName,
                  new Store<>(
                      client
                          .pods()
                          .inAnyNamespace()
                          .withField("spec.schedulerName", schedulerName)
                          .withField("spec.nodeName", ""))));
    }
    return waiting.get().pods();
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
