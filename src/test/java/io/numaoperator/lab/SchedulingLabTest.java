package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
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
  private static final Duration LONG = Duration.ofMinutes(3);
  private static final String NAMESPACE = "default";
  private static final String GPU = "nvidia.com/gpu";

  private static Lab lab;
  private static KubernetesClient client;

  @BeforeAll
  static void up() throws IOException {
    lab = Lab.up("--nodes", "2");
    client = lab.client();
    lab.install();
    var policy =
        Serialization.unmarshal(
            Files.readString(Path.of("config/samples/gpu-nodes.yaml")), NumaPolicy.class);
    policy.getSpec().rollout.verification.window = "5s";
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
        .atMost(Duration.ofSeconds(60))
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

  private static void deleteAll() {
    client.pods().inNamespace(NAMESPACE).withGracePeriod(0).delete();
    await()
        .atMost(Duration.ofSeconds(60))
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
        .atMost(LONG)
        .ignoreExceptions()
        .until(() -> schedulerCondition().status == status);
  }

  @Test
  @Order(1)
  void theSchedulerComesFirstThenStrictKubelets() {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              var status =
                  client.resources(NumaPolicy.class).withName("gpu-nodes").get().getStatus();
              assertThat(status.nodes.ready).isEqualTo(2);
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
    for (int i = 0; i < 4; i++) {
      client.resource(pod("half-" + i, 2, 4)).create();
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> pods("Running").size() == 4);
    client.resource(pod("whole", 4, 2)).create();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(
                        client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
                            .filter(e -> e.getInvolvedObject().getName().equals("whole"))
                            .map(Event::getMessage))
                    .anyMatch(
                        m -> m.contains("zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2")));
    assertThat(pods("Failed")).isEmpty();
    client.pods().inNamespace(NAMESPACE).withName("half-0").withGracePeriod(0).delete();
    awaitPhase("whole", "Running");
    assertThat(pods("Failed")).isEmpty();
    deleteAll();
  }

  /** Random pods come and go; whatever runs is aligned, and nothing is ever rejected. */
  @Test
  @Order(3)
  void nothingIsRejectedWhilePodsComeAndGo() {
    var random = new Random(4);
    int sizes = 0;
    var alive = new ArrayList<String>();
    for (int i = 0; i < 200; i++) {
      int gpus = List.of(1, 1, 2, 2, 4).get(random.nextInt(5));
      client.resource(pod("p" + i, gpus, 1)).create();
      alive.add("p" + i);
      sizes += gpus;
      while (sizes > 24) {
        var name = alive.remove(random.nextInt(alive.size()));
        var gone = client.pods().inNamespace(NAMESPACE).withName(name);
        sizes -=
            gone.get()
                .getSpec()
                .getContainers()
                .getFirst()
                .getResources()
                .getLimits()
                .get(GPU)
                .getNumericalAmount()
                .intValue();
        gone.withGracePeriod(0).delete();
      }
      assertThat(pods("Failed")).as("after pod %s", i).isEmpty();
    }
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              assertThat(pods("Failed")).isEmpty();
              assertThat(pods("Pending").size()).isLessThan(alive.size() / 2);
            });
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              for (var state : client.resources(NumaNodeState.class).list().getItems()) {
                assertThat(state.getStatus().containers.placed)
                    .isNotEmpty()
                    .allMatch(c -> c.placement == Placement.Aligned);
                assertThat(state.getStatus().topology.differences).isEmpty();
              }
            });
    deleteAll();
  }

  /** With the extender away pods wait; SchedulerReady says so; they go on when it is back. */
  @Test
  @Order(4)
  void withoutTheExtenderPodsWait() {
    client
        .apps()
        .deployments()
        .inNamespace("numa-operator-system")
        .withName("numa-operator")
        .scale(0);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                client
                    .pods()
                    .inNamespace("numa-operator-system")
                    .withLabel("app.kubernetes.io/name", "numa-operator")
                    .list()
                    .getItems()
                    .isEmpty());
    client.resource(pod("waits", 4, 4)).create();
    await()
        .during(Duration.ofSeconds(8))
        .atMost(Duration.ofSeconds(12))
        .until(() -> pods("Pending").size() == 1 && pods("Failed").isEmpty());
    client
        .apps()
        .deployments()
        .inNamespace("numa-operator-system")
        .withName("numa-operator")
        .scale(1);
    awaitPhase("waits", "Running");
    deleteAll();
  }

  /** Sabotage of the scheduler: while no replica is available the condition must not be True. */
  @Test
  @Order(5)
  void aSchedulerThatDoesNotRunIsTold() {
    awaitScheduler(Condition.Status.True);
    client
        .pods()
        .inNamespace("numa-operator-system")
        .withLabel("app.kubernetes.io/name", "numa-scheduler")
        .withGracePeriod(0)
        .delete();
    await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .pollInterval(Duration.ofMillis(200))
        .until(() -> schedulerCondition().reason.equals("SchedulerDown"));
    awaitScheduler(Condition.Status.True);
  }
}
