package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletPolicy.TopologyScope;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.nvidia.ClusterPolicy;
import io.numaoperator.plan.device.NvidiaConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * One pool goes from one device plugin to the next and back to none, on two real kubelets. The
 * plugins are fakes that read their configuration as the real ones do (fake-device-plugins.yaml);
 * the operator has no more rights than its roles give it.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DevicePluginLabTest {
  private static final String POLICY = "gpu-nodes";
  private static final List<String> NODES = List.of("gpu-1", "gpu-2");
  private static final List<String> NAMESPACES =
      List.of("nvidia-device-plugin", "hami-system", "gpu-operator");

  private static Lab lab;
  private static KubernetesClient client;
  private static final CordonWatch CORDONS = new CordonWatch();

  /** Sees every moment at which a node is out of service. */
  private static final class CordonWatch implements Watcher<Node> {
    private final Set<String> out = new ConcurrentSkipListSet<>();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger cordons = new AtomicInteger();

    @Override
    public void eventReceived(Action action, Node node) {
      if (!Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
        out.remove(node.getMetadata().getName());
      } else if (out.add(node.getMetadata().getName())) {
        cordons.incrementAndGet();
      }
      most.accumulateAndGet(out.size(), Math::max);
    }

    @Override
    public void onClose(WatcherException cause) {
      if (cause != null) {
        most.set(Integer.MAX_VALUE); // a watch that broke proves nothing
      }
    }
  }

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "2");
    client = lab.client();
    client.nodes().watch(CORDONS);
    lab.kubectl(
        "apply", "--server-side", "-f", "src/test/resources/crds/nvidia.com_clusterpolicies.yaml");
    NAMESPACES.forEach(namespace -> lab.kubectl("create", "namespace", namespace));
    for (var roles : List.of("config/nvidia", "config/hami", "config/gpu-operator")) {
      lab.kubectl("apply", "-k", roles);
    }
    lab.install();
    lab.kubectl("apply", "-f", "src/test/resources/lab/fake-device-plugins.yaml");
    var policy = Lab.sample();
    policy.getSpec().scheduler.provider = SchedulerPolicy.Provider.None;
    policy.getSpec().kubelet.topologyManager.scope = TopologyScope.Container;
    client.resource(policy).create();
    NODES.forEach(node -> lab.awaitNode(node, "AlignmentReady", Lab::isTrue));
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  // ---- NVIDIA's plugin

  @Test
  @Order(1)
  void tellsTheOwnerOnceWhatToRunAndTouchesNothingBefore() {
    runPlugin("nvidia");
    edit(policy -> policy.getSpec().devicePlugin.provider = Provider.NVIDIA);
    lab.awaitPolicy(
        POLICY,
        "DevicesReporting",
        c ->
            c.reason.equals("HelmOwnerMustReferToConfig")
                && c.message.contains("--set config.name=numaoperator-nvidia-config"));
    lab.awaitNode("gpu-1", "DevicesReporting", c -> c.reason.equals("HelmOwnerMustReferToConfig"));
    assertThat(configMap("nvidia-device-plugin", "numaoperator-nvidia-config").getData())
        .containsKey("default");
    NODES.forEach(node -> assertThat(label(node)).isEmpty());
  }

  @Test
  @Order(2)
  void loadsItsConfigurationNodeByNode() {
    int cordons = CORDONS.cordons.get();
    // what the helm upgrade would do
    lab.kubectl(
        "-n",
        "nvidia-device-plugin",
        "patch",
        "daemonset",
        "fake-nvidia-device-plugin",
        "-p",
        "{\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"available-configs\","
            + "\"configMap\":{\"name\":\"numaoperator-nvidia-config\"}}]}}}}");
    for (var node : NODES) {
      lab.awaitNode(node, "DevicesReporting", Lab::isTrue);
      var label = label(node).orElseThrow();
      assertThat(NvidiaConfig.isOurs(label)).isTrue();
      await()
          .untilAsserted(
              () ->
                  assertThat(log(node, "nvidia-device-plugin"))
                      .contains("loaded " + label, "passDeviceSpecs: true", "migStrategy: none"));
    }
    lab.awaitPolicy(POLICY, "DevicesReporting", Lab::isTrue);
    assertThat(CORDONS.cordons.get() - cordons).isEqualTo(2);
  }

  @Test
  @Order(3)
  void twoPluginsOnOneNodeAreToldAndNothingIsReady() {
    lab.kubectl("label", "node", "gpu-1", "plugin-too=hami");
    lab.kubectl(
        "-n",
        "hami-system",
        "patch",
        "daemonset",
        "fake-hami-device-plugin",
        "--type=json",
        "-p",
        "[{\"op\":\"replace\",\"path\":\"/spec/template/spec/nodeSelector\","
            + "\"value\":{\"plugin-too\":\"hami\"}}]");
    lab.awaitNode("gpu-1", "DevicesReporting", c -> c.reason.equals("DevicePluginsConflict"));
    lab.kubectl(
        "-n",
        "hami-system",
        "patch",
        "daemonset",
        "fake-hami-device-plugin",
        "--type=json",
        "-p",
        "[{\"op\":\"replace\",\"path\":\"/spec/template/spec/nodeSelector\","
            + "\"value\":{\"plugin\":\"hami\"}}]");
    lab.awaitNode("gpu-1", "DevicesReporting", Lab::isTrue);
  }

  // ---- HAMi's

  /** The labels go, the entries come, each node out of service for both. */
  @Test
  @Order(4)
  void changesToHami() {
    runPlugin("hami");
    edit(policy -> policy.getSpec().devicePlugin.provider = Provider.HAMi);
    for (var node : NODES) {
      await(node + " loaded its entry")
          .atMost(Lab.LONG)
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(log(node, "hami-system"))
                      .contains("\"" + node + "\"", "\"enablenumatopology\" : true"));
      await(node).atMost(Lab.LONG).until(() -> mark(node).startsWith("HAMi/Loaded/"));
      lab.awaitNode(node, "DevicesReporting", Lab::isTrue);
      assertThat(label(node)).isEmpty();
    }
  }

  /** Read at the plugin's start only: a changed entry needs another pod. */
  @Test
  @Order(5)
  void aChangedEntryIsLoadedByANewPlugin() {
    var before = NODES.stream().map(node -> plugin(node, "hami-system")).toList();
    edit(
        policy -> {
          policy.getSpec().devicePlugin.hami = new io.numaoperator.api.DevicePluginPolicy.Hami();
          policy.getSpec().devicePlugin.hami.deviceSplitCount = 7;
        });
    for (var node : NODES) {
      await(node + " loaded another entry")
          .atMost(Lab.LONG)
          .ignoreExceptions()
          .until(() -> log(node, "hami-system").contains("\"devicesplitcount\" : 7"));
      lab.awaitNode(node, "DevicesReporting", Lab::isTrue);
    }
    assertThat(NODES.stream().map(node -> plugin(node, "hami-system")).toList())
        .extracting(pod -> pod.getMetadata().getUid())
        .doesNotContainAnyElementsOf(
            before.stream().map(pod -> pod.getMetadata().getUid()).toList());
  }

  // ---- the GPU Operator's

  @Test
  @Order(6)
  void helmsClusterPolicyIsNeverWritten() {
    lab.kubectl("create", "-f", clusterPolicy("{app.kubernetes.io/managed-by: Helm}"));
    runPlugin("gpu-operator");
    edit(
        policy -> {
          policy.getSpec().devicePlugin.hami = null;
          policy.getSpec().devicePlugin.provider = Provider.GPUOperator;
        });
    lab.awaitPolicy(POLICY, "DevicesReporting", c -> c.reason.equals("ClusterPolicyIsHelms"));
    assertThat(clusterPolicy().getMetadata().getGeneration()).isEqualTo(1);
    lab.kubectl("delete", "clusterpolicy", "cluster-policy");
  }

  /** The others' fields stay, also when ours goes again. */
  @Test
  @Order(7)
  void exactlyOneFieldOfAClusterPolicyIsOurs() {
    lab.kubectl("create", "--validate=strict", "-f", clusterPolicy("{}"));
    await()
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(
            () -> clusterPolicy().getSpec().devicePlugin.config.name,
            "numaoperator-nvidia-config"::equals);
    var fields =
        clusterPolicy().getMetadata().getManagedFields().stream()
            .filter(entry -> entry.getManager().equals(Names.OPERATOR_FIELD_MANAGER))
            .map(entry -> Serialization.asJson(entry.getFieldsV1()))
            .toList();
    assertThat(fields)
        .containsExactly("{\"f:spec\":{\"f:devicePlugin\":{\"f:config\":{\"f:name\":{}}}}}");
  }

  @Test
  @Order(8)
  void noneLeavesNothingBehind() {
    edit(
        policy -> {
          policy.getSpec().devicePlugin.gpuOperator = null;
          policy.getSpec().devicePlugin.provider = Provider.None;
        });
    await("the ClusterPolicy is as it was")
        .atMost(Lab.LONG)
        .until(() -> clusterPolicy().getSpec().devicePlugin.config == null);
    assertThat(
            client
                .resources(ClusterPolicy.class)
                .withName("cluster-policy")
                .get()
                .getMetadata()
                .getManagedFields())
        .extracting(entry -> entry.getManager())
        .doesNotContain(Names.OPERATOR_FIELD_MANAGER);
    // the owners take their plugins away, which still mount our ConfigMaps
    lab.kubectl("-n", "nvidia-device-plugin", "delete", "daemonset", "fake-nvidia-device-plugin");
    lab.kubectl("-n", "hami-system", "delete", "daemonset", "fake-hami-device-plugin");
    for (var node : NODES) {
      await(node).atMost(Lab.LONG).until(() -> mark(node).isEmpty() && label(node).isEmpty());
      lab.awaitNode(node, "DevicesReporting", Lab::isTrue);
    }
    await("our ConfigMaps are gone")
        .atMost(Lab.LONG)
        .untilAsserted(
            () ->
                assertThat(
                        NAMESPACES.stream()
                            .flatMap(
                                namespace ->
                                    client
                                        .configMaps()
                                        .inNamespace(namespace)
                                        .withLabel("app.kubernetes.io/managed-by", "numa-operator")
                                        .list()
                                        .getItems()
                                        .stream())
                            .map(object -> object.getMetadata().getName()))
                    .isEmpty());
    assertThat(CORDONS.most).hasValue(1);
  }

  // ---- helpers

  /** Whose plugin the nodes run from now on. */
  private static void runPlugin(String name) {
    lab.kubectl("label", "--overwrite", "node", "--all", "plugin=" + name);
  }

  private static String clusterPolicy(String labels) {
    try {
      return Files.writeString(
              Files.createTempFile("cluster-policy", ".yaml"),
              """
              apiVersion: nvidia.com/v1
              kind: ClusterPolicy
              metadata: {name: cluster-policy, labels: %s}
              spec:
                operator: {defaultRuntime: containerd}
                driver: {enabled: false}
                toolkit: {}
                devicePlugin: {enabled: true}
                dcgm: {}
                dcgmExporter: {}
                nodeStatusExporter: {}
                daemonsets: {}
                gfd: {}
              """
                  .formatted(labels))
          .toString();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static ClusterPolicy clusterPolicy() {
    return client.resources(ClusterPolicy.class).withName("cluster-policy").get();
  }

  private static ConfigMap configMap(String namespace, String name) {
    return client.configMaps().inNamespace(namespace).withName(name).get();
  }

  private static Optional<String> label(String node) {
    return Optional.ofNullable(
        client.nodes().withName(node).get().getMetadata().getLabels().get(NvidiaConfig.NODE_LABEL));
  }

  private static String mark(String node) {
    return Optional.ofNullable(client.nodes().withName(node).get().getMetadata().getAnnotations())
        .orElse(Map.of())
        .getOrDefault(Names.DEVICE_PLUGIN_ANNOTATION, "");
  }

  private static Pod plugin(String node, String namespace) {
    return client
        .pods()
        .inNamespace(namespace)
        .withField("spec.nodeName", node)
        .list()
        .getItems()
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .findFirst()
        .orElseThrow();
  }

  private static String log(String node, String namespace) {
    return client
        .pods()
        .inNamespace(namespace)
        .withName(plugin(node, namespace).getMetadata().getName())
        .getLog();
  }

  private static void edit(Consumer<NumaPolicy> change) {
    lab.edit(POLICY, change);
  }
}
