package io.numaoperator.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * FAKE: stands for OLM, which is not run. The objects that OLM makes of a bundle in an
 * OperatorGroup for all namespaces, as read in operator-lifecycle-manager v0.46
 * (install/deployment.go, resolver/rbac.go, catalog/operator.go). Left out: the hash labels, the
 * ClusterRoles for those who use the kinds, the ClusterServiceVersion itself and references to it.
 *
 * @param namespace of the operator; OLM's user makes it
 */
public record OlmInstall(JsonNode csv, List<ObjectNode> manifests, String namespace) {
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String RBAC = "rbac.authorization.k8s.io";

  /** Of the repository's bundle, in the namespace that it suggests. */
  public static OlmInstall ofBundle() {
    return of(Path.of("bundle/manifests"), "");
  }

  /**
   * @param namespace empty for the suggested one
   */
  public static OlmInstall of(Path folder, String namespace) {
    try (var files = Files.list(folder)) {
      var all = new ArrayList<ObjectNode>();
      for (var file : files.sorted().toList()) {
        all.add((ObjectNode) YAML.readTree(file.toFile()));
      }
      var csv =
          all.stream()
              .filter(o -> InstalledObjects.kind(o).equals("ClusterServiceVersion"))
              .findFirst();
      all.removeAll(csv.stream().toList());
      var suggested =
          annotation(csv.orElseThrow(), "operatorframework.io/suggested-namespace").asText();
      return new OlmInstall(csv.get(), all, namespace.isEmpty() ? suggested : namespace);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** In an order in which they can be applied. */
  public List<ObjectNode> objects() {
    var objects = new ArrayList<ObjectNode>();
    objects.add(suggestedNamespace());
    manifests.stream()
        .filter(o -> InstalledObjects.kind(o).equals("CustomResourceDefinition"))
        .forEach(objects::add);
    permissions("clusterPermissions", "ClusterRole", objects);
    permissions("permissions", "Role", objects);
    // what a CSV asks for in its namespace is lifted to all of them
    permissions("permissions", "ClusterRole", objects);
    manifests.stream()
        .filter(o -> !InstalledObjects.kind(o).equals("CustomResourceDefinition"))
        .map(this::inNamespace)
        .forEach(objects::add);
    strategy().path("deployments").forEach(d -> objects.add(deployment(d)));
    return objects.stream().distinct().toList();
  }

  /** One YAML file of them, for kubectl. */
  public Path file() {
    try {
      var file = Files.createTempFile("olm", ".yaml");
      try (var out = YAML.writer().writeValues(file.toFile())) {
        out.writeAll(objects());
      }
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What goes when the ClusterServiceVersion is deleted; the rest is left to OLM's user. */
  public boolean isRemovedByOlm(JsonNode object) {
    return switch (InstalledObjects.kind(object)) {
      case "Namespace", "CustomResourceDefinition" -> false;
      // of a bundle's Roles and RoleBindings the ClusterServiceVersion is no owner
      case "Role", "RoleBinding" -> object.path("metadata").path("labels").has("olm.owner");
      default -> true;
    };
  }

  private JsonNode strategy() {
    return csv.path("spec").path("install").path("spec");
  }

  /** As a console makes it from the bundle's template. */
  private ObjectNode suggestedNamespace() {
    try {
      var template = annotation(csv, "operatorframework.io/suggested-namespace-template").asText();
      var object = (ObjectNode) YAML.readTree(template);
      ((ObjectNode) object.get("metadata")).put("name", namespace);
      return object;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void permissions(String field, String roleKind, List<ObjectNode> objects) {
    int count = 0;
    for (var permission : strategy().path(field)) {
      var account = permission.path("serviceAccountName").asText();
      objects.add(serviceAccount(account));
      var name =
          "%s-%s-%d".formatted(InstalledObjects.name(csv), field.toLowerCase(Locale.ROOT), count++);
      var role = object(RBAC + "/v1", roleKind, name);
      role.set("rules", permission.get("rules"));
      var binding = object(RBAC + "/v1", roleKind + "Binding", name);
      binding.putObject("roleRef").put("apiGroup", RBAC).put("kind", roleKind).put("name", name);
      binding
          .putArray("subjects")
          .addObject()
          .put("kind", "ServiceAccount")
          .put("name", account)
          .put("namespace", namespace);
      objects.add(roleKind.equals("Role") ? inNamespace(role) : role);
      objects.add(roleKind.equals("Role") ? inNamespace(binding) : binding);
    }
  }

  private ObjectNode serviceAccount(String name) {
    return inNamespace(object("v1", "ServiceAccount", name));
  }

  private ObjectNode deployment(JsonNode described) {
    var deployment = inNamespace(object("apps/v1", "Deployment", described.path("name").asText()));
    var labels = (ObjectNode) deployment.path("metadata").path("labels");
    described.path("label").fields().forEachRemaining(l -> labels.set(l.getKey(), l.getValue()));
    var spec = (ObjectNode) described.get("spec").deepCopy();
    spec.put("revisionHistoryLimit", 1);
    var template = (ObjectNode) spec.get("template");
    var annotations = ((ObjectNode) template.get("metadata")).withObject("/annotations");
    // all of the CSV's, its examples and texts too
    csv.path("metadata")
        .path("annotations")
        .fields()
        .forEachRemaining(a -> annotations.set(a.getKey(), a.getValue()));
    annotations.put("olm.operatorGroup", "global");
    annotations.put("olm.operatorNamespace", namespace);
    annotations.put("olm.targetNamespaces", "");
    for (var container : template.path("spec").path("containers")) {
      ((ArrayNode) container.withArray("/env"))
          .addObject()
          .put("name", "OPERATOR_CONDITION_NAME")
          .put("value", InstalledObjects.name(csv));
    }
    deployment.set("spec", spec);
    return deployment;
  }

  private ObjectNode object(String apiVersion, String kind, String name) {
    var object = JSON.objectNode().put("apiVersion", apiVersion).put("kind", kind);
    var labels = object.putObject("metadata").put("name", name).putObject("labels");
    Map.of(
            "olm.managed",
            "true",
            "olm.owner",
            InstalledObjects.name(csv),
            "olm.owner.kind",
            "ClusterServiceVersion",
            "olm.owner.namespace",
            namespace)
        .forEach(labels::put);
    return object;
  }

  private ObjectNode inNamespace(ObjectNode object) {
    var copy = object.deepCopy();
    var metadata = (ObjectNode) copy.get("metadata");
    metadata.put("namespace", namespace);
    metadata.withObject("/labels").put("olm.managed", "true");
    return copy;
  }

  private static JsonNode annotation(JsonNode object, String name) {
    return object.path("metadata").path("annotations").path(name);
  }
}
