package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A pod's required node affinity (k8s.io/component-helpers/scheduling/corev1/nodeaffinity): one of
 * its terms has to match, a term by all that is in it, an empty one matches nothing.
 */
final class NodeAffinities {
  private NodeAffinities() {}

  /** What is not met, for a person; empty when it selects the node, or there is none. */
  static Optional<String> unmet(Pod pod, Node node) {
    return Optional.ofNullable(pod.getSpec().getAffinity())
        .flatMap(affinity -> Optional.ofNullable(affinity.getNodeAffinity()))
        .flatMap(
            affinity ->
                Optional.ofNullable(affinity.getRequiredDuringSchedulingIgnoredDuringExecution()))
        .flatMap(required -> unmet(required, node));
  }

  private static Optional<String> unmet(NodeSelector required, Node node) {
    var terms = required.getNodeSelectorTerms().stream().filter(t -> !isEmpty(t)).toList();
    var unmet = terms.stream().flatMap(term -> unmet(term, node).stream()).toList();
    if (unmet.size() < terms.size()) {
      return Optional.empty();
    }
    return Optional.of(
        switch (terms.size()) {
          case 0 -> "the pod's node affinity selects no node: it has no term";
          case 1 -> "the pod's node affinity wants " + unmet.getFirst();
          default ->
              "none of the %d terms of the pod's node affinity selects it: %s"
                  .formatted(terms.size(), "one wants " + String.join("; one wants ", unmet));
        });
  }

  private static boolean isEmpty(NodeSelectorTerm term) {
    return term.getMatchExpressions().isEmpty() && term.getMatchFields().isEmpty();
  }

  private static Optional<String> unmet(NodeSelectorTerm term, Node node) {
    var fields = Map.of("metadata.name", node.getMetadata().getName());
    return Stream.concat(
            term.getMatchExpressions().stream().map(r -> unmet(r, Obstacles.labels(node))),
            term.getMatchFields().stream().map(r -> unmet(r, fields)))
        .flatMap(Optional::stream)
        .findFirst();
  }

  /** What the labels (or fields) lack, for example "pool In [a, b], and its pool is c". */
  private static Optional<String> unmet(
      NodeSelectorRequirement wanted, Map<String, String> labels) {
    var has = Optional.ofNullable(labels.get(wanted.getKey()));
    if (isMet(wanted, has)) {
      return Optional.empty();
    }
    return Optional.of(
        "%s %s%s, and %s"
            .formatted(
                wanted.getKey(),
                wanted.getOperator(),
                wanted.getValues().isEmpty() ? "" : " " + wanted.getValues(),
                has(wanted.getKey(), has)));
  }

  /** For example "its pool is cpu", "it has no label pool". */
  static String has(String label, Optional<String> value) {
    return value
        .map(v -> "its %s is %s".formatted(label, v.isEmpty() ? "empty" : v))
        .orElse("it has no label " + label);
  }

  /** A label that is not there is not in any list (labels.Requirement.Matches). */
  private static boolean isMet(NodeSelectorRequirement wanted, Optional<String> has) {
    List<String> values = wanted.getValues();
    return switch (wanted.getOperator()) {
      case "In" -> has.filter(values::contains).isPresent();
      case "NotIn" -> has.filter(values::contains).isEmpty();
      case "Exists" -> has.isPresent();
      case "DoesNotExist" -> has.isEmpty();
      case "Gt" -> has.filter(label -> isLess(values.getFirst(), label)).isPresent();
      case "Lt" -> has.filter(label -> isLess(label, values.getFirst())).isPresent();
      default -> false;
    };
  }

  /** Of whole numbers of 64 bits; what is none is not less than anything. */
  static boolean isLess(String one, String other) {
    try {
      return Long.parseLong(one) < Long.parseLong(other);
    } catch (NumberFormatException notANumber) {
      return false;
    }
  }
}
