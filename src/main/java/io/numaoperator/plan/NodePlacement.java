package io.numaoperator.plan;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.NodeSelectorTermBuilder;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Puts a pod on each node that one of the policies selects. */
public final class NodePlacement {
  private static final String CONTROL_PLANE = "node-role.kubernetes.io/control-plane";

  private NodePlacement() {}

  /** On the nodes that these policies select. */
  public static Affinity affinity(List<NumaPolicy> policies) {
    return affinity(policies, List.of());
  }

  /**
   * The terms of a node affinity are alternatives: one term a policy, and one a node.
   *
   * @param names nodes that it goes to beside those that are selected
   */
  public static Affinity affinity(List<NumaPolicy> policies, List<String> names) {
    return new AffinityBuilder()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .withNodeSelectorTerms(
            Stream.concat(
                    policies.stream().map(policy -> term(policy.getSpec())),
                    names.stream().map(NodePlacement::node))
                .distinct()
                .sorted(Comparator.comparing(NodeSelectorTerm::toString))
                .toList())
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .build();
  }

  /** Cordoned, tainted, not ready: the pod goes there all the same. */
  public static Toleration everywhere() {
    return new TolerationBuilder().withOperator("Exists").build();
  }

  private static NodeSelectorTerm node(String name) {
    return new NodeSelectorTermBuilder()
        .addNewMatchField()
        .withKey("metadata.name")
        .withOperator("In")
        .withValues(name)
        .endMatchField()
        .build();
  }

  private static NodeSelectorTerm term(NumaPolicySpec spec) {
    var requirements = new ArrayList<NodeSelectorRequirement>();
    // also keeps the term from being empty: an empty term matches no node, {} must match all
    requirements.add(
        new NodeSelectorRequirement("kubernetes.io/os", "In", new ArrayList<>(List.of("linux"))));
    if (!Boolean.TRUE.equals(spec.allowControlPlane)) {
      requirements.add(
          new NodeSelectorRequirement(CONTROL_PLANE, "DoesNotExist", new ArrayList<>()));
    }
    selected(spec.nodeSelector).stream()
        .distinct()
        .sorted(
            Comparator.comparing(NodeSelectorRequirement::getKey)
                .thenComparing(NodeSelectorRequirement::getOperator)
                .thenComparing(requirement -> requirement.getValues().toString()))
        .forEach(requirements::add);
    return new NodeSelectorTerm(requirements, new ArrayList<>());
  }

  private static List<NodeSelectorRequirement> selected(NodeSelector selector) {
    var requirements = new ArrayList<NodeSelectorRequirement>();
    if (selector.matchLabels != null) {
      new TreeMap<>(selector.matchLabels)
          .forEach(
              (key, value) ->
                  requirements.add(
                      new NodeSelectorRequirement(key, "In", new ArrayList<>(List.of(value)))));
    }
    if (selector.matchExpressions != null) {
      for (var expression : selector.matchExpressions) {
        var values = expression.values == null ? List.<String>of() : expression.values;
        requirements.add(
            new NodeSelectorRequirement(
                expression.key,
                expression.operator.name(),
                new ArrayList<>(values.stream().distinct().sorted().toList())));
      }
    }
    return requirements;
  }
}
