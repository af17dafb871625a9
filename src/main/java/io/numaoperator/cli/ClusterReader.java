package io.numaoperator.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.explain.NodeFacts;
import io.numaoperator.view.ClusterStatus;
import io.numaoperator.view.Inventory;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMaps;
import io.numaoperator.view.PodExplanation;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What commands read of a cluster. */
record ClusterReader(Api api) {
  static final String OURS = "apis/" + Names.GROUP + "/" + Names.VERSION + "/";
  static final String POLICIES = OURS + "numapolicies";
  static final String STATES = OURS + "numanodestates";
  static final String TOPOLOGIES =
      "apis/%s/%s/noderesourcetopologies"
          .formatted(NodeResourceTopology.GROUP, NodeResourceTopology.VERSION);

  ClusterStatus status() {
    return ClusterStatus.of(policies(), states());
  }

  List<NumaPolicy> policies() {
    return api.list(POLICIES, NumaPolicy.class).orElseThrow(ClusterReader::notInstalled);
  }

  List<NumaNodeState> states() {
    return api.list(STATES, NumaNodeState.class).orElseThrow(ClusterReader::notInstalled);
  }

  /** None where the cluster does not have the kind. */
  List<NodeResourceTopology> topologies() {
    return api.list(TOPOLOGIES, NodeResourceTopology.class).orElse(List.of());
  }

  List<Node> nodes() {
    return api.list("api/v1/nodes", Node.class).orElse(List.of());
  }

  Inventory inventory() {
    return new Inventory(nodes(), states(), topologies());
  }

  /** gitVersion of the API server. */
  String serverVersion() {
    return api.json("version").orElseThrow().path("gitVersion").asText();
  }

  /** The object as the cluster has it. */
  Optional<JsonNode> live(HasMetadata object) {
    var version = object.getApiVersion();
    var namespace = object.getMetadata().getNamespace();
    return api.json(
        (version.contains("/") ? "apis/" : "api/")
            + version
            + (namespace == null ? "" : "/namespaces/" + Api.encoded(namespace))
            + "/"
            + object.getPlural()
            + "/"
            + Api.encoded(object.getMetadata().getName()));
  }

  PodExplanation explain(String namespace, String name) {
    var pod =
        api.get(
                "api/v1/namespaces/%s/pods/%s".formatted(Api.encoded(namespace), Api.encoded(name)),
                Pod.class)
            .orElseThrow(
                () ->
                    new CliException(
                        "there is no pod \"%s\" in namespace \"%s\"".formatted(name, namespace)));
    var states = byName(states());
    var topologies = byName(topologies());
    var facts =
        states.keySet().stream()
            .map(
                node ->
                    NodeFacts.of(
                        node,
                        Optional.of(states.get(node)),
                        Optional.ofNullable(topologies.get(node))))
            .toList();
    return PodExplanation.of(pod, facts, states, byName(nodes()));
  }

  private static <T extends HasMetadata> Map<String, T> byName(List<T> objects) {
    return objects.stream()
        .collect(
            Collectors.toMap(
                o -> o.getMetadata().getName(), Function.identity(), (a, b) -> b, TreeMap::new));
  }

  /** Of all nodes that a policy has, by name. */
  List<NodeMap> maps() {
    var topologies = byName(topologies());
    return states().stream()
        .sorted(Comparator.comparing(state -> state.getMetadata().getName()))
        .map(state -> map(state, topologies))
        .toList();
  }

  private static NodeMap map(NumaNodeState state, Map<String, NodeResourceTopology> topologies) {
    return NodeMaps.of(state, Optional.ofNullable(topologies.get(state.getMetadata().getName())));
  }

  /** Of one node. */
  NodeMap map(String node) {
    var name = Api.encoded(node);
    var state = api.get(STATES + "/" + name, NumaNodeState.class);
    if (state.isEmpty()) {
      var all = states();
      throw new CliException(
          "no NumaPolicy has a node \"%s\"; %s"
              .formatted(
                  node,
                  all.isEmpty()
                      ? "no policy has any node"
                      : "there are "
                          + all.stream()
                              .map(s -> s.getMetadata().getName())
                              .sorted()
                              .limit(8)
                              .collect(Collectors.joining(", "))
                          + (all.size() > 8 ? ", ..." : "")));
    }
    return NodeMaps.of(state.get(), api.get(TOPOLOGIES + "/" + name, NodeResourceTopology.class));
  }

  private static CliException notInstalled() {
    return new CliException(
        "this cluster does not have the kinds of the NUMA Operator: install it first"
            + " (kubectl apply -k config/default)");
  }
}
