package io.numaoperator.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.plan.PlannedImages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * The committed bundle against config/, crds/ and what the operator makes; not by its generator.
 */
class BundleFilesTest {
  private static final YAMLMapper YAML = new YAMLMapper();

  /** Of the namespaced ones: operator-registry's pkg/lib/bundle/supported_resources.go. */
  private static final Set<String> NAMESPACED_KINDS_OF_OLM =
      Set.of(
          "Service",
          "ServiceAccount",
          "Role",
          "RoleBinding",
          "PrometheusRule",
          "ServiceMonitor",
          "PodMonitor",
          "Secret",
          "ConfigMap",
          "PodDisruptionBudget",
          "NetworkPolicy");

  private final OlmInstall olm = OlmInstall.ofBundle();
  private final InstalledObjects installed = InstalledObjects.of(Path.of("config/default"));

  @Test
  void committedFilesAreThoseOfTheSources() throws IOException {
    var generated = BundleFiles.generate();
    for (var file : generated.entrySet()) {
      assertThat(BundleFiles.DIRECTORY.resolve(file.getKey()))
          .as("stale: run 'make bundle'")
          .hasContent(file.getValue());
    }
    assertThat(BundleFiles.DOCKERFILE).hasContent(BundleFiles.dockerfile());
    try (var committed = Files.walk(BundleFiles.DIRECTORY)) {
      assertThat(
              committed
                  .filter(Files::isRegularFile)
                  .map(file -> BundleFiles.DIRECTORY.relativize(file).toString()))
          .containsExactlyInAnyOrderElementsOf(generated.keySet());
    }
  }

  /** OLM ends the whole installation at a kind that it does not know. */
  @Test
  void manifestsAreOfKindsThatOlmTakesAndOfNoNamespace() {
    assertThat(olm.manifests())
        .isNotEmpty()
        .allSatisfy(
            manifest -> {
              if (!InstalledObjects.kind(manifest).equals("CustomResourceDefinition")) {
                assertThat(NAMESPACED_KINDS_OF_OLM).contains(InstalledObjects.kind(manifest));
              }
              assertThat(InstalledObjects.namespace(manifest)).isEmpty();
            });
  }

  /** Neither less nor, above all, more: a Role must not become a ClusterRole. */
  @Test
  void olmGivesTheOperatorTheRulesOfConfig() {
    for (var kind : List.of("ClusterRole", "Role")) {
      assertThat(ofKind(kind).map(role -> role.get("rules")))
          .as(kind)
          .containsExactlyInAnyOrderElementsOf(
              installed.of(kind).map(role -> role.get("rules")).toList());
    }
    assertThat(Stream.concat(ofKind("ClusterRoleBinding"), ofKind("RoleBinding")))
        .hasSize((int) Stream.concat(ofKind("ClusterRole"), ofKind("Role")).count())
        .allSatisfy(
            binding -> {
              assertThat(binding.path("subjects")).hasSize(1);
              var subject = binding.path("subjects").get(0);
              assertThat(subject.path("name").asText()).isEqualTo("numa-operator");
              assertThat(subject.path("namespace").asText(olm.namespace()))
                  .isEqualTo(olm.namespace());
            });
  }

  @Test
  void everyObjectOfConfigIsThereWithOlm() {
    assertThat(olm.objects().stream().map(BundleFilesTest::whatAndWhere).distinct())
        .containsAll(
            installed.objects().stream()
                .filter(o -> !InstalledObjects.kind(o).startsWith("ClusterRole"))
                .map(BundleFilesTest::whatAndWhere)
                .toList());
  }

  @Test
  void theDeploymentIsThatOfConfig() {
    var ours = installed.only("Deployment");
    var theirs = ofKind("Deployment").toList().getFirst();
    assertThat(theirs.path("metadata").path("labels").properties())
        .containsAll(ours.path("metadata").path("labels").properties());
    var spec = (ObjectNode) theirs.get("spec").deepCopy();
    // what OLM adds
    spec.remove("revisionHistoryLimit");
    ((ObjectNode) spec.path("template").path("metadata")).remove("annotations");
    for (var container : spec.path("template").path("spec").path("containers")) {
      var env = (ArrayNode) container.withArray("/env");
      env.remove(env.size() - 1);
    }
    assertThat(spec).isEqualTo(ours.get("spec"));
  }

