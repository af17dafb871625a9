package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Git's state on a real API server beside the running operator; nodes are objects only. */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class GitOpsQuarkusLabTest {
  /** As little as a policy may say, with what Argo CD and Flux put on what they apply. */
  private static final String POLICY =
      """
      apiVersion: numaoperator.io/v1alpha1
      kind: NumaPolicy
      metadata:
        name: from-git
        labels:
          app.kubernetes.io/instance: platform
          argocd.argoproj.io/instance: platform
          kustomize.toolkit.fluxcd.io/name: platform
          kustomize.toolkit.fluxcd.io/namespace: flux-system
          team: hpc
        annotations:
          argocd.argoproj.io/tracking-id: platform:numaoperator.io/NumaPolicy:/from-git
          kustomize.toolkit.fluxcd.io/reconcile: enabled
      spec:
        mode: Enforce
        nodeSelector: {matchLabels: {pool: git}}
        rollout: {onDelete: Restore}
      """;

  @Inject @AsAdmin KubernetesClient client;

  /** Both ways to apply, and the comparisons that Argo CD and people make. */
  @Test
  void theSameStateTwiceIsNoChange() throws Exception {
    node();
    var policy = file(POLICY);
    kubectl(0, "apply", "--server-side", "--field-manager=argocd-controller", "-f", policy);
    await().atMost(Lab.PATIENCE).until(this::isSettled);
    assertThat(get().getMetadata().getFinalizers()).as("is the operator's").hasSize(1);

    var before = get();
    kubectl(0, "apply", "--server-side", "--field-manager=argocd-controller", "-f", policy);
    assertThat(get().getMetadata().getGeneration()).isEqualTo(before.getMetadata().getGeneration());
    // exit code 0: kubectl found no difference
    kubectl(0, "diff", "--server-side", "--field-manager=argocd-controller", "-f", policy);
    kubectl(
        1,
        "diff",
        "--server-side",
        "--field-manager=argocd-controller",
        "-f",
        file(POLICY.replace("mode: Enforce", "mode: Observe")));

    // the install, and a policy, by client-side apply
    var other =
        file(POLICY.replace("from-git", "from-git-too").replace("pool: git", "pool: other"));
    for (var arguments : List.of(List.of("-k", "config/default"), List.of("-f", other))) {
      kubectl(0, Stream.concat(Stream.of("apply"), arguments.stream()));
      kubectl(0, Stream.concat(Stream.of("diff"), arguments.stream()));
      assertThat(kubectl(0, Stream.concat(Stream.of("apply"), arguments.stream())).lines())
          .isNotEmpty()
          .allMatch(line -> line.endsWith(" unchanged"));
    }
  }

  /** Argo CD prunes what carries its mark and is not in Git. */
  @Test
  void whatTheOperatorMakesCarriesNoMarkOfThePolicy() throws Exception {
    node();
    kubectl(0, "apply", "--server-side", "-f", file(POLICY));
    await().atMost(Lab.PATIENCE).until(this::isSettled);
    var made = new ArrayList<GenericKubernetesResource>();
    var kinds =
        kubectl(0, "api-resources", "--verbs=list", "-o", "name").lines().map(String::strip);
    for (var kind : kinds.toList()) {
      var list = kubectl(0, "get", kind, "-A", "-o", "json", "--show-managed-fields");
      Serialization.unmarshal(list, GenericKubernetesResourceList.class).getItems().stream()
          .filter(GitOpsQuarkusLabTest::isMade)
          .forEach(made::add);
    }
    assertThat(made)
        .extracting(GenericKubernetesResource::getKind)
        .contains("DaemonSet", "ClusterRole", "ServiceAccount", "NumaNodeState");
    assertThat(made)
        .allSatisfy(
            object ->
                assertThat(marks(object))
                    .noneMatch(
                        key ->
                            key.contains("argocd")
                                || key.contains("fluxcd")
                                || key.equals("app.kubernetes.io/instance")
                                || key.equals("team")));
  }

  private static boolean isMade(GenericKubernetesResource object) {
    return !object.getKind().equals("NumaPolicy")
        && object.getMetadata().getManagedFields().stream()
            .anyMatch(field -> Names.OPERATOR_FIELD_MANAGER.equals(field.getManager()));
  }

  private static List<String> marks(GenericKubernetesResource object) {
    return Stream.of(object.getMetadata().getLabels(), object.getMetadata().getAnnotations())
        .filter(Objects::nonNull)
        .flatMap(map -> map.keySet().stream())
        .toList();
  }

  private void node() {
    var node =
        new NodeBuilder()
            .withNewMetadata()
            .withName("git-1")
            .withLabels(Map.of("pool", "git"))
            .endMetadata()
            .build();
    client.resource(node).serverSideApply();
  }

  private NumaPolicy get() {
    return client.resources(NumaPolicy.class).withName("from-git").get();
  }

  /** The operator has looked at it, and made its objects. */
  private boolean isSettled() {
    return Optional.ofNullable(get().getStatus())
            .filter(s -> get().getMetadata().getGeneration().equals(s.observedGeneration))
            .isPresent()
        && client
                .apps()
                .daemonSets()
                .inNamespace("numa-operator-system")
                .withName("numa-agent")
                .get()
            != null;
  }

  private static String file(String content) throws IOException {
    return Files.writeString(Files.createTempFile("git", ".yaml"), content).toString();
  }

  private String kubectl(int exitCode, String... arguments) throws Exception {
    return kubectl(exitCode, Stream.of(arguments));
  }

  private String kubectl(int exitCode, Stream<String> arguments) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("lab.bin"), "kubectl").toString());
    command.add("--kubeconfig=" + kubeconfig());
    arguments.forEach(command::add);
    var output = Files.createTempFile("kubectl", ".out");
    var warnings = Files.createTempFile("kubectl", ".err");
    var process =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(warnings.toFile())
            .start();
    int ended = process.waitFor();
    assertThat(ended)
        .as("%s: %s%s", command, Files.readString(output), Files.readString(warnings))
        .isEqualTo(exitCode);
    return Files.readString(output);
  }

  private String kubeconfig() throws IOException {
    var config = client.getConfiguration();
    return file(
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: lab, cluster: {server: "%s", certificate-authority-data: %s}}]
        users: [{name: lab, user: {client-certificate-data: %s, client-key-data: %s}}]
        contexts: [{name: lab, context: {cluster: lab, user: lab}}]
        current-context: lab
        """
            .formatted(
                config.getMasterUrl(),
                config.getCaCertData(),
                config.getClientCertData(),
                config.getClientKeyData()));
  }
}
