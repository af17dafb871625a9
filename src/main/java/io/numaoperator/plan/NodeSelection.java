package io.numaoperator.plan;

import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaPolicy;
import java.util.Map;

/** Which nodes a policy is for. */
public final class NodeSelection {
  private static final String CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

  private NodeSelection() {}

  /**
   * @param labels of the Node
   */
  public static boolean isSelected(NumaPolicy policy, Map<String, String> labels) {
    return (Boolean.TRUE.equals(policy.getSpec().allowControlPlane)
            || !labels.containsKey(CONTROL_PLANE_LABEL))
        && labels.entrySet().containsAll(policy.getSpec().nodeSelector.matchLabels.entrySet())
        && policy.getSpec().nodeSelector.matchExpressions.stream()
            .allMatch(requirement -> holds(requirement, labels));
  }

  private static boolean holds(NodeSelector.Requirement requirement, Map<String, String> labels) {
    var value = labels.get(requirement.key);
    return switch (requirement.operator) {
      case In -> value != null && requirement.values.contains(value);
      case NotIn -> value == null || !requirement.values.contains(value);
      case Exists -> value != null;
      case DoesNotExist -> value == null;
    };
  }
}
