package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The Helm chart against config/: both are rendered, by Helm's engine and by kubectl, and compared
 * object by object. It wants the lab's binaries, and no lab.
 */
@Tag("lab")
class ChartLabTest {
  private static final String DEPLOYMENT = "Deployment/numa-operator-system/numa-operator";

  @Test
  void withItsValuesItIsConfigDefault() {
    var made = objects(Chart.template());
    assertThat(made).hasSizeGreaterThan(30);
    assertSame(made, config("default"));
  }

  @Test
  void withAllOnItIsAllOfConfig() {
    assertSame(
        objects(
            Chart.template(
                "prometheus.enabled=true",
                "networkPolicy.enabled=true",
                "roles.nvidia=true",
                "roles.gpuOperator=true",
                "roles.hami=true",
                "roles.cleanupFailedPods=true")),
        config(
            "default",
            "prometheus",
            "network-policy",
            "nvidia",
            "gpu-operator",
            "hami",
            "cleanup-failed-pods"));
  }

  /** Each switch takes away what is in its file, and nothing else. */
  @ParameterizedTest
  @CsvSource({
    "roles.builtInScheduler=false, config/rbac/scheduler_builtin.yaml",
    "roles.schedulerAssignment=false, config/rbac/scheduler_assignment.yaml",
    "roles.kai=false, config/rbac/scheduler_kai.yaml",
    "roles.nfd=false, config/rbac/topology_updater_nfd.yaml",
    "roles.openShift=false, config/rbac/delivery_openshift.yaml",
    "roles.externalDelivery=false, config/rbac/delivery_external.yaml",
    "namespace.create=false, config/manager/namespace.yaml",
    "crds.enabled=false, crds",
    // BuiltIn, which is on, needs it too
    "roles.nodeResourceTopologyMatch=false, ''",
  })
  void aSwitchIsForItsFile(String value, String file) throws IOException {
    var expected = config("default");
    for (var gone : file.isEmpty() ? List.<Path>of() : files(Path.of(file))) {
      var held = objects(Files.readString(gone)).keySet();
      assertThat(expected).containsKeys(held.toArray(String[]::new));
      expected.keySet().removeAll(held);
    }
    assertSame(objects(Chart.template(value)), expected);
  }

  private static List<Path> files(Path path) throws IOException {
    try (var files = Files.walk(path)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> !file.endsWith("kustomization.yaml"))
          .toList();
    }
  }

  @Test
  void whatPeopleSetIsInIt() {
    var made =
        objects(
            Chart.template(
                "image.repository=registry.example/numa",
                "image.digest=sha256:" + "a".repeat(64),
                "image.pullPolicy=Always",
                "replicas=3",
                "resources.limits.memory=1Gi",
                "nodeSelector.pool=infra",
                "tolerations[0].key=infra",
                "tolerations[0].operator=Exists",
                "priorityClassName=infra",
                "page.enabled=false",
                "crds.keep=true",
                "prometheus.enabled=true",
                "networkPolicy.enabled=true",
                "networkPolicy.apiServerPorts={16443}",
                "roles.hami=true",
                "namespaces.hami=kube-system",
                "roles.nvidia=true",
                "namespaces.nvidia=gpus",
                "roles.gpuOperator=true",
                "namespaces.gpuOperator=gpus"));
    var spec = made.get(DEPLOYMENT).get("spec");
    var pod = spec.at("/template/spec");
    var container = pod.at("/containers/0");
    var image = "registry.example/numa@sha256:" + "a".repeat(64);
    assertThat(spec.get("replicas").asInt()).isEqualTo(3);
    assertThat(container.get("image").asText()).isEqualTo(image);
    assertThat(container.get("imagePullPolicy").asText()).isEqualTo("Always");
    assertThat(environment(container))
        .containsEntry("OPERATOR_IMAGE", image)
        .containsEntry("PAGE_ENABLED", "false");
    assertThat(container.at("/resources/limits/memory").asText()).isEqualTo("1Gi");
    assertThat(container.at("/resources/requests/memory").asText()).isEqualTo("256Mi");
    assertThat(pod.at("/nodeSelector/pool").asText()).isEqualTo("infra");
    assertThat(pod.get("tolerations").toString())
        .isEqualTo("[{\"key\":\"infra\",\"operator\":\"Exists\"}]");
    assertThat(pod.get("priorityClassName").asText()).isEqualTo("infra");
    assertThat(made)
        .doesNotContainKey("Service/numa-operator-system/numa-operator-page")
        .containsKeys(
            "Role/kube-system/numa-operator-hami",
            "RoleBinding/kube-system/numa-operator-hami",
            "Role/gpus/numa-operator-nvidia",
            "RoleBinding/gpus/numa-operator-gpu-operator");
    assertThat(
            made.get("NetworkPolicy/numa-operator-system/numa-scheduler")
                .at("/spec/egress/0/ports")
                .toString())
        .isEqualTo("[{\"protocol\":\"TCP\",\"port\":16443}]");
    assertThat(
            made.get("CustomResourceDefinition//numapolicies.numaoperator.io")
                .at("/metadata/annotations/helm.sh~1resource-policy")
                .asText())
        .isEqualTo("keep");
  }

  @ParameterizedTest
  @CsvSource({
    "roles.kay=true, kay",
    "replicas=many, replicas",
    "image.digest=latest, digest",
    "crds.keep=perhaps, keep"
  })
  void aMistakeIsRefused(String value, String named) {
    assertThatThrownBy(() -> Chart.template(value))
        .hasMessageContainingAll("values don't meet", named);
  }

  /** The same objects, and each the same: their names are told where they are not. */
  private static void assertSame(Map<String, JsonNode> made, Map<String, JsonNode> expected) {
    assertThat(made).containsOnlyKeys(expected.keySet());
    // kubectl writes the 1.0 of a CRD as 1
    assertThat(made.keySet())
        .filteredOn(key -> !made.get(key).equals(ChartLabTest::byValue, expected.get(key)))
        .as("differ")
        .isEmpty();
  }

  private static int byValue(JsonNode one, JsonNode other) {
    return one.isNumber() && other.isNumber()
        ? one.decimalValue().compareTo(other.decimalValue())
        : one.equals(other) ? 0 : 1;
  }

  private static Map<String, String> environment(JsonNode container) {
    var environment = new TreeMap<String, String>();
    container
        .get("env")
        .forEach(
            variable ->
                environment.put(variable.get("name").asText(), variable.path("value").asText()));
    return environment;
  }

  private static Map<String, JsonNode> config(String... folders) {
    return objects(Stream.of(folders).map(Chart::kustomize).collect(Collectors.joining("---\n")));
  }

  /** {@code Kind/namespace/name} → object. */
  private static Map<String, JsonNode> objects(String yaml) {
    var objects = new TreeMap<String, JsonNode>();
    try (var documents = new YAMLMapper().readerFor(JsonNode.class).<JsonNode>readValues(yaml)) {
      for (var document : new ArrayList<>(documents.readAll())) {
        if (document.isObject()) {
          var metadata = document.get("metadata");
          var key =
              String.join(
                  "/",
                  document.get("kind").asText(),
                  metadata.path("namespace").asText(),
                  metadata.get("name").asText());
          assertThat(objects.put(key, document)).as(key + " twice").isNull();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return objects;
  }
}
