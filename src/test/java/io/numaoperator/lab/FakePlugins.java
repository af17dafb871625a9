package io.numaoperator.lab;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.Names;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * DaemonSets that stand for the device plugins that their owners install, on simulated machines:
 * what an operator sees of them, labels, environment and the ConfigMap that they mount. They read
 * nothing; DevicePluginLabTest has some that do.
 */
final class FakePlugins {
  static final List<String> NAMESPACES =
      List.of("nvidia-device-plugin", "hami-system", "gpu-operator");

  /** As the chart makes it of the values that docs/hami.md wants. */
  private static final Map<String, String> HAMI_ENV =
      Map.of(
          "PASS_DEVICE_SPECS", "true",
          "HAMI_SCHEDULER_ENDPOINT", "https://hami-scheduler.hami-system.svc:443",
          "HAMI_SCHEDULER_TLS_INSECURE", "false",
          "HAMI_SCHEDULER_CA_FILE", "/etc/hami/numa-refit-ca/ca.crt");

  private FakePlugins() {}

  static void namespaces(KubernetesClient client) {
    NAMESPACES.forEach(
        name ->
            client
                .resource(
                    new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build())
                .serverSideApply());
  }

  /**
   * From now on only this one runs, as its owner has pointed it where he was told to.
   *
   * @param provider None: none runs
   */
  static void run(KubernetesClient client, Provider provider) {
    run(client, provider, "");
  }

  /** With the ConfigMaps of ours, which outlive the last policy. */
  static void deleteAll(KubernetesClient client) {
    run(client, Provider.None, "");
    NAMESPACES.forEach(
        namespace ->
            client
                .configMaps()
                .inNamespace(namespace)
                .withLabel("app.kubernetes.io/part-of", "numa-operator")
                .delete());
  }

  /**
   * @param configMap what it mounts; empty: the one of its own chart
   */
  static void run(KubernetesClient client, Provider provider, String configMap) {
    NAMESPACES.forEach(n -> client.apps().daemonSets().inNamespace(n).delete());
    await("no plugin is left")
        .atMost(Lab.PATIENCE)
        .until(() -> NAMESPACES.stream().allMatch(n -> pods(client, n).isEmpty()));
    if (provider != Provider.None) {
      client.resource(daemonSet(provider, configMap)).create();
      await(provider + " runs")
          .atMost(Lab.PATIENCE)
          .until(
              () ->
                  NAMESPACES.stream()
                      .flatMap(n -> pods(client, n).stream())
                      .anyMatch(pod -> "Running".equals(pod.getStatus().getPhase())));
    }
  }

  private static List<Pod> pods(KubernetesClient client, String namespace) {
    return client.pods().inNamespace(namespace).list().getItems();
  }

  private static DaemonSet daemonSet(Provider provider, String configMap) {
    return switch (provider) {
      case NVIDIA ->
          daemonSet(
              "nvidia-device-plugin",
              "app.kubernetes.io/name: nvidia-device-plugin",
              "nvidia-device-plugin-ctr",
              "registry.example/k8s-device-plugin:v0.20.0",
              Map.of(),
              configMap.isEmpty() ? "plugin-configs" : configMap);
      case GPUOperator ->
          daemonSet(
              "gpu-operator",
              "app: nvidia-device-plugin-daemonset",
              "nvidia-device-plugin",
              "registry.example/k8s-device-plugin:v0.20.0",
              Map.of(),
              configMap.isEmpty() ? "default-configs" : configMap);
      case HAMi ->
          daemonSet(
              "hami-system",
              "app.kubernetes.io/component: hami-device-plugin",
              "device-plugin",
              "registry.example/hami:v2.10.1",
              configMap.isEmpty() ? Map.of() : HAMI_ENV,
              configMap.isEmpty() ? "hami-device-plugin" : configMap);
      case None -> throw new IllegalArgumentException("None is no plugin");
    };
  }

  private static DaemonSet daemonSet(
      String namespace,
      String label,
      String container,
      String image,
      Map<String, String> env,
      String configMap) {
    var set =
        Serialization.unmarshal(
            """
            apiVersion: apps/v1
            kind: DaemonSet
            metadata: {name: fake-plugin, namespace: NAMESPACE}
            spec:
              selector: {matchLabels: {fake: plugin}}
              template:
                metadata: {labels: {fake: plugin, LABEL}}
                spec:
                  tolerations: [{operator: Exists}]
                  terminationGracePeriodSeconds: 0
                  containers:
                  - {name: CONTAINER, image: IMAGE, securityContext: {privileged: true}}
                  volumes:
                  - {name: config, configMap: {name: CONFIG}}
            """
                .replace("NAMESPACE", namespace)
                .replace("LABEL", label)
                .replace("CONTAINER", container)
                .replace("IMAGE", image)
                .replace("CONFIG", configMap),
            DaemonSet.class);
    var target = set.getSpec().getTemplate().getSpec().getContainers().getFirst();
    target.setEnv(
        env.entrySet().stream()
            .map(e -> new EnvVarBuilder().withName(e.getKey()).withValue(e.getValue()).build())
            .toList());
    return set;
  }

  /** What the operator remembers of the node's plugin. */
  static String mark(KubernetesClient client, String node) {
    return Optional.ofNullable(client.nodes().withName(node).get().getMetadata().getAnnotations())
        .orElse(Map.of())
        .getOrDefault(Names.DEVICE_PLUGIN_ANNOTATION, "");
  }
}
