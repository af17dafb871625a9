package io.numaoperator.operator;

import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.RolloutPolicy.OnDelete;
import io.numaoperator.readiness.Verdict;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;

/**
 * The end of a policy with {@code rollout.onDelete: Restore}: its nodes are changed once more, to
 * no drop-in at all, by the same rollout; each is let go when that is done, and the policy's
 * finalizer is taken off with the last.
 */
@ApplicationScoped
class Restoration {
  private final ClusterCache cache;
  private final Writer writer;
  private final Parts parts;
  private final KubeletDeliveries deliveries;
  private final RolloutPass rollout;
  private final NodeRelease release;
  private final RejectedPods rejected;

  @Inject
  Restoration(
      ClusterCache cache,
      Writer writer,
      Parts parts,
      KubeletDeliveries deliveries,
      RolloutPass rollout,
      NodeRelease release,
      RejectedPods rejected) {
    this.cache = cache;
    this.writer = writer;
    this.parts = parts;
    this.deliveries = deliveries;
    this.rollout = rollout;
    this.release = release;
    this.rejected = rejected;
  }

  /** What its owner asks for. Observe changes nothing, not even back. */
  static boolean isWanted(NumaPolicy policy) {
    return policy.getSpec().rollout.onDelete == OnDelete.Restore
        && policy.getSpec().mode == Mode.Enforce;
  }

  /** It is being deleted and has nodes to restore. */
  static boolean isUnderWay(NumaPolicy policy) {
    return policy.getMetadata().getDeletionTimestamp() != null
        && hasFinalizer(policy)
        && isWanted(policy);
  }

  static boolean isFinalizerToBeChanged(NumaPolicy policy) {
    return hasFinalizer(policy) != isWanted(policy);
  }

  private static boolean hasFinalizer(NumaPolicy policy) {
    return policy.getMetadata().getFinalizers().contains(Names.RESTORE_FINALIZER);
  }

  /** Does what can be done now for a policy that is being deleted. */
  void proceed(NumaPolicy policy) {
    if (!isUnderWay(policy)) {
      if (hasFinalizer(policy)) {
        writer.finalizer(policy, false); // its owner thought better of it
      }
      return;
    }
    var name = policy.getMetadata().getName();
    var problems = parts.apply(policy);
    var outcome = rollout.proceed(policy, () -> assess(policy));
    assess(policy).stream()
        .filter(node -> isDone(node.progress()))
        .forEach(node -> release.proceed(node.state(), node.node()));
    if (cache.statesOf(name).isEmpty()) {
      writer.finalizer(cache.policies().get(name).orElse(policy), false);
    } else {
      summarise(policy, outcome.assessments(), problems);
    }
    outcome.rethrow();
  }

  private List<NodeAssessment> assess(NumaPolicy policy) {
    return PolicyReconciler.assess(policy, cache, deliveries.view(parts.schedulerState()));
  }

  /** Nothing of ours is left on it, or its owner wants it left alone. */
  private static boolean isDone(NodeProgress node) {
    return ((node.target() instanceof Target.Reached && !node.devicesWanted()) || node.skipped())
        && !node.underChange()
        && node.grant().isEmpty()
        && !(node.cordon() instanceof Cordon.Ours);
  }

  private void summarise(
      NumaPolicy policy, List<NodeAssessment> nodes, Map<String, Verdict> problems) {
    var left = nodes.stream().filter(node -> cache.states().get(node.name()).isPresent()).toList();
    new PolicySummary(policy, left)
        .status(List.of(), problems, rejected::loopsOn)
        .ifPresent(status -> writer.status(policy, status));
  }
}
