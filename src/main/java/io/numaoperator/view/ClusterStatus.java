package io.numaoperator.view;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import java.util.Comparator;
import java.util.List;

/**
 * Policies and nodes, line by line.
 *
 * @param policies by name
 * @param nodes by name
 */
public record ClusterStatus(List<PolicyLine> policies, List<NodeLine> nodes) {
  public ClusterStatus {
    policies = policies.stream().sorted(Comparator.comparing(PolicyLine::name)).toList();
    nodes = nodes.stream().sorted(Comparator.comparing(NodeLine::node)).toList();
  }

  /** Of all that there are. */
  public static ClusterStatus of(List<NumaPolicy> policies, List<NumaNodeState> states) {
    return new ClusterStatus(
        policies.stream().map(PolicyLine::of).toList(), states.stream().map(NodeLine::of).toList());
  }

  /** Whether every policy and every node is ready. */
  public boolean isReady() {
    return policies.stream().allMatch(policy -> policy.ready() == Condition.Status.True)
        && nodes.stream().allMatch(NodeLine::isReady);
  }
}
