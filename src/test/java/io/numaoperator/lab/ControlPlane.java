package io.numaoperator.lab;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A real control plane without nodes, for the operator inside a Quarkus test. It runs there with
 * its own ServiceAccount and roles, as a pod would.
 */
public final class ControlPlane implements QuarkusTestResourceLifecycleManager {
  /** The operator's, with those of providers that are not installed by default. */
  private static final List<String> ROLES = List.of("rbac", "hami", "nvidia", "gpu-operator");

  private Lab lab;

  @Override
  public Map<String, String> start() {
    lab = Lab.up("--no-nodes", "--node-grace=50s");
    lab.kubectl("apply", "-k", "config/crd");
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
    lab.kubectl("create", "namespace", "numa-operator-system");
    FakePlugins.NAMESPACES.forEach(name -> lab.kubectl("create", "namespace", name));
    ROLES.forEach(roles -> lab.kubectl("apply", "-k", "config/" + roles));
    var token =
        lab.kubectl(
            "-n", "numa-operator-system", "create", "token", "numa-operator", "--duration=24h");
    Config config = lab.client().getConfiguration();
    return Map.of(
        "numa-operator.config-propagation",
        "2s", // no kubelet is late here
        "quarkus.kubernetes-client.api-server-url",
        config.getMasterUrl(),
        "quarkus.kubernetes-client.ca-cert-data",
        config.getCaCertData(),
        "quarkus.kubernetes-client.token",
        token.strip(),
        AdminClient.KUBECONFIG,
        lab.file("kubeconfig").toString());
  }

  /** Installs a published kind, and returns when it is served. */
  static void kind(KubernetesClient client, String file) {
    var crd =
        Serialization.unmarshal(
            read(Path.of("src/test/resources/crds", file + ".yaml")),
            CustomResourceDefinition.class);
    client.resource(crd).fieldManager("test").forceConflicts().serverSideApply();
    await(file)
        .atMost(Lab.PATIENCE)
        .ignoreExceptions()
        .until(
            () ->
                client
                        .genericKubernetesResources(
                            crd.getSpec().getGroup()
                                + "/"
                                + crd.getSpec().getVersions().stream()
                                    .filter(version -> version.getServed())
                                    .findFirst()
                                    .orElseThrow()
                                    .getName(),
                            crd.getSpec().getNames().getKind())
                        .list()
                    != null);
  }

  /** Those of KAI that the operator writes. */
  static void kaisKinds(KubernetesClient client) {
    List.of("kai.scheduler_configs", "kai.scheduler_schedulingshards", "scheduling.run.ai_queues")
        .forEach(file -> kind(client, file));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void stop() {
    if (lab != null) {
      lab.close();
    }
  }
}
