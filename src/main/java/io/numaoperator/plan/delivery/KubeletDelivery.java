package io.numaoperator.plan.delivery;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Optional;

/** One way in which kubelets get their configuration. */
public interface KubeletDelivery {
  /** What to apply for the nodes of one policy that get theirs this way. */
  Provision plan(Input input);

  /**
   * What a node whose kubelet is not as wanted waits for; empty where the rollout knows.
   *
   * @param node one of the input's
   */
  Optional<Provision.Remark> awaits(Input input, PlannedNode node);

  /**
   * What it is planned from.
   *
   * @param namespace the operator's
   * @param policy the policy
   * @param nodes its nodes that are delivered this way and have a plan, by name
   * @param enforced whether anything may be changed: mode Enforce, not paused
   * @param openShift what there is of OpenShift
   */
  record Input(
      String namespace,
      NumaPolicy policy,
      List<PlannedNode> nodes,
      boolean enforced,
      OpenShiftFacts openShift) {
    public Input {
      nodes = List.copyOf(nodes);
    }
  }
}
