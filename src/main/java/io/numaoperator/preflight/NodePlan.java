package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlanner;
import io.numaoperator.topology.Machine;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Preflight and plan for one node in one call. */
public final class NodePlan {
  private NodePlan() {}

  /**
   * What the node's kubelet should be set to, or the first reason why it cannot be.
   *
   * @param status of its NumaNodeState, as the agent wrote it
   * @param nodeBootId {@code status.nodeInfo.bootID} of its Node
   */
  public static KubeletPlan of(
      KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId) {
    return of(new Preflight.Input(policy, status, nodeBootId));
  }

  /**
   * What would stop a node that has a plan now, were its kubelet of the next minor version: an
   * upgrade happens under us, and may leave the kubelet down. Empty when nothing is known of.
   */
  public static Optional<String> afterUpgrade(
      KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId) {
    var next = new Preflight.Input(policy, status, nodeBootId, 1);
    return switch (of(next)) {
      case KubeletPlan.Planned planned -> Optional.empty();
      case KubeletPlan.Refused(var reason, var message) ->
          next.version().map(v -> "Kubernetes %d.%d: %s".formatted(v.major(), v.minor(), message));
    };
  }

  /**
   * The node's own settings. An agent that could not read the node's files reports none; what runs
   * has to do then.
   */
  public static KubeletFragment ownSettings(NumaNodeStateStatus status) {
    return Optional.ofNullable(status.baseline).orElse(status.effective.settings);
  }

  /** Where the agent puts a plan: into the main file where drop-ins are merged unreliably. */
  public static File file(NumaNodeStateStatus status) {
    return KubeletVersion.parse(Objects.requireNonNullElse(status.inventory.kubelet.version, ""))
            .filter(version -> new VersionGates(version, Map.of()).mergesDropInsSafely())
            .isPresent()
        ? File.DropIn
        : File.MainFile;
  }

  private static KubeletPlan of(Preflight.Input node) {
    var violation = Preflight.check(node);
    return violation.isPresent() ? violation.get() : planned(node);
  }

  private static KubeletPlan planned(Preflight.Input node) {
    var plan =
        KubeletPlanner.plan(
            node.policy(),
            Machine.of(node.status().inventory),
            own(node.status()),
            node.version().orElseThrow());
    return switch (plan) {
      case KubeletPlan.Refused refused -> refused;
      case KubeletPlan.Planned planned -> {
        var violation = Preflight.check(node, planned.fragment());
        yield violation.isPresent() ? violation.get() : planned;
      }
    };
  }

  private static EffectiveKubelet own(NumaNodeStateStatus status) {
    var own = new EffectiveKubelet();
    own.source = status.effective.source;
    own.featureGates = status.effective.featureGates;
    own.settings = RunningThreshold.kept(ownSettings(status), status);
    return own;
  }
}
