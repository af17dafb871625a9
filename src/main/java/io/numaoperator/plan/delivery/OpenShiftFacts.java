package io.numaoperator.plan.delivery;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What there is of OpenShift in a cluster; all empty where it is none.
 *
 * @param pools the MachineConfigPools
 * @param configs the KubeletConfigs, ours included
 * @param nodeLabels labels of all nodes of the cluster, by name
 */
public record OpenShiftFacts(
    List<MachineConfigPool> pools,
    List<KubeletConfig> configs,
    Map<String, Map<String, String>> nodeLabels) {
  private static final String WORKER = "worker";

  public OpenShiftFacts {
    pools = List.copyOf(pools);
    configs = List.copyOf(configs);
    nodeLabels = Map.copyOf(nodeLabels);
  }

  public static OpenShiftFacts none() {
    return new OpenShiftFacts(List.of(), List.of(), Map.of());
  }

  /**
   * The pool that a node belongs to: pool worker gives way to one of its own
   * (machine-config-operator, docs/custom-pools.md). Empty where none selects it, or several do.
   */
  public Optional<MachineConfigPool> poolOf(String node) {
    var labels = nodeLabels.getOrDefault(node, Map.of());
    var selecting =
        pools.stream()
            .filter(pool -> pool.getSpec() != null && pool.getSpec().nodeSelector != null)
            .filter(pool -> selects(pool.getSpec().nodeSelector, labels))
            .toList();
    var own = selecting.stream().filter(pool -> !name(pool).equals(WORKER)).toList();
    var candidates = own.isEmpty() ? selecting : own;
    return candidates.size() == 1 ? Optional.of(candidates.getFirst()) : Optional.empty();
  }

  /** The nodes of a pool, by name. */
  List<String> nodesOf(MachineConfigPool pool) {
    return nodeLabels.keySet().stream()
        .filter(node -> poolOf(node).filter(p -> name(p).equals(name(pool))).isPresent())
        .sorted()
        .toList();
  }

  static String name(MachineConfigPool pool) {
    return pool.getMetadata().getName();
  }

  static Map<String, String> labels(MachineConfigPool pool) {
    return Objects.requireNonNullElse(pool.getMetadata().getLabels(), Map.of());
  }

  static boolean selects(LabelSelector selector, Map<String, String> labels) {
    var equal =
        Objects.requireNonNullElse(selector.getMatchLabels(), Map.<String, String>of()).entrySet();
    return labels.entrySet().containsAll(equal)
        && selector.getMatchExpressions().stream()
            .allMatch(requirement -> holds(requirement, labels));
  }

  private static boolean holds(LabelSelectorRequirement requirement, Map<String, String> labels) {
    var value = labels.get(requirement.getKey());
    return switch (requirement.getOperator()) {
      case "In" -> value != null && requirement.getValues().contains(value);
      case "NotIn" -> value == null || !requirement.getValues().contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      default -> false;
    };
  }
}