  @Test
  void crdsAreThoseOfCrds() throws IOException {
    var crds =
        olm.manifests().stream()
            .filter(o -> InstalledObjects.kind(o).equals("CustomResourceDefinition"))
            .toList();
    assertThat(crds).hasSize(2);
    for (var crd : crds) {
      var file = Path.of("crds", InstalledObjects.name(crd) + ".yaml");
      assertThat(crd).isEqualTo(YAML.readTree(file.toFile()));
    }
    assertThat(StreamSupport.stream(owned().spliterator(), false).map(o -> o.path("name").asText()))
        .containsExactlyInAnyOrderElementsOf(crds.stream().map(InstalledObjects::name).toList());
  }

  @Test
  void examplesAreTheSamples() throws IOException {
    var samples = new ArrayList<JsonNode>();
    for (var file : Path.of("config/samples").toFile().listFiles()) {
      var sample = YAML.readTree(file);
      if (InstalledObjects.kind(sample).equals("NumaPolicy")) {
        samples.add(sample);
      }
    }
    var examples = new ObjectMapper().readTree(annotation("alm-examples"));
    assertThat(examples).containsExactlyInAnyOrderElementsOf(samples);
    var first =
        new ObjectMapper().readTree(annotation("operatorframework.io/initialization-resource"));
    assertThat(first.path("spec").path("mode").asText()).isEqualTo("Observe");
  }

  /** But for kube-scheduler in the API server's version, which no list can name. */
  @Test
  void everyImageThatTheOperatorRunsIsRelated() {
    var related =
        StreamSupport.stream(spec().path("relatedImages").spliterator(), false)
            .map(image -> image.path("image").asText())
            .toList();
    assertThat(related)
        .doesNotHaveDuplicates()
        .contains("registry.k8s.io/nfd/node-feature-discovery:v0.19.0")
        .containsAll(
            PlannedImages.all().stream()
                .filter(image -> !image.startsWith("registry.example/"))
                .filter(image -> !image.startsWith("registry.k8s.io/kube-scheduler:"))
                .toList());
    assertThat(annotation("containerImage"))
        .isIn(related)
        .endsWith(":" + spec().path("version").asText());
    assertThat(InstalledObjects.name(olm.csv()))
        .isEqualTo("numa-operator.v" + spec().path("version").asText());
  }

  @Test
  void itIsForAllNamespacesOnly() {
    var supported =
        StreamSupport.stream(spec().path("installModes").spliterator(), false)
            .filter(mode -> mode.path("supported").asBoolean())
            .map(mode -> mode.path("type").asText());
    assertThat(supported).containsExactly("AllNamespaces");
  }

  @Test
  void theImageHasTheLabelsOfTheAnnotations() throws IOException {
    var annotations =
        YAML.readTree(Path.of("bundle/metadata/annotations.yaml").toFile()).path("annotations");
    assertThat(annotations).isNotEmpty();
    assertThat(
            Files.readAllLines(BundleFiles.DOCKERFILE).stream()
                .filter(line -> line.startsWith("LABEL ")))
        .containsExactlyElementsOf(
            annotations.properties().stream()
                .map(a -> "LABEL %s=%s".formatted(a.getKey(), a.getValue().asText()))
                .toList());
  }

  private Stream<ObjectNode> ofKind(String kind) {
    return olm.objects().stream().filter(o -> InstalledObjects.kind(o).equals(kind));
  }

  private static String whatAndWhere(JsonNode object) {
    return "%s %s %s"
        .formatted(
            InstalledObjects.kind(object),
            InstalledObjects.namespace(object),
            InstalledObjects.name(object));
  }

  private JsonNode spec() {
    return olm.csv().path("spec");
  }

  private JsonNode owned() {
    return spec().path("customresourcedefinitions").path("owned");
  }

  private String annotation(String name) {
    return olm.csv().path("metadata").path("annotations").path(name).asText();
  }
}
