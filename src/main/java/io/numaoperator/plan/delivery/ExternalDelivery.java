package io.numaoperator.plan.delivery;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What only its owner may configure: one ConfigMap a policy with what to paste, by shape (a
 * platform and a set of settings). After that the operator only verifies.
 */
final class ExternalDelivery implements KubeletDelivery {
  static final String PROVIDER = "external";

  private static final String README = "README.md";
  private static final int LISTED = 20;
  private static final String INTRODUCTION =
      """
      # Kubelet settings of NumaPolicy %s
      The operator does not configure these nodes: their owner does, with what is in this ConfigMap. A node
      is KubeletConfigured when its kubelet runs with exactly that.

      A kubelet exits when the managers' state files (cpu_manager_state and memory_manager_state in
      /var/lib/kubelet) are of other settings: use new machines, or drain the node and remove both files
      while its kubelet is stopped.
      """;

  @Override
  public Provision plan(Input input) {
    if (input.nodes().isEmpty()) {
      return Provision.Objects.none(PROVIDER);
    }
    var data = new TreeMap<String, String>();
    var readme = new StringBuilder(INTRODUCTION.formatted(policy(input)));
    shapes(input.nodes())
        .forEach(
            (key, nodes) -> {
              var format = ExternalFormat.of(nodes.getFirst().platform());
              var rendered = format.render(nodes.getFirst().fragment());
              data.put(key, rendered.text());
              readme.append(section(key, format, rendered, nodes));
            });
    data.put(README, readme.toString());
    var ownership = Ownership.of(Part.KUBELET, PROVIDER, List.of(input.policy()));
    return new Provision.Objects(
        PROVIDER,
        List.of(
            new ConfigMapBuilder()
                .withMetadata(ownership.metadata(input.namespace(), configMap(input)))
                .withData(data)
                .build()),
        List.of());
  }

  @Override
  public Optional<Provision.Remark> awaits(Input input, PlannedNode node) {
    return Optional.of(
        new Provision.Remark(
            "AwaitingOwner",
            "the node's owner has to configure it: see key %s of ConfigMap %s/%s"
                .formatted(key(node), input.namespace(), configMap(input))));
  }

  private static String configMap(Input input) {
    return "numaoperator-kubelet-" + policy(input);
  }

  private static String policy(Input input) {
    return input.policy().getMetadata().getName();
  }

  /** The key of a node's shape. */
  private static String key(PlannedNode node) {
    return ExternalFormat.of(node.platform()).key(node.hash());
  }

  private static TreeMap<String, List<PlannedNode>> shapes(List<PlannedNode> nodes) {
    return nodes.stream()
        .sorted(Comparator.comparing(PlannedNode::name))
        .collect(Collectors.groupingBy(ExternalDelivery::key, TreeMap::new, Collectors.toList()));
  }

  private static String section(
      String key,
      ExternalFormat format,
      ExternalFormat.Rendered rendered,
      List<PlannedNode> nodes) {
    var lines = new ArrayList<String>();
    lines.add("\n## " + key);
    lines.add("- how: " + format.howTo(key));
    var shown = nodes.stream().limit(LISTED).map(PlannedNode::name).toList();
    lines.add(
        "- nodes: "
            + String.join(", ", shown)
            + (nodes.size() > LISTED ? " and %d more".formatted(nodes.size() - LISTED) : ""));
    if (!rendered.leftOut().isEmpty()) {
      lines.add(
          "- the platform has no words for "
              + String.join(", ", rendered.leftOut())
              + ": change the policy until the node differs in nothing, or configure them another"
              + " way");
    }
    return String.join("\n", lines) + "\n";
  }
}
