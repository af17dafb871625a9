package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.api.nrt.NodeResourceTopology.Attribute;
import io.numaoperator.api.nrt.NodeResourceTopology.Zone;
import io.numaoperator.api.nrt.NodeResourceTopology.ZoneResource;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ClusterVersion;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.plan.scheduler.KaiFacts;
import io.numaoperator.plan.scheduler.SchedulerFacts;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.scheduler.ExtenderCertificates;
import io.numaoperator.scheduler.KubernetesSecretStore;
import io.numaoperator.scheduler.SchedulerExtender;
import io.numaoperator.topology.AccountedPods;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A real kube-scheduler with the configuration that the BuiltIn provider renders, asking the
 * extender in this process. Nodes and their NodeResourceTopology are made up, and no kubelet runs:
 * what is shown is where pods are bound, and why not.
 */
@Tag("lab")
class SchedulerLabTest {
  private static final String NAMESPACE = "numa-operator-system";
  private static final String GPU = "nvidia.com/gpu";
  private static final long GI = 1L << 30;
  private static Lab lab;
  private static KubernetesClient client;
  private static ExtenderCertificates certificates;
  private static Process scheduler;
  private static SchedulerExtender extender;

  @BeforeAll
  static void up() throws Exception {
    lab = Lab.up("--no-nodes");
    client = lab.client();
    lab.kubectl(
        "apply", "-f", "src/main/resources/crds/topology.node.k8s.io_noderesourcetopologies.yaml");
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
    client
        .resource(
            new PriorityClassBuilder()
                .withNewMetadata()
                .withName("high")
                .endMetadata()
                .withValue(1000)
                .build())
        .create();
    certificates =
        new ExtenderCertificates(
            new KubernetesSecretStore(client, NAMESPACE),
            BuiltInScheduler.CLIENT_SECRET,
            BuiltInScheduler.host(NAMESPACE),
            Clock.systemUTC());
    certificates.ensure();
    extender = extender(0);
    scheduler = kubeScheduler(extender.port());
  }

  @AfterAll
  static void down() throws InterruptedException {
    scheduler.destroy();
    scheduler.waitFor(30, TimeUnit.SECONDS);
    extender.close();
    lab.close();
  }

  private static SchedulerExtender extender(int port) throws IOException, GeneralSecurityException {
    return SchedulerExtender.start(
        client,
        () -> new SchedulerExtender.Settings(Set.of("numa-scheduler"), false),
        certificates::material,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        Clock.systemUTC(),
        () -> {});
  }

  /** The real one, on this machine; only addresses and paths differ from what is rendered. */
  private static Process kubeScheduler(int port) throws IOException {
    var policy = new NumaPolicy();
    policy.getMetadata().setName("p");
    policy.setSpec(new NumaPolicySpec());
    var planned =
        (Provision.Objects)
            new BuiltInScheduler()
                .plan(
                    new SchedulerProvider.Input(
                        new ClusterFacts(
                            NAMESPACE,
                            "image",
                            new ClusterVersion(1, 36),
                            new ClusterVersion(1, 36),
                            false),
                        List.of(policy),
                        new SchedulerPolicy(),
                        new SchedulerFacts(Optional.of("r1"), false, KaiFacts.absent())));
    var rendered =
        planned.objects().stream()
            .filter(ConfigMap.class::isInstance)
            .map(object -> ((ConfigMap) object).getData().values().iterator().next())
            .findFirst()
            .orElseThrow();
    var mounted = Files.createDirectory(lab.file("numa-extender"));
    client
        .secrets()
        .inNamespace(NAMESPACE)
        .withName(BuiltInScheduler.CLIENT_SECRET)
        .get()
        .getData()
        .forEach((name, value) -> write(mounted.resolve(name), value));
    var config = lab.file("scheduler.yaml");
    Files.writeString(
        config,
        rendered
                .replace(
                    "https://" + BuiltInScheduler.host(NAMESPACE) + ":" + BuiltInScheduler.PORT,
                    "https://127.0.0.1:" + port)
                .replace("/etc/numa-extender", mounted.toString())
            + "clientConnection: {kubeconfig: %s}\n".formatted(lab.file("kubeconfig")));
    return new ProcessBuilder(
            Path.of(System.getProperty("lab.bin"), "kube-scheduler").toString(),
            "--config=" + config,
            "--secure-port=0",
            "--v=2")
        .redirectErrorStream(true)
        .redirectOutput(Path.of("target/scheduler-lab.log").toFile())
        .start();
  }

