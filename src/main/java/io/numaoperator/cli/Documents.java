package io.numaoperator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.view.Inventory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Objects in YAML or JSON files, one after the other or in Lists. */
final class Documents {
  private static final Path STANDARD_INPUT = Path.of("-");

  private final ObjectMapper yaml = new ObjectMapper(new YAMLFactory());
  private final ObjectMapper lenient =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
  private final ObjectMapper strict = new ObjectMapper();
  private final InputStream standardInput;

  Documents(InputStream standardInput) {
    this.standardInput = standardInput;
  }

  /**
   * All NumaPolicies of a file; a field that a policy does not have is a fault, as it is to the API
   * server.
   */
  List<NumaPolicy> policies(Path file) {
    var policies =
        documents(file).stream()
            .filter(d -> "NumaPolicy".equals(d.path("kind").asText()))
            .map(d -> policy(file, d))
            .toList();
    if (policies.isEmpty()) {
      throw CliException.usage("there is no NumaPolicy in %s".formatted(file));
    }
    return policies;
  }

  private NumaPolicy policy(Path file, JsonNode document) {
    try {
      var policy = lenient.treeToValue(document, NumaPolicy.class);
      policy.setSpec(strict.treeToValue(document.path("spec"), NumaPolicySpec.class));
      if (policy.getMetadata() == null || policy.getMetadata().getName() == null) {
        throw CliException.usage("%s: a NumaPolicy has no metadata.name".formatted(file));
      }
      if (policy.getSpec() == null
          || policy.getSpec().mode == null
          || policy.getSpec().nodeSelector == null) {
        throw CliException.usage(
            "%s: NumaPolicy %s needs spec.mode and spec.nodeSelector"
                .formatted(file, policy.getMetadata().getName()));
      }
      return policy;
    } catch (JsonProcessingException e) {
      throw CliException.usage("%s: %s".formatted(file, e.getOriginalMessage()));
    }
  }

  /** Nodes, NumaNodeStates and NodeResourceTopologies of a file, or of a directory's files. */
  Inventory inventory(Path path) {
    var nodes = new ArrayList<Node>();
    var states = new ArrayList<NumaNodeState>();
    var topologies = new ArrayList<NodeResourceTopology>();
    for (var file : files(path)) {
      for (var document : documents(file)) {
        try {
          switch (document.path("kind").asText()) {
            case "Node" -> nodes.add(lenient.treeToValue(document, Node.class));
            case "NumaNodeState" -> states.add(lenient.treeToValue(document, NumaNodeState.class));
            case "NodeResourceTopology" ->
                topologies.add(lenient.treeToValue(document, NodeResourceTopology.class));
            default -> {} // a must-gather has more
          }
        } catch (JsonProcessingException e) {
          throw CliException.usage("%s: %s".formatted(file, e.getOriginalMessage()));
        }
      }
    }
    if (states.isEmpty()) {
      throw CliException.usage(
          ("there is no NumaNodeState in %s; record an inventory by: kubectl get"
                  + " nodes,numanodestates,noderesourcetopologies -o yaml")
              .formatted(path));
    }
    return new Inventory(nodes, states, topologies);
  }

  private static List<Path> files(Path path) {
    if (!Files.isDirectory(path)) {
      return List.of(path);
    }
    try (var files = Files.walk(path)) {
      return files.filter(f -> f.toString().matches(".*\\.(ya?ml|json)")).sorted().toList();
    } catch (IOException e) {
      throw CliException.usage("cannot read %s: %s".formatted(path, Api.reason(e)));
    }
  }

  private List<JsonNode> documents(Path file) {
    var all = new ArrayList<JsonNode>();
    try (var in = file.equals(STANDARD_INPUT) ? standardInput : Files.newInputStream(file);
        MappingIterator<JsonNode> documents = yaml.readerFor(JsonNode.class).readValues(in)) {
      while (documents.hasNextValue()) {
        flatten(documents.nextValue(), all);
      }
    } catch (JsonProcessingException e) {
      throw CliException.usage("%s is no YAML: %s".formatted(file, e.getOriginalMessage()));
    } catch (IOException e) {
      throw CliException.usage("cannot read %s: %s".formatted(file, Api.reason(e)));
    }
    return all;
  }

  private static void flatten(JsonNode document, List<JsonNode> all) {
    if (document == null || document.isNull()) {
      return;
    }
    if (document.path("kind").asText().endsWith("List")) {
      document.path("items").forEach(item -> flatten(item, all));
    } else {
      all.add(document);
    }
  }
}
