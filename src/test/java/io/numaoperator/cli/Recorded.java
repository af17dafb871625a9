package io.numaoperator.cli;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMaps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The objects of a lab, as its API server gave them (src/test/resources/cli/recorded.yaml). */
public final class Recorded {
  static final Path FILE = Path.of("src/test/resources/cli/recorded.yaml");

  private final ObjectMapper mapper =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private final List<ObjectNode> objects = new ArrayList<>();

  public Recorded() {
    try (var in = Files.newInputStream(FILE);
        var documents =
            new ObjectMapper(new YAMLFactory()).readerFor(JsonNode.class).readValues(in)) {
      while (documents.hasNextValue()) {
        objects.add((ObjectNode) documents.nextValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<ObjectNode> objects(String kind) {
    return objects.stream().filter(o -> kind.equals(o.path("kind").asText())).toList();
  }

  private <T> List<T> all(String kind, Class<T> type) {
    return objects(kind).stream().map(o -> mapper.convertValue(o, type)).toList();
  }

  public List<NumaPolicy> policies() {
    return all("NumaPolicy", NumaPolicy.class);
  }

  public List<NumaNodeState> states() {
    return all("NumaNodeState", NumaNodeState.class);
  }

  public NumaNodeState state(String name) {
    return states().stream()
        .filter(s -> s.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  public List<NodeResourceTopology> topologies() {
    return all("NodeResourceTopology", NodeResourceTopology.class);
  }

  public Optional<NodeResourceTopology> topology(String name) {
    return topologies().stream().filter(t -> t.getMetadata().getName().equals(name)).findFirst();
  }

  public List<Node> nodes() {
    return all("Node", Node.class);
  }

  public Pod pod(String name) {
    return all("Pod", Pod.class).stream()
        .filter(p -> p.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  public NodeMap map(String node) {
    return NodeMaps.of(state(node), topology(node));
  }
}
