package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.ReplicaSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Breaks each link of a node that is ready, with a real kubelet, and measures how long the node
 * goes on being called so. A device plugin that reports no zone is not among them: the lab's always
 * does (NodeReadinessTest has it).
 */
@Tag("interruption")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ReadinessLabTest {
  private static final String POLICY = "gpu-nodes";
  private static final String OPERATOR = "numa-operator-system";
  private static final String GPU = "nvidia.com/gpu";

  /** For a fault that the agent can see. */
  private static final Duration AT_ONCE = Duration.ofSeconds(10);

  /** Another's updater may be late by its interval of 5 s and 15 s. */
  private static final Duration ANOTHERS = AT_ONCE.plusSeconds(20);

  /** For an agent that hangs: its sign of life may be 20 s old, and is looked at every 5 s. */
  private static final Duration SILENT = Duration.ofSeconds(40);

  /**
   * kube-controller-manager's node-monitor-grace-period of 50 s, its look every 5 s, and what a
   * node of the lab takes to stop.
   */
  private static final Duration GRACE = Duration.ofSeconds(110);

  private static Lab lab;
  private static KubernetesClient client;

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "2");
    client = lab.client();
    lab.install();
    var policy = Lab.sample();
    policy.getSpec().rollout.maxUnavailable = new IntOrString(2);
    client.resource(policy).create();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  // ---- helpers

  private static void edit(Consumer<NumaPolicy> change) {
    lab.edit(POLICY, change);
  }

  private static Condition alignment(String node) {
    return lab.condition(node, "AlignmentReady").orElseThrow();
  }

  private static boolean isLabelled(String node) {
    return "true"
        .equals(
            client.nodes().withName(node).get().getMetadata().getLabels().get(Names.ALIGNED_LABEL));
  }

  private static void awaitReady(String... nodes) {
    await()
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptions()
        .untilAsserted(
            () ->
                assertThat(nodes)
                    .allSatisfy(
                        node -> {
                          assertThat(alignment(node).status)
                              .as("%s: %s", node, alignment(node).message)
                              .isEqualTo(Status.True);
                          assertThat(isLabelled(node)).isTrue();
                        }));
  }

  /** Breaks a ready node and waits until it is told; the label goes with it. */
  private static void flips(
      String link, String node, Runnable breakIt, Predicate<Condition> as, Duration limit) {
    awaitReady(node);
    breakIt.run();
    long broken = System.nanoTime();
    await(link)
        .atMost(Lab.LONG)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> alignment(node).status != Status.True);
    var told = Duration.ofNanos(System.nanoTime() - broken);
    await(link + ": the label").atMost(Lab.PATIENCE).until(() -> !isLabelled(node));
    await(link + ": the reason").atMost(Lab.PATIENCE).until(() -> as.test(alignment(node)));
    System.out.printf(
        "not ready after %.1f s: %s (%s)%n",
        told.toMillis() / 1000.0, link, alignment(node).reason);
    assertThat(told).as(link).isLessThan(limit);
  }

  /** Of what nobody mends by himself. */
  private static void staysSo(String node) {
    await(node + " stays so")
        .during(Duration.ofSeconds(5))
        .atMost(Lab.PATIENCE)
        .until(() -> alignment(node).status != Status.True && !isLabelled(node));
  }

  private static Predicate<Condition> reason(String... reasons) {
    return c -> List.of(reasons).contains(c.reason);
  }

  private static Optional<Pod> agent(String node) {
    return client
        .pods()
        .inNamespace(OPERATOR)
        .withLabel("app.kubernetes.io/name", "numa-agent")
        .withField("spec.nodeName", node)
        .list()
        .getItems()
        .stream()
        .findFirst();
  }

  /** The node that the operator does not run on, so that what is lost with the other is not. */
  private static String otherNode() {
    var host =
        client
            .pods()
            .inNamespace(OPERATOR)
            .withLabel("app.kubernetes.io/name", "numa-operator")
            .list()
            .getItems()
            .getFirst()
            .getSpec()
            .getNodeName();
    return host.equals("gpu-1") ? "gpu-2" : "gpu-1";
  }

  // ---- the links

  @Test
  @Order(1)
  void aNodeWithAllLinksIsReady() {
    awaitReady("gpu-1", "gpu-2");
  }

  @Test
  @Order(2)
  void theKubelet() {
    var node = otherNode();
    flips(
        "kubelet stopped",
        node,
        () -> lab.numalab("kubelet", "stop", node),
        reason("KubeletDown", "NodeNotReady"),
        AT_ONCE);
    staysSo(node);
    lab.numalab("kubelet", "start", node);
  }

  @Test
  @Order(3)
  void theDevicePlugin() {
    var node = otherNode();
    flips(
        "device plugin gone",
        node,
        () -> lab.numalab("gpuplugin", "stop", node),
        reason("NoDevicePlugin"),
        AT_ONCE);
    staysSo(node);
    lab.numalab("gpuplugin", "start", node);
  }

  /** Nobody publishes: what is wrong stays wrong, and the agents compare. */
  private static void external(NumaPolicy policy) {
    policy.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.External;
    policy.getSpec().topologyUpdater.interval = "5s";
  }

  @Test
  @Order(4)
  void theTopology() {
    var node = otherNode();
    awaitReady(node);
    edit(ReadinessLabTest::external);
    await()
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Boolean.FALSE.equals(
                    client
                        .resources(NumaNodeState.class)
                        .withName(node)
                        .get()
                        .getSpec()
                        .topology
                        .publish));
    flips(
        "NodeResourceTopology falsified",
        node,
        () ->
            client
                .resources(NodeResourceTopology.class)
                .withName(node)
                .edit(
                    topology -> {
                      topology.zones.getFirst().resources.stream()
                          .filter(r -> r.name.equals(GPU))
                          .forEach(r -> r.available = new Quantity("1"));
                      return topology;
                    }),
        reason("Stale"),
        ANOTHERS);
    staysSo(node);
    edit(p -> p.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn);
    awaitReady(node);
    edit(ReadinessLabTest::external);
    flips(
        "NodeResourceTopology deleted",
        node,
        () -> client.resources(NodeResourceTopology.class).withName(node).delete(),
        reason("NotPublished", "NotSeen"),
        AT_ONCE);
    edit(p -> p.getSpec().topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn);
  }

  @Test
  @Order(5)
  void theScheduler() {
    var ended = new AtomicBoolean();
    try (var sabotage = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        flips(
            "scheduler down",
            otherNode(),
            () -> sabotage.execute(() -> deleteSchedulersUntil(ended)),
            reason("SchedulerDown"),
            AT_ONCE);
      } finally {
        ended.set(true);
      }
    }
  }

  /** Again and again: one that is back in a moment need not be told. */
  private static void deleteSchedulersUntil(AtomicBoolean ended) {
    while (!ended.get()) {
      client
          .pods()
          .inNamespace(OPERATOR)
          .withLabel("app.kubernetes.io/name", "numa-scheduler")
          .withGracePeriod(0)
          .delete();
      Lab.sleep(Duration.ofMillis(500));
    }
  }

  @Test
  @Order(6)
  void theAgent() {
    var node = otherNode();
    awaitReady(node);
    flips(
        "agent hangs",
        node,
        () -> lab.exec(node, "sh", "-c", "kill -STOP " + agentProcess(node)),
        c -> c.status == Status.Unknown && c.reason.equals("AgentSilent"),
        SILENT);
    staysSo(node);
    lab.exec(node, "sh", "-c", "kill -CONT " + agentProcess(node));
    awaitReady(node);
    var killed = agent(node).orElseThrow();
    flips(
        "agent killed",
        node,
        () -> client.resource(killed).withGracePeriod(0).delete(),
        c -> c.status != Status.True || !agent(node).equals(Optional.of(killed)),
        AT_ONCE);
  }

  /** In the node's own namespace of processes. */
  private static String agentProcess(String node) {
    return lab.exec(node, "sh", "-c", "pgrep -f 'io.numaoperator.agent.[A]gentMain' | head -1")
        .strip();
  }

  @Test
  @Order(7)
  void theManagerState() {
    var node = otherNode();
    flips(
        "state file of another policy",
        node,
        () -> inStateFile(node, "static", "none"),
        reason("StateFileMismatch"),
        AT_ONCE);
    staysSo(node);
    inStateFile(node, "none", "static");
    awaitReady(node);
  }

  /** The kubelet itself reads its state files at its start only. */
  private static void inStateFile(String node, String policy, String replacement) {
    lab.exec(
        node,
        "sed",
        "-i",
        "s/\"policyName\":\"%s\"/\"policyName\":\"%s\"/".formatted(policy, replacement),
        "/var/lib/kubelet/cpu_manager_state");
  }

  @Test
  @Order(8)
  void theSettings() {
    var node = otherNode();
    flips(
        "drop-in edited",
        node,
        () ->
            lab.exec(
                node,
                "sed",
                "-i",
                "s/topologyManagerScope: pod/topologyManagerScope: container/",
                "/etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE),
        c -> true,
        AT_ONCE);
  }

  /**
   * A ReplicaSet whose pods fit no zone goes round: counted, explained, told, and cleaned up on
   * request.
   */
  @Test
  @Order(9)
  void aRejectionLoop() {
    awaitReady("gpu-1", "gpu-2");
    lab.kubectl("apply", "-k", "config/cleanup-failed-pods");
    edit(p -> p.getSpec().troubleshooting.cleanupFailedPods = true);
    var node = otherNode();
    client.resource(pod("two", node, 2)).create(); // the zones that are left: 2 and 1
    awaitRunning("two");
    client.resource(pod("three", node, 3)).create();
    awaitRunning("three");
    var alone = pod("alone", node, 3);
    alone.getSpec().setSchedulerName("default-scheduler");
    client.resource(alone).create();
    await("a rejection is told")
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Lab.events(client, "alone").stream()
                    .anyMatch(e -> "RejectionExplained".equals(e.getReason())));
    client.pods().inNamespace("default").withName("alone").delete();
    var template = pod("x", node, 3);
    template.getMetadata().setLabels(Map.of("app", "loop"));
    template.getSpec().setSchedulerName("default-scheduler");
    template.getSpec().setRestartPolicy("Always"); // the only one that a ReplicaSet may have
    client
        .resource(
            new ReplicaSetBuilder()
                .withNewMetadata()
                .withName("loop")
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .withReplicas(1)
                .withNewSelector()
                .addToMatchLabels("app", "loop")
                .endSelector()
                .withNewTemplate()
                .withMetadata(template.getMetadata())
                .withSpec(template.getSpec())
                .endTemplate()
                .endSpec()
                .build())
        .create();
    await("the loop is told")
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Lab.events(client, "loop").stream()
                    .anyMatch(e -> "RejectionLoop".equals(e.getReason())));
    var text =
        await("the loop is in the policy's status")
            .atMost(Lab.PATIENCE)
            .until(() -> policy().rejectionLoops, loops -> loops != null && !loops.isEmpty())
            .getFirst();
    assertThat(text.owner).isEqualTo("ReplicaSet default/loop");
    assertThat(text.nodes).containsExactly(node);
    assertThat(text.cause)
        .contains(
            "needs 3 nvidia.com/gpu in one zone",
            "3 free in all",
            "default/three holds 3 nvidia.com/gpu on zone",
            "set spec.schedulerName: numa-scheduler");
    System.out.println("loop: " + text.cause);
    assertThat(policy().conditions)
        .anyMatch(c -> c.type.equals("PodsAdmitted") && c.reason.equals("RejectionLoop"));
    var metrics = metrics();
    assertThat(metrics)
        .containsPattern("numaoperator_pods_rejected_total\\{node=\"" + node + "\",reason=\"Top")
        .contains("numaoperator_rejection_loops{policy=\"gpu-nodes\"")
        .contains("numaoperator_leading 1.0")
        .contains("numaoperator_node_condition{condition=\"AlignmentReady\"");
    assertThat(failed()).isGreaterThanOrEqualTo(3);
    lab.kubectl("scale", "replicaset", "loop", "--replicas=0");
    await("the newest three stay")
        .atMost(Lab.PATIENCE)
        .until(ReadinessLabTest::failed, failed -> failed == 3);
    await("they go on staying")
        .during(Duration.ofSeconds(12))
        .atMost(Lab.PATIENCE)
        .until(ReadinessLabTest::failed, failed -> failed == 3);
    client.apps().replicaSets().inNamespace("default").withName("loop").delete();
    client.pods().inNamespace("default").withGracePeriod(0).delete();
  }

  private static long failed() {
    return client.pods().inNamespace("default").list().getItems().stream()
        .filter(p -> "Failed".equals(p.getStatus().getPhase()))
        .count();
  }

  private static NumaPolicyStatus policy() {
    return client.resources(NumaPolicy.class).withName(POLICY).get().getStatus();
  }

  private static String metrics() {
    var operator =
        client
            .pods()
            .inNamespace(OPERATOR)
            .withLabel("app.kubernetes.io/name", "numa-operator")
            .list()
            .getItems()
            .getFirst()
            .getMetadata()
            .getName();
    return lab.kubectl(
        "get",
        "--raw",
        "/api/v1/namespaces/" + OPERATOR + "/pods/http:" + operator + ":8080/proxy/q/metrics");
  }

  private static void awaitRunning(String name) {
    await(name)
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                "Running"
                    .equals(
                        client
                            .pods()
                            .inNamespace("default")
                            .withName(name)
                            .get()
                            .getStatus()
                            .getPhase()));
  }

  private static Pod pod(String name, String node, int gpus) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .withSchedulerName("numa-scheduler")
        .addToNodeSelector("kubernetes.io/hostname", node)
        .withTerminationGracePeriodSeconds(0L)
        .withRestartPolicy("Never")
        .addNewContainer()
        .withName("main")
        .withImage("numa.test/pause:1")
        .withNewResources()
        .addToLimits(GPU, new Quantity(String.valueOf(gpus)))
        .addToLimits("cpu", new Quantity("1"))
        .addToLimits("memory", new Quantity("256Mi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  @Test
  @Order(10)
  void theNode() {
    var node = otherNode();
    flips(
        "node lost",
        node,
        () -> lab.numalab("node", "stop", node),
        c -> c.status == Status.Unknown && c.reason.equals("NodeNotReady"),
        GRACE);
    lab.numalab("node", "start", node);
    awaitReady(node);
  }
}
