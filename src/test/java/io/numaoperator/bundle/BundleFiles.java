package io.numaoperator.bundle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator.Feature;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.plan.AllPlans;
import io.numaoperator.plan.PlannedImages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Makes the OLM bundle from what config/default installs, the CRDs and the samples ({@code make
 * bundle}).
 *
 * <p>Read in operator-lifecycle-manager v0.46 (catalog/operator.go, olm/operatorgroup.go): OLM puts
 * every namespaced object of a bundle into the operator's namespace, and makes cluster-wide what a
 * CSV lists as namespaced permissions when the operator is for all namespaces. So the Roles are
 * manifests of the bundle and not permissions of the CSV, and their bindings name the
 * ServiceAccount without a namespace, which is then the binding's own.
 */
final class BundleFiles {
  static final Path DIRECTORY = Path.of("bundle");
  static final Path DOCKERFILE = Path.of("bundle.Dockerfile");
  private static final Path TEXTS = Path.of("src/bundle");
  private static final String CHANNEL = "candidate";
  private static final YAMLMapper YAML =
      YAMLMapper.builder()
          .enable(Feature.MINIMIZE_QUOTES, Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
          .disable(Feature.WRITE_DOC_START_MARKER, Feature.SPLIT_LINES)
          .build();

  private BundleFiles() {}

  /** Path below the bundle's folder → content. */
  static Map<String, String> generate() {
    var installed = InstalledObjects.of(Path.of("config/default"));
    var csv = csv(installed);
    var files = new TreeMap<String, String>();
    files.put("manifests/numa-operator.clusterserviceversion.yaml", yaml(csv.toJson()));
    for (var object : installed.objects()) {
      switch (InstalledObjects.kind(object)) {
        // OLM makes these from the CSV, or, the namespace, its user does
        case "Namespace", "ServiceAccount", "Deployment", "ClusterRole", "ClusterRoleBinding" -> {}
        case "CustomResourceDefinition" ->
            files.put("manifests/" + InstalledObjects.name(object) + ".crd.yaml", yaml(object));
        case "Role", "RoleBinding", "Service", "NetworkPolicy", "PodDisruptionBudget" ->
            files.put(manifest(object), yaml(movable(object, namespace(installed))));
        default ->
            throw new IllegalStateException(
                "OLM does not take a %s from a bundle: %s"
                    .formatted(InstalledObjects.kind(object), InstalledObjects.name(object)));
      }
    }
    files.put("metadata/annotations.yaml", annotations());
    files.put("tests/scorecard/config.yaml", text("scorecard.yaml"));
    return files;
  }

  static String dockerfile() {
    var labels =
        annotationsOf().entrySet().stream()
            .map(entry -> "LABEL %s=%s%n".formatted(entry.getKey(), entry.getValue()))
            .collect(Collectors.joining());
    return """
        # The bundle as an image, for a catalogue: made by "make bundle", built from the repository's root.
        FROM scratch
        %sCOPY bundle/manifests /manifests/
        COPY bundle/metadata /metadata/
        COPY bundle/tests/scorecard /tests/scorecard/
        """
        .formatted(labels);
  }

  private static ClusterServiceVersion csv(InstalledObjects installed) {
    var samples = new TreeMap<String, JsonNode>();
    var made = new TreeMap<String, String>(Map.of("NumaNodeState", "v1alpha1"));
    AllPlans.objects()
        .forEach(o -> made.put(o.getKind(), o.getApiVersion().replaceFirst("^.*/", "")));
    try (var files = Files.list(Path.of("config/samples"))) {
      for (var file : files.sorted().toList()) {
        var sample = YAML.readTree(file.toFile());
        // kai-gang.yaml is a workload
        if (InstalledObjects.kind(sample).equals("NumaPolicy")) {
          samples.put(file.getFileName().toString(), sample);
        }
      }
      var images = new TreeSet<>(PlannedImages.all());
      images.removeIf(image -> image.startsWith("registry.k8s.io/kube-scheduler:"));
      images.removeIf(image -> image.startsWith("registry.example/numa-operator:"));
      return new ClusterServiceVersion(
          installed,
          samples,
          images,
          made,
          text("description.md"),
          Files.readString(Path.of("src/main/resources/page/icon.svg")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String namespace(InstalledObjects installed) {
    return InstalledObjects.name(installed.only("Namespace"));
  }

  private static String manifest(ObjectNode object) {
    return "manifests/%s.%s.yaml"
        .formatted(
            InstalledObjects.name(object), InstalledObjects.kind(object).toLowerCase(Locale.ROOT));
  }

  /** For whichever namespace the operator is installed into. */
  private static ObjectNode movable(ObjectNode object, String namespace) {
    if (!InstalledObjects.namespace(object).equals(namespace)) {
      throw new IllegalStateException(
          "OLM would put %s %s of namespace %s into the operator's own"
              .formatted(
                  InstalledObjects.kind(object),
                  InstalledObjects.name(object),
                  InstalledObjects.namespace(object)));
    }
    var copy = object.deepCopy();
    ((ObjectNode) copy.get("metadata")).remove("namespace");
    copy.path("subjects").forEach(subject -> ((ObjectNode) subject).remove("namespace"));
    return copy;
  }

  private static Map<String, String> annotationsOf() {
    var annotations = new LinkedHashMap<String, String>();
    var bundle = "operators.operatorframework.io.bundle.";
    annotations.put(bundle + "mediatype.v1", "registry+v1");
    annotations.put(bundle + "manifests.v1", "manifests/");
    annotations.put(bundle + "metadata.v1", "metadata/");
    annotations.put(bundle + "package.v1", ClusterServiceVersion.PACKAGE);
    annotations.put(bundle + "channels.v1", CHANNEL);
    annotations.put(bundle + "channel.default.v1", CHANNEL);
    annotations.put("operators.operatorframework.io.test.mediatype.v1", "scorecard+v1");
    annotations.put("operators.operatorframework.io.test.config.v1", "tests/scorecard/");
    return annotations;
  }

  private static String annotations() {
    return yaml(YAML.valueToTree(Map.of("annotations", annotationsOf())));
  }

  private static String text(String file) {
    try {
      return Files.readString(TEXTS.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String yaml(JsonNode tree) {
    try {
      return YAML.writeValueAsString(tree);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String... args) throws IOException {
    if (Files.exists(DIRECTORY)) {
      try (var old = Files.walk(DIRECTORY)) {
        for (var file : old.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
    for (var file : generate().entrySet()) {
      var path = DIRECTORY.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue());
    }
    Files.writeString(DOCKERFILE, dockerfile());
  }
}
