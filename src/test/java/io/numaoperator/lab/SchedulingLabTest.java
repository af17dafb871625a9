package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.KubeletRules;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The circle closed: the sample policy, real kubelets, the agents' NodeResourceTopology objects,
 * the cluster's own kube-scheduler as a pod, and the extender in the operator's pod.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SchedulingLabTest {
  private static final List<String> NODES = List.of("gpu-1", "gpu-2", "gpu-3", "gpu-4");
  private static final KubeletRules RULES =
      KubeletRules.of(KubeletRules.Policy.SingleNumaNode, KubeletRules.Scope.Pod);
  private static final int GPUS = 4;
  private static final String OPERATOR = "numa-operator-system";
  private static final String NAMESPACE = "default";
  private static final String GPU = "nvidia.com/gpu";

  private static Lab lab;
  private static KubernetesClient client;

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "4");
    client = lab.client();
    lab.install();
    operators(2);
    var policy = Lab.sample();
    policy.getSpec().rollout.maxUnavailable = new IntOrString(2);
    policy.getSpec().scheduler.replicas = 2;
    client.resource(policy).create();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  private static Pod pod(String name, int gpus, int cpus) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(NAMESPACE)
        .endMetadata()
        .withNewSpec()
        .withSchedulerName("numa-scheduler")
        .withTerminationGracePeriodSeconds(0L)
        .withRestartPolicy("Never")
        .addNewContainer()
        .withName("main")
        .withImage("numa.test/pause:1")
        .withNewResources()
        .addToLimits(GPU, new Quantity(String.valueOf(gpus)))
        .addToLimits("cpu", new Quantity(String.valueOf(cpus)))
        .addToLimits("memory", new Quantity("256Mi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static List<Pod> pods(String phase) {
    return client.pods().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(p -> p.getMetadata().getDeletionTimestamp() == null)
        .filter(p -> phase.equals(p.getStatus().getPhase()))
        .toList();
  }

  private static void awaitPhase(String name, String phase) {
    await(name + " " + phase)
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                phase.equals(
                    client
                        .pods()
                        .inNamespace(NAMESPACE)
                        .withName(name)
                        .get()
                        .getStatus()
                        .getPhase()));
  }

  @AfterEach
  void deleteAll() {
    client.pods().inNamespace(NAMESPACE).withGracePeriod(0).delete();
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> client.pods().inNamespace(NAMESPACE).list().getItems().isEmpty());
  }

  private static Condition schedulerCondition() {
    return client
        .resources(NumaPolicy.class)
        .withName("gpu-nodes")
        .get()
        .getStatus()
        .conditions
        .stream()
        .filter(c -> c.type.equals("SchedulerReady"))
        .findFirst()
        .orElseThrow();
  }

  private static void awaitScheduler(Condition.Status status) {
    await("SchedulerReady " + status)
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(() -> schedulerCondition().status == status);
  }

  @Test
  @Order(1)
  void theSchedulerComesFirstThenStrictKubelets() {
    await()
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              var status =
                  client.resources(NumaPolicy.class).withName("gpu-nodes").get().getStatus();
              assertThat(status.nodes.ready).isEqualTo(4);
              assertThat(status.conditions)
                  .filteredOn(c -> c.type.equals("Ready"))
                  .extracting(c -> c.status)
                  .containsExactly(Condition.Status.True);
            });
    awaitScheduler(Condition.Status.True);
  }

  /**
   * 2+2 GPUs are free on each node: nobody is rejected, the pod waits, with the reason in numbers.
   */
  @Test
  @Order(2)
  void aPodThatFitsNoZoneWaitsAndRunsWhenAZoneIsFree() {
    for (int i = 0; i < 8; i++) {
      client.resource(pod("half-" + i, 2, 4)).create();
    }
    await().atMost(Lab.PATIENCE).until(() -> pods("Running").size() == 8);
    client.resource(pod("whole", 4, 2)).create();
    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(Lab.events(client, "whole").stream().map(Event::getMessage))
                    .anyMatch(
                        m -> m.contains("zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2")));
    assertThat(pods("Failed")).isEmpty();
    client.pods().inNamespace(NAMESPACE).withName("half-0").withGracePeriod(0).delete();
    awaitPhase("whole", "Running");
    assertThat(pods("Failed")).isEmpty();
  }

  /**
   * 200 pods admitted and deleted in random order, on four nodes at a time: after each step the
   * NodeResourceTopology is what the kubelet's own state files say, most times within a second.
   */
  @Test
  @Order(3)
  void theTopologyIsWhatTheKubeletAdmitted() throws Exception {
    var delays = Collections.synchronizedList(new ArrayList<Delay>());
    try (var published = new PublishedTopologies(client);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var running = new ArrayList<Future<?>>();
      for (int i = 0; i < NODES.size(); i++) {
        var walk = new Walk(NODES.get(i), new Random(i), published, delays);
        running.add(threads.submit(walk::run));
      }
      for (var each : running) {
        each.get();
      }
    }
    assertThat(delays).filteredOn(delay -> delay.step().contains("admits")).hasSize(200);
    var millis = delays.stream().map(Delay::millis).sorted().toList();
    System.out.printf(
        "NodeResourceTopology after an admission or deletion: p50 %d ms, p99 %d ms, %d steps%n",
        millis.get(millis.size() / 2), millis.get(millis.size() * 99 / 100), millis.size());
    assertThat(millis.get(millis.size() / 2)).isLessThan(1000);
  }

  /** How long after the kubelet the topology said the same. */
  private record Delay(String step, long millis) {}

  /** Pods come to one node and go. */
  private record Walk(
      String node, Random random, PublishedTopologies published, Collection<Delay> delays) {
    private static final int PODS = 50;

    Void run() {
      var kubelet = KubeletState.of(lab, node, RULES);
      var alive = new ArrayList<Pod>();
      for (int i = 0; i < PODS; ) {
        var request = RandomPods.request(random);
        var fits =
            !RandomPods.exceedsTheNode(lab, node, request)
                && !(Fit.of(free(kubelet, alive), request) instanceof Fit.DoesNotFit);
        if (alive.size() > 3 || (!fits && !alive.isEmpty())) {
          var gone = alive.remove(random.nextInt(alive.size()));
          client.resource(gone).delete();
          await().atMost(Lab.PATIENCE).until(() -> client.resource(gone).get() == null);
          agree("loses " + gone.getMetadata().getName(), kubelet, alive, Instant.now());
        } else if (fits) {
          var pod = RandomPods.pod(node + "-" + i++, request);
          pod.getSpec().setSchedulerName("numa-scheduler");
          pod.getSpec().setTerminationGracePeriodSeconds(1L); // forced, it leaves the API first
          pod.getSpec().setNodeSelector(Map.of("kubernetes.io/hostname", node));
          client.resource(pod).create();
          awaitPhase(pod.getMetadata().getName(), "Running");
          alive.add(client.resource(pod).get());
          agree("admits " + pod.getMetadata().getName(), kubelet, alive, kubelet.written());
        }
      }
      return null;
    }

    private static NodeFree free(KubeletState kubelet, List<Pod> alive) {
      return kubelet.free(
          alive.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet()), GPUS);
    }

    private void agree(String step, KubeletState kubelet, List<Pod> alive, Instant from) {
      var wanted = PublishedTopologies.free(free(kubelet, alive));
      await(node + " " + step)
          .atMost(Lab.PATIENCE)
          .pollInterval(Duration.ofMillis(50))
          .untilAsserted(() -> assertThat(published.now(node)).isEqualTo(wanted));
      var seen = published.since(node, wanted).orElseThrow();
      delays.add(
          new Delay(node + " " + step, Math.max(0, Duration.between(from, seen).toMillis())));
    }
  }

  /**
   * 200 pods at once; the leading scheduler and the leading operator are killed while they are
   * being placed. None is rejected, and when nothing moves any more, none waits that fits.
   */
  @Test
  @Order(4)
  void twoHundredAtOnceAndNoneWaitsThatFits() {
    var random = new Random(5);
    var requests = new HashMap<String, PodRequest>();
    for (int i = 0; i < 200; i++) {
      var request = RandomPods.request(random);
      var pod = RandomPods.pod("burst-" + i, request);
      pod.getSpec().setSchedulerName("numa-scheduler");
      requests.put("burst-" + i, request);
      client.resource(pod).create();
    }
    await().atMost(Lab.PATIENCE).until(() -> pods("Running").size() > 3);
    var killed = kill(leader("numa-scheduler"));
    killed += " and " + kill(leader("numa-operator"));
    awaitStandstill();
    int first = pods("Running").size();
    noneWaitsThatFits(requests);
    for (var pod : pods("Running")) {
      if (random.nextBoolean()) {
        client.resource(pod).delete();
      }
    }
    awaitStandstill();
    noneWaitsThatFits(requests);
    System.out.printf(
        "200 pods at once: %d ran, after about half of these were deleted %d; killed %s%n",
        first, pods("Running").size(), killed);
  }

  private static String leader(String lease) {
    return client
        .leases()
        .inNamespace(OPERATOR)
        .withName(lease)
        .get()
        .getSpec()
        .getHolderIdentity()
        .split("_", 2)[0];
  }

  private static String kill(String pod) {
    var resource = client.pods().inNamespace(OPERATOR).withName(pod);
    assertThat(resource.get()).as(pod).isNotNull();
    resource.withGracePeriod(0).delete();
    return pod;
  }

  /** Longer than a lease and a scheduler's longest back-off. */
  private static void awaitStandstill() {
    var last = new AtomicInteger(-1);
    await("nothing moves")
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofSeconds(1))
        .during(Duration.ofSeconds(22))
        .until(
            () -> {
              int bound =
                  (int)
                      client.pods().inNamespace(NAMESPACE).list().getItems().stream()
                          .filter(p -> p.getSpec().getNodeName() != null)
                          .count();
              return last.getAndSet(bound) == bound
                  && bound == pods("Running").size() + pods("Failed").size();
            });
  }

  private static void noneWaitsThatFits(Map<String, PodRequest> requests) {
    assertThat(pods("Failed")).isEmpty();
    var waiting = pods("Pending");
    assertThat(waiting).isNotEmpty();
    for (var node : NODES) {
      var there =
          pods("Running").stream().filter(p -> node.equals(p.getSpec().getNodeName())).toList();
      var free = Walk.free(KubeletState.of(lab, node, RULES), there);
      assertThat(waiting)
          .as("pods that %s could take: %s", node, free)
          .filteredOn(
              pod -> {
                var request = requests.get(pod.getMetadata().getName());
                return !RandomPods.exceedsTheNode(lab, node, request)
                    && !(Fit.of(free, request) instanceof Fit.DoesNotFit);
              })
          .extracting(pod -> pod.getMetadata().getName())
          .isEmpty();
    }
  }

  /** With the extender away pods wait; they go on when it is back. */
  @Test
  @Order(5)
  void withoutTheExtenderPodsWait() {
    operators(0);
    client.resource(pod("waits", 4, 4)).create();
    await()
        .during(Duration.ofSeconds(8))
        .atMost(Lab.PATIENCE)
        .until(() -> pods("Pending").size() == 1 && pods("Failed").isEmpty());
    operators(1);
    awaitPhase("waits", "Running");
  }

  /** Sabotage of the scheduler: while no replica is available the condition must not be True. */
  @Test
  @Order(6)
  void aSchedulerThatDoesNotRunIsTold() {
    awaitScheduler(Condition.Status.True);
    await()
        .atMost(Lab.PATIENCE)
        .ignoreExceptions()
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              deleteSchedulers(); // again and again: one that is back in a moment need not be told
              return schedulerCondition().reason.equals("SchedulerDown");
            });
    awaitScheduler(Condition.Status.True);
  }

  private static void deleteSchedulers() {
    client
        .pods()
        .inNamespace(OPERATOR)
        .withLabel("app.kubernetes.io/name", "numa-scheduler")
        .withGracePeriod(0)
        .delete();
  }

  /** The default scheduler does not see zones: what it binds to our nodes is counted and told. */
  @Test
  @Order(7)
  void podsOfAnotherSchedulerAreTold() {
    var pod = pod("foreign", 1, 1);
    pod.getSpec().setSchedulerName("default-scheduler");
    client.resource(pod).create();
    awaitPhase("foreign", "Running");
    await().atMost(Lab.PATIENCE).until(() -> foreignPods() == 1);
    var node = client.resource(pod).get().getSpec().getNodeName();
    await()
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                client
                    .resources(NumaNodeState.class)
                    .withName(node)
                    .get()
                    .getStatus()
                    .conditions
                    .stream()
                    .anyMatch(c -> c.message.contains("1 pods with devices were bound here by")));
    deleteAll();
    await().atMost(Lab.PATIENCE).until(() -> foreignPods() == 0);
  }

  private static int foreignPods() {
    return Optional.ofNullable(
            client.resources(NumaPolicy.class).withName("gpu-nodes").get().getStatus().foreignPods)
        .orElse(0);
  }

  private static void operators(int replicas) {
    var deployment = client.apps().deployments().inNamespace(OPERATOR).withName("numa-operator");
    deployment.scale(replicas);
    await(replicas + " operators")
        .atMost(Lab.LONG)
        .until(
            () -> {
              var pods =
                  client
                      .pods()
                      .inNamespace(OPERATOR)
                      .withLabel("app.kubernetes.io/name", "numa-operator")
                      .list()
                      .getItems();
              var ready = deployment.get().getStatus().getReadyReplicas();
              return pods.size() == replicas && (ready == null ? 0 : ready) == replicas;
            });
  }
}