  private static void write(Path file, String base64) {
    try {
      Files.writeString(
          file, new String(Base64.getDecoder().decode(base64), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterEach
  void clear() {
    client.pods().inNamespace("default").withGracePeriod(0).delete();
    client.nodes().delete();
    client.resources(NodeResourceTopology.class).delete();
    await().atMost(Lab.PATIENCE).until(() -> extender.status().nodes().isEmpty());
  }

  /** A machine of two zones, each 8 CPUs, 8 Gi and 4 GPUs, which says that it is ready. */
  private static void node(String name) {
    var amounts =
        Map.of(
            "cpu",
            new Quantity("16"),
            "memory",
            new Quantity("16Gi"),
            "pods",
            new Quantity("110"),
            GPU,
            new Quantity("8"));
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kubernetes.io/hostname", name)
                .endMetadata()
                .build())
        .create();
    var ready =
        new NodeStatusBuilder()
            .withCapacity(amounts)
            .withAllocatable(amounts)
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .withLastHeartbeatTime(Instant.now().toString())
            .endCondition()
            .build();
    // its controllers write to a new node too
    await()
        .atMost(Lab.PATIENCE)
        .ignoreException(KubernetesClientException.class)
        .until(
            () ->
                client
                        .nodes()
                        .withName(name)
                        .editStatus(node -> node.edit().withStatus(ready).build())
                    != null);
    // the taint of a new node goes when its controller sees it ready
    await()
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                client.nodes().withName(name).get().getSpec().getTaints().stream()
                    .noneMatch(taint -> taint.getEffect().startsWith("No")));
  }

  private static void topology(
      String node, String policy, String scope, Map<String, Set<Integer>> pods, Zone... zones) {
    var accounted = new HashMap<String, Set<Integer>>();
    pods.forEach((name, on) -> accounted.put(AccountedPods.mark("default", name), on));
    var object = new NodeResourceTopology();
    object.getMetadata().setName(node);
    object
        .getMetadata()
        .setAnnotations(
            new HashMap<>(Map.of(AccountedPods.ANNOTATION, new AccountedPods(accounted).format())));
    object.attributes =
        new ArrayList<>(
            List.of(
                new Attribute(NodeResourceTopology.POLICY_ATTRIBUTE, policy),
                new Attribute(NodeResourceTopology.SCOPE_ATTRIBUTE, scope)));
    object.zones = List.of(zones);
    client.resource(object).fieldManager("numa-agent").forceConflicts().serverSideApply();
    await().atMost(Lab.PATIENCE).until(() -> extender.status().nodes().contains(node));
  }

  private static Zone zone(int id, int cpus, int gpus) {
    var zone = new Zone();
    zone.name = "node-" + id;
    zone.type = NodeResourceTopology.NUMA_ZONE_TYPE;
    zone.resources =
        List.of(
            resource("cpu", 8, 7, cpus),
            resource("memory", 8 * GI, 8 * GI, 8 * GI),
            resource(GPU, 4, 4, gpus));
    return zone;
  }

  private static ZoneResource resource(
      String name, long capacity, long allocatable, long available) {
    var resource = new ZoneResource();
    resource.name = name;
    resource.capacity = new Quantity(Long.toString(capacity));
    resource.allocatable = new Quantity(Long.toString(allocatable));
    resource.available = new Quantity(Long.toString(available));
    return resource;
  }

  private static PodBuilder guaranteed(String name, int gpus, int... cpus) {
    var pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace("default")
            .withName(name)
            .endMetadata()
            .withNewSpec()
            .withSchedulerName("numa-scheduler")
            .withTerminationGracePeriodSeconds(0L)
            .endSpec();
    for (int i = 0; i < cpus.length; i++) {
      var amounts =
          new HashMap<>(
              Map.of(
                  "cpu", new Quantity(Integer.toString(cpus[i])), "memory", new Quantity("1Gi")));
      if (gpus > 0) {
        amounts.put(GPU, new Quantity(Integer.toString(gpus)));
      }
      pod.editSpec()
          .addNewContainer()
          .withName("c" + i)
          .withImage("none")
          .withNewResources()
          .withRequests(amounts)
          .withLimits(amounts)
          .endResources()
          .endContainer()
          .endSpec();
    }
    return pod;
  }

  private static void create(PodBuilder pod) {
    client.resource(pod.build()).create();
  }

  private static Pod pod(String name) {
    return client.pods().inNamespace("default").withName(name).get();
  }

  private static String boundTo(String name) {
    return await()
        .atMost(Lab.PATIENCE)
        .until(
            () -> Optional.ofNullable(pod(name)).map(p -> p.getSpec().getNodeName()),
            Optional::isPresent)
        .orElseThrow();
  }

  private static void waits(String name, String... because) {
    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(pod(name).getStatus().getConditions())
                    .anySatisfy(
                        c -> {
                          assertThat(c.getType()).isEqualTo("PodScheduled");
                          assertThat(c.getReason()).isIn("Unschedulable", "SchedulerError");
                          assertThat(c.getMessage()).contains(because);
                        }));
    assertThat(pod(name).getSpec().getNodeName()).isNull();
  }

  @Test
  void goesToTheNodeWithAZoneThatFits() {
    node("node-1");
    node("node-2");
    topology("node-1", "single-numa-node", "pod", Map.of(), zone(0, 3, 4), zone(1, 3, 4));
    topology("node-2", "single-numa-node", "pod", Map.of(), zone(0, 3, 4), zone(1, 4, 4));
    create(guaranteed("fits-two", 0, 4));
    assertThat(boundTo("fits-two")).isEqualTo("node-2");
  }

  @Test
  void saysInNumbersWhyAPodWaits() {
    node("node-1");
    topology("node-1", "single-numa-node", "pod", Map.of(), zone(0, 7, 2), zone(1, 7, 2));
    create(guaranteed("four", 4, 1));
    waits("four", "zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2");
  }

  @Test
  void oneContainerThatFitsNoZoneKeepsThePodWaiting() {
    node("node-1");
    topology("node-1", "single-numa-node", "container", Map.of(), zone(0, 6, 0), zone(1, 6, 0));
    create(guaranteed("four-containers", 0, 2, 2, 2, 7));
    waits("four-containers", "container c3", "of 7 cpu free");
  }

  @Test
  void fewerZonesWin() {
    node("across");
    node("within");
    topology("across", "best-effort", "pod", Map.of(), zone(0, 7, 2), zone(1, 7, 2));
    topology("within", "best-effort", "pod", Map.of(), zone(0, 7, 1), zone(1, 7, 4));
    create(guaranteed("three", 3, 1));
    assertThat(boundTo("three")).isEqualTo("within");
  }

  @Test
  void theTightZoneIsFilledBeforeTheWholeOne() {
    node("whole");
    node("used");
    topology("whole", "single-numa-node", "pod", Map.of(), zone(0, 7, 4), zone(1, 7, 4));
    topology("used", "single-numa-node", "pod", Map.of(), zone(0, 7, 2), zone(1, 7, 4));
    create(guaranteed("two", 2, 1));
    assertThat(boundTo("two")).isEqualTo("used");
  }

  @Test
  void aNodeWithoutTopologyTakesNoAlignedPod() {
    node("unknown");
    create(guaranteed("one", 1, 1));
    waits("one", "it has no NodeResourceTopology");
    topology("unknown", "single-numa-node", "pod", Map.of(), zone(0, 7, 4), zone(1, 7, 4));
    assertThat(boundTo("one")).isEqualTo("unknown");
  }

  /** Two fit each alone, and not together, until the updater shows where the first one is. */
  @Test
  void theSecondWaitsUntilTheTopologyShowsTheFirst() {
    node("node-1");
    topology("node-1", "single-numa-node", "pod", Map.of(), zone(0, 7, 4), zone(1, 7, 0));
    create(guaranteed("first", 4, 1));
    boundTo("first");
    create(guaranteed("second", 4, 1));
    waits("second", "zone 0 has 0 of 4 nvidia.com/gpu free", "on the way");
    topology(
        "node-1",
        "single-numa-node",
        "pod",
        Map.of("first", Set.of(0)),
        zone(0, 6, 0),
        zone(1, 7, 4));
    boundTo("second");
  }

  @Test
  void aChangedScopeLetsAWaitingPodGo() {
    node("node-1");
    topology("node-1", "single-numa-node", "pod", Map.of(), zone(0, 4, 0), zone(1, 4, 0));
    create(guaranteed("two-containers", 0, 3, 3));
    waits("two-containers", "zone 0 has 4 of 6 cpu free");
    topology("node-1", "single-numa-node", "container", Map.of(), zone(0, 4, 0), zone(1, 4, 0));
    boundTo("two-containers");
  }

  /** Nothing of a node without a kubelet comes free by itself, so each pod takes what is left. */
  @Test
  void manyAtOnceTakeEachZoneOnce() {
    for (int i = 1; i <= 4; i++) {
      node("node-" + i);
      topology("node-" + i, "single-numa-node", "pod", Map.of(), zone(0, 7, 4), zone(1, 7, 4));
    }
    for (int i = 0; i < 16; i++) {
      create(guaranteed("pod-" + i, 4, 1));
    }
    await().atMost(Lab.PATIENCE).untilAsserted(() -> assertThat(boundPods()).hasSize(8));
    for (int i = 1; i <= 4; i++) {
      var name = "node-" + i;
      assertThat(boundPods()).filteredOn(p -> p.getSpec().getNodeName().equals(name)).hasSize(2);
    }
  }

  private static List<Pod> boundPods() {
    return client.pods().inNamespace("default").list().getItems().stream()
        .filter(p -> p.getSpec().getNodeName() != null)
        .toList();
  }

  @Test
  void withTheExtenderAwayPodsWaitAndGoOnWhenItIsBack() throws Exception {
    node("node-1");
    topology("node-1", "single-numa-node", "pod", Map.of(), zone(0, 7, 4), zone(1, 7, 4));
    int port = extender.port();
    extender.close();
    try {
      create(guaranteed("patient", 1, 1));
      waits("patient", "127.0.0.1:" + port);
    } finally {
      extender = extender(port);
    }
    boundTo("patient");
  }

  @Test
  void evictsOnlyWhereThatFreesAZone() {
    node("helps");
    node("not");
    var z0 = Set.of(0);
    var z1 = Set.of(1);
    topology(
        "helps",
        "single-numa-node",
        "pod",
        Map.of("a", z0, "b", z1, "c", z1),
        zone(0, 7, 0),
        zone(1, 7, 0));
    topology(
        "not",
        "single-numa-node",
        "pod",
        Map.of("d", z0, "e", z1, "f", z0, "g", z1),
        zone(0, 7, 0),
        zone(1, 7, 0));
    place("helps", "a", 4);
    place("helps", "b", 2);
    place("helps", "c", 2);
    for (var name : List.of("d", "e", "f", "g")) {
      place("not", name, 2);
    }
    create(guaranteed("urgent", 4, 1).editSpec().withPriorityClassName("high").endSpec());
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> pod("a") == null || pod("b") == null || pod("d") == null);
    assertThat(pod("d")).isNotNull();
    assertThat(pod("e")).isNotNull();
    assertThat(pod("f")).isNotNull();
    assertThat(pod("g")).isNotNull();
    assertThat(pod("urgent").getStatus().getNominatedNodeName()).isEqualTo("helps");
  }

  /** A pod that runs there, as if a kubelet had started it. */
  private static void place(String node, String name, int gpus) {
    create(guaranteed(name, gpus, 1).editSpec().withNodeName(node).endSpec());
    client
        .pods()
        .inNamespace("default")
        .withName(name)
        .editStatus(p -> p.edit().editStatus().withPhase("Running").endStatus().build());
  }
}
