package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.scheduler.TopologyRevision;
import io.numaoperator.readiness.SchedulerSightings.Deployed;
import io.numaoperator.readiness.SchedulerSightings.Hold;
import io.numaoperator.readiness.SchedulerSightings.Replica;
import io.numaoperator.readiness.SchedulerSightings.Start;
import io.numaoperator.readiness.SchedulerSightings.Wanted;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Reads objects for what they say of schedulers, updaters and agents. */
final class Sightings {
  private Sightings() {}

  static Optional<Wanted> wanted(Provision.Objects plan) {
    return plan.objects().stream()
        .filter(Deployment.class::isInstance)
        .map(Deployment.class::cast)
        .map(deployment -> new Wanted(start(deployment.getSpec().getTemplate())))
        .findFirst();
  }

  static Optional<Deployed> deployed(Deployment deployment) {
    var generation = deployment.getMetadata().getGeneration();
    return Optional.of(
        new Deployed(
            start(deployment.getSpec().getTemplate()),
            Optional.ofNullable(deployment.getStatus())
                .map(status -> Objects.equals(status.getObservedGeneration(), generation))
                .orElse(false),
            SchedulerState.available(deployment)));
  }

  static Optional<Hold> hold(Lease lease) {
    return Optional.ofNullable(lease.getSpec())
        .filter(spec -> spec.getRenewTime() != null)
        .map(
            spec ->
                new Hold(
                    Objects.requireNonNullElse(spec.getHolderIdentity(), ""),
                    spec.getRenewTime().toInstant()));
  }

  static Optional<Replica> replica(Pod pod) {
    var containers = pod.getSpec().getContainers();
    return containers.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Replica(
                pod.getMetadata().getName(),
                start(containers.getFirst().getImage(), pod.getMetadata().getAnnotations()),
                isReady(pod),
                started(pod)));
  }

  private static Start start(PodTemplateSpec template) {
    return start(
        template.getSpec().getContainers().getFirst().getImage(),
        template.getMetadata().getAnnotations());
  }

  private static Start start(String image, Map<String, String> annotations) {
    var known = Objects.requireNonNullElse(annotations, Map.<String, String>of());
    return new Start(
        image,
        known.getOrDefault(ContentHash.ANNOTATION, ""),
        known.getOrDefault(TopologyRevision.ANNOTATION, ""));
  }

  static boolean isReady(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).stream()
        .flatMap(status -> status.getConditions().stream())
        .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  /** When a node's kubelet was last set otherwise, forth or back. */
  static Optional<Instant> kubeletChanged(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus())
        .flatMap(status -> Optional.ofNullable(status.attempt))
        .filter(a -> a.result == Result.Succeeded || a.result == Result.RolledBack)
        .flatMap(a -> Optional.ofNullable(a.since))
        .map(Instant::parse);
  }

  /** When its container last started; empty while it does not run. */
  static Optional<Instant> started(Pod pod) {
    return Optional.ofNullable(pod.getStatus())
        .map(status -> status.getContainerStatuses())
        .filter(statuses -> !statuses.isEmpty())
        .map(List::getFirst)
        .map(ContainerStatus::getState)
        .flatMap(state -> Optional.ofNullable(state.getRunning()))
        .map(running -> Instant.parse(running.getStartedAt()));
  }
}
