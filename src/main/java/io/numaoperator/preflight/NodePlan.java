package io.numaoperator.preflight;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlanner;
import io.numaoperator.topology.Machine;

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
    var node = new Preflight.Input(policy, status, nodeBootId);
    var violation = Preflight.check(node);
    return violation.isPresent() ? violation.get() : planned(node);
  }

  private static KubeletPlan planned(Preflight.Input node) {
    var plan =
        KubeletPlanner.plan(
            node.policy(),
            Machine.of(node.status().inventory),
            node.status().effective,
            node.version().orElseThrow());
    return switch (plan) {
      case KubeletPlan.Refused refused -> refused;
      case KubeletPlan.Planned planned -> {
        var violation = Preflight.check(node, planned.fragment());
        yield violation.isPresent() ? violation.get() : planned;
      }
    };
  }
}
