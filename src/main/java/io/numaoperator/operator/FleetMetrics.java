package io.numaoperator.operator;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.explain.Crossing;
import io.numaoperator.operator.Meters.Sample;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The gauges: what is written in the statuses of policies and nodes, in numbers. Only the replica
 * that leads has them, so that no sum counts a node twice.
 */
@ApplicationScoped
class FleetMetrics {
  private final ClusterCache cache;
  private final Meters meters;

  @Inject
  FleetMetrics(ClusterCache cache, Meters meters) {
    this.cache = cache;
    this.meters = meters;
  }

  /** Called once, when this replica begins to lead; one that no longer leads ends. */
  void start() {
    meters.gauges(
        () ->
            samples(
                cache.policies().list().toList(), cache.states().list().toList(), Instant.now()));
  }

  static List<Sample> samples(List<NumaPolicy> policies, List<NumaNodeState> nodes, Instant now) {
    var samples = new ArrayList<Sample>();
    samples.add(Sample.of("numaoperator.leading", 1));
    for (var policy : policies) {
      var name = policy.getMetadata().getName();
      Optional.ofNullable(policy.getStatus()).ifPresent(s -> policy(name, s, samples));
    }
    nodes.forEach(node -> node(node, now, samples));
    return samples;
  }

  private static void policy(String name, NumaPolicyStatus status, List<Sample> samples) {
    if (status.nodes != null) {
      samples.add(nodes(name, "matched", status.nodes.matched));
      samples.add(nodes(name, "ready", status.nodes.ready));
      samples.add(nodes(name, "updating", status.nodes.updating));
      samples.add(nodes(name, "failed", status.nodes.failed));
    }
    for (var condition : status.conditions) {
      samples.add(
          Sample.of(
              "numaoperator.policy.condition",
              value(condition),
              "policy",
              name,
              "condition",
              condition.type,
              "reason",
              condition.reason));
    }
    samples.add(
        Sample.of(
            "numaoperator.policy.foreign.pods",
            Objects.requireNonNullElse(status.foreignPods, 0),
            "policy",
            name));
    samples.add(
        Sample.of(
            "numaoperator.rejection.loops",
            status.rejectionLoops.size()
                + Objects.requireNonNullElse(status.rejectionLoopsLeftOut, 0),
            "policy",
            name));
    for (var loop : status.rejectionLoops) {
      samples.add(
          Sample.of(
              "numaoperator.rejection.loop.pods", loop.pods, "policy", name, "owner", loop.owner));
    }
  }

  private static Sample nodes(String policy, String state, Integer count) {
    return Sample.of("numaoperator.policy.nodes", count, "policy", policy, "state", state);
  }

  private static void node(NumaNodeState node, Instant now, List<Sample> samples) {
    var status = node.getStatus();
    if (status == null) {
      return;
    }
    var name = node.getMetadata().getName();
    var policy = node.getSpec().policy;
    for (var condition : status.conditions) {
      samples.add(
          Sample.of(
              "numaoperator.node.condition",
              value(condition),
              "policy",
              policy,
              "node",
              name,
              "condition",
              condition.type,
              "reason",
              condition.reason));
    }
    if (status.containers != null) {
      containers(policy, name, status.containers, samples);
    }
    if (status.attempt != null && status.attempt.result == null && status.attempt.since != null) {
      samples.add(
          Sample.of(
              "numaoperator.node.attempt.step.age.seconds",
              Duration.between(Instant.parse(status.attempt.since), now).toSeconds(),
              "policy",
              policy,
              "node",
              name,
              "step",
              String.valueOf(status.attempt.step)));
    }
  }

  private static void containers(
      String policy, String node, Containers containers, List<Sample> samples) {
    samples.add(placed(policy, node, "Aligned", containers.aligned));
    samples.add(placed(policy, node, "CrossNUMA", containers.crossNuma));
    samples.add(placed(policy, node, "NotPinned", containers.notPinned));
    samples.add(placed(policy, node, "Unknown", containers.unknown));
    samples.add(placed(policy, node, "Unsupported", containers.unsupported));
    samples.add(
        Sample.of(
            "numaoperator.node.misaligned.gpu.pods",
            containers.placed.stream()
                .filter(Crossing::isMisalignedGpu)
                .map(c -> c.pod)
                .distinct()
                .count(),
            "policy",
            policy,
            "node",
            node));
  }

  private static Sample placed(String policy, String node, String placement, Integer count) {
    return Sample.of(
        "numaoperator.node.containers",
        Objects.requireNonNullElse(count, 0),
        "policy",
        policy,
        "node",
        node,
        "placement",
        placement);
  }

  private static double value(Condition condition) {
    return switch (condition.status) {
      case True -> 1;
      case False -> 0;
      case Unknown -> -1;
    };
  }
}
