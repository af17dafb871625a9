package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What is known of a cluster's nodes when it is planned what a policy would mean for them. */
public record Inventory(
    List<Node> nodes, List<NumaNodeState> states, List<NodeResourceTopology> topologies) {
  public Inventory {
    nodes = List.copyOf(nodes);
    states = List.copyOf(states);
    topologies = List.copyOf(topologies);
  }

  /** Of every node that there is a Node or a NumaNodeState of. */
  SortedSet<String> names() {
    var names = new TreeSet<String>();
    Stream.concat(nodes.stream(), states.stream())
        .map(o -> o.getMetadata().getName())
        .forEach(names::add);
    return names;
  }

  Optional<Node> node(String name) {
    return find(nodes, name);
  }

  Optional<NumaNodeState> state(String name) {
    return find(states, name);
  }

  private static <T extends HasMetadata> Optional<T> find(List<T> objects, String name) {
    return objects.stream().filter(o -> name.equals(o.getMetadata().getName())).findFirst();
  }

  static Map<String, String> labels(Node node) {
    return Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of());
  }

  static Optional<String> kubeletVersion(Node node) {
    return Optional.ofNullable(node.getStatus())
        .map(s -> s.getNodeInfo())
        .map(i -> i.getKubeletVersion());
  }

  static Optional<String> bootId(Node node) {
    return Optional.ofNullable(node.getStatus()).map(s -> s.getNodeInfo()).map(i -> i.getBootID());
  }

  /** Versions of all kubelets, as far as they are known. */
  public List<String> kubeletVersions() {
    return kubeletVersions(names());
  }

  List<String> kubeletVersions(SortedSet<String> names) {
    return names.stream()
        .flatMap(
            name ->
                node(name)
                    .flatMap(Inventory::kubeletVersion)
                    .or(
                        () ->
                            state(name)
                                .map(s -> s.getStatus())
                                .map(s -> s.inventory)
                                .map(i -> i.kubelet)
                                .map(k -> k.version))
                    .stream())
        .toList();
  }
}
