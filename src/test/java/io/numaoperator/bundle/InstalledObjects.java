package io.numaoperator.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What {@code kubectl apply -k config/default} applies; kustomizations list resources only. */
record InstalledObjects(List<ObjectNode> objects) {
  private static final YAMLMapper YAML = new YAMLMapper();

  static InstalledObjects of(Path folder) {
    var objects = new ArrayList<ObjectNode>();
    collect(folder, objects);
    return new InstalledObjects(objects);
  }

  private static void collect(Path folder, List<ObjectNode> into) {
    try {
      var kustomization = YAML.readTree(folder.resolve("kustomization.yaml").toFile());
      kustomization
          .fieldNames()
          .forEachRemaining(
              field -> {
                if (!List.of("apiVersion", "kind", "resources").contains(field)) {
                  throw new IllegalStateException(
                      "%s has %s, which the bundle's generator does not know"
                          .formatted(folder, field));
                }
              });
      for (var resource : kustomization.get("resources")) {
        var path = folder.resolve(resource.asText()).normalize();
        if (Files.isDirectory(path)) {
          collect(path, into);
        } else {
          try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(path.toFile())) {
            documents.forEachRemaining(document -> into.add((ObjectNode) document));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Stream<ObjectNode> of(String kind) {
    return objects.stream().filter(object -> kind(object).equals(kind));
  }

  ObjectNode only(String kind) {
    var found = of(kind).toList();
    if (found.size() != 1) {
      throw new IllegalStateException("%d objects of kind %s".formatted(found.size(), kind));
    }
    return found.getFirst();
  }

  static String kind(JsonNode object) {
    return object.path("kind").asText();
  }

  static String name(JsonNode object) {
    return object.path("metadata").path("name").asText();
  }

  static String namespace(JsonNode object) {
    return object.path("metadata").path("namespace").asText();
  }
}
