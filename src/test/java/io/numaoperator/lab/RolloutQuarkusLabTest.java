package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.numaoperator.api.Condition;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.Names;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.RolloutPolicy;
import io.numaoperator.api.RolloutPolicy.DrainMode;
import io.numaoperator.api.SchedulerPolicy;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The operator's reconcilers against a real control plane, with simulated machines: what a watcher
 * of the Nodes sees of a rollout, and what becomes of pods by the real Eviction API.
 */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class RolloutQuarkusLabTest {
  private static final Duration SOON = Lab.PATIENCE;
  private static final String TAINT = "startup-taint.cluster-autoscaler.kubernetes.io/numaoperator";

  @Inject @AsAdmin KubernetesClient client;

  private SimulatedNodes machines;

  @BeforeEach
  void up() {
    machines = new SimulatedNodes(client);
  }

  @AfterEach
  void down() {
    client.resources(NumaPolicy.class).delete();
    client.apps().deployments().inNamespace("default").delete();
    client.policy().v1().podDisruptionBudget().inNamespace("default").delete();
    await("the nodes are let go")
        .atMost(SOON)
        .until(() -> client.resources(NumaNodeState.class).list().getItems().isEmpty());
    client.nodes().delete();
    machines.close();
    assertThat(machines.violations()).isEmpty();
  }

  // ---- 200 nodes

  /** Sees every moment at which nodes of a pool are unavailable, and which are cordoned. */
  private static final class Watch implements Watcher<Node> {
    private final Set<String> out = new TreeSet<>();
    private final Set<String> cordoned = new TreeSet<>();
    private int most;

    @Override
    public synchronized void eventReceived(Action action, Node node) {
      var name = node.getMetadata().getName();
      var unschedulable = Boolean.TRUE.equals(node.getSpec().getUnschedulable());
      var ready =
          node.getStatus().getConditions().stream()
              .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
      if (action != Action.DELETED && (unschedulable || !ready)) {
        out.add(name);
      } else {
        out.remove(name);
      }
      if (unschedulable) {
        cordoned.add(name);
      }
      most = Math.max(most, out.size());
    }

    @Override
    public synchronized void onClose(WatcherException cause) {
      if (cause != null) {
        most = Integer.MAX_VALUE; // a watch that broke proves nothing
      }
    }

    synchronized int most() {
      return most;
    }

    /** Nodes that were cordoned since it was last asked. */
    synchronized Set<String> cordoned() {
      var seen = Set.copyOf(cordoned);
      cordoned.clear();
      return seen;
    }
  }

  /** 200 nodes, a budget of 10 percent, two canaries; then a change that fails on one node. */
  @Test
  void neverExceedsItsBudgetOver200NodesAndAFailureStopsIt() {
    var names = IntStream.range(0, 200).mapToObj("n-%03d"::formatted).toList();
    names.parallelStream().forEach(name -> machines.add(name, Map.of("pool", "big"), node -> {}));
    var watch = new Watch();
    try (var open = client.nodes().withLabel("pool", "big").watch(watch)) {
      create(
          "big",
          rollout -> {
            rollout.maxUnavailable = new IntOrString("10%");
            rollout.canary = new RolloutPolicy.Canary();
            rollout.canary.nodes = 2;
            rollout.canary.soak = "12s"; // 200 nodes are told of it meanwhile
          });
      awaitReason("n-199", "WaitingForCanary", "soak until");
      assertThat(watch.cordoned()).hasSize(2);
      await("all changed")
          .atMost(Lab.LONG)
          .until(() -> isTrue(policy("big"), "KubeletsConfigured"));
      await().atMost(SOON).until(() -> isAllInService("big"));
      assertThat(watch.most()).isBetween(11, 20);
      assertThat(attempts("big", Result.Succeeded)).containsExactlyElementsOf(names);

      // a change that fails on one of the first twenty after the canaries
      watch.cordoned();
      machines.fail("n-005");
      edit(
          "big",
          spec -> spec.kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container);
      await().atMost(SOON).until(() -> isTrue(policy("big"), "Stalled"));
      await().atMost(SOON).until(() -> isAllInService("big"));
      assertThat(watch.cordoned()).contains("n-005").hasSizeBetween(3, 2 + 20 + 20);
      assertThat(attempts("big", Result.RolledBack)).containsExactly("n-005");
      Lab.sleep(Duration.ofSeconds(3));
      assertThat(watch.cordoned()).isEmpty();
      assertThat(watch.most()).isLessThanOrEqualTo(20);
      awaitReason("n-199", "Waiting", "since the change failed on n-005");
    }
  }

  private Set<String> attempts(String policy, Result result) {
    return client
        .resources(NumaNodeState.class)
        .withLabel(Names.POLICY_LABEL, policy)
        .list()
        .getItems()
        .stream()
        .filter(s -> s.getStatus().attempt != null && s.getStatus().attempt.result == result)
        .map(s -> s.getMetadata().getName())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  // ---- evictions

  @Test
  void anEvictionKeepsTheBudgetOfItsPodsAndNamesIt() {
    machines.add("e-1", Map.of("pool", "evict"), node -> {});
    deployment("web", "evict", 2);
    var budget = budget("web-budget", "web", 1);
    create("evict", rollout -> rollout.drain.mode = DrainMode.Evict);
    var reason = awaitReason("e-1", "EvictionRefused", "web-budget");
    assertThat(reason.message)
        .contains("default/web-", "The disruption budget web-budget needs 1 healthy pods and has 1")
        .contains("numa-operator-system/numa-agent-", "(of a DaemonSet)")
        .contains("goes back into service at");
    assertThat(running("web")).hasSize(1);
    assertThat(state("e-1").orElseThrow().getSpec().grant).isNull();

    client.resource(budget).delete();
    awaitReason("e-1", "Configured", "");
    await().atMost(SOON).until(() -> isAllInService("evict"));
    await().atMost(SOON).until(() -> running("web").size() == 2);
    assertThat(annotations("e-1"))
        .doesNotContainKeys(Names.DRAIN_ANNOTATION, Names.CORDONED_ANNOTATION);
  }

  /** What a budget never lets go puts the node back into service, and it is tried again later. */
  @Test
  void aDrainThatCannotEndIsGivenUpAndTriedAgain() {
    machines.add("g-1", Map.of("pool", "stuck"), node -> {});
    deployment("db", "stuck", 1);
    var budget = budget("db-budget", "db", 1);
    create(
        "stuck",
        rollout -> {
          rollout.drain.mode = DrainMode.Evict;
          rollout.drain.timeout = "3s";
        });
    var reason = awaitReason("g-1", "DrainGivenUp", "default/db-");
    assertThat(reason.message).contains("1 times in a row", "tried again at");
    assertThat(isAllInService("stuck")).isTrue();
    assertThat(annotations("g-1").get(Names.DRAIN_GIVEN_UP_ANNOTATION)).startsWith("1/");
    awaitReason("g-1", "DrainGivenUp", "2 times in a row");
    assertThat(running("db")).hasSize(1);

    client.resource(budget).delete();
    edit("stuck", spec -> spec.rollout.drain.timeout = "60s");
    awaitReason("g-1", "Configured", "");
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(annotations("g-1"))
                    .doesNotContainKeys(
                        Names.DRAIN_GIVEN_UP_ANNOTATION, Names.CORDONED_ANNOTATION));
  }

  /** WhenIdle: who holds something ends by itself, then the others are evicted. */
  @Test
  void whenIdleWaitsForHoldersAndEvictsTheOthers() {
    machines.add("w-1", Map.of("pool", "idle"), node -> {});
    deployment("job", "idle", 1);
    deployment("web", "idle", 1);
    var holder = "default/" + running("job").getFirst().getMetadata().getName();
    var other = running("web").getFirst().getMetadata().getUid();
    create("idle", rollout -> {}, NumaPolicySpec.Mode.Observe);
    awaitReason("w-1", "Differs", "");
    machines.holders("w-1", holder);
    edit("idle", spec -> spec.mode = NumaPolicySpec.Mode.Enforce);

    awaitReason("w-1", "WaitingForPods", holder);
    assertThat(running("web").getFirst().getMetadata().getUid()).isEqualTo(other);
    machines.holders("w-1");
    awaitReason("w-1", "Configured", "");
    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(running("web"))
                    .hasSize(1)
                    .noneMatch(pod -> pod.getMetadata().getUid().equals(other)));
  }

  // ---- the way back

  /** What failed is tried again when its time has come, and the policy goes with the last node. */
  @Test
  void aWayBackThatFailedIsTriedAgain() {
    for (var name : List.of("back-1", "back-2")) {
      machines.add(name, Map.of("pool", "back"), node -> {});
    }
    create("back", rollout -> rollout.onDelete = RolloutPolicy.OnDelete.Restore);
    awaitReason("back-1", "Configured", "");
    awaitReason("back-2", "Configured", "");
    machines.fail("back-1");
    client.resources(NumaPolicy.class).withName("back").delete();

    var told = awaitReason("back-1", "RolledBack", "it is tried again at ");
    var again =
        Instant.parse(told.message.replaceAll("(?s).*it is tried again at ([0-9T:-]+Z).*", "$1"));
    await("it is in service meanwhile").atMost(SOON).until(() -> isAllInService("back"));
    assertThat(state("back-2")).as("pauseOnFailure holds it").isPresent();
    machines.mend("back-1");
    await("the policy is gone").atMost(Lab.LONG).until(() -> policy("back") == null);
    assertThat(Instant.now()).isAfter(again);
    assertThat(client.resources(NumaNodeState.class).list().getItems()).isEmpty();
    assertThat(isAllInService("back")).isTrue();
    assertThat(annotations("back-1")).doesNotContainKey(Names.DRAIN_GIVEN_UP_ANNOTATION);
  }

  // ---- new nodes

  @Test
  void newNodesAreChangedBesideTheBudgetAndLoseTheirTaintWhenReady() {
    Consumer<Node> tainted =
        node ->
            node.getSpec()
                .setTaints(
                    List.of(
                        new TaintBuilder().withKey(TAINT).withEffect("NoSchedule").build(),
                        new TaintBuilder().withKey("other").withEffect("NoSchedule").build()));
    machines.add("t-0", Map.of("pool", "new"), node -> node.getSpec().setUnschedulable(true));
    machines.add("t-1", Map.of("pool", "new"), tainted);
    machines.add("t-2", Map.of("pool", "new"), tainted);
    create("new", rollout -> rollout.startupTaint = TAINT);
    for (var name : List.of("t-1", "t-2")) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () ->
                  assertThat(client.nodes().withName(name).get().getSpec().getTaints())
                      .extracting(Taint::getKey)
                      .contains("other")
                      .doesNotContain(TAINT));
      assertThat(client.nodes().withName(name).get().getMetadata().getLabels())
          .containsEntry(Names.ALIGNED_LABEL, "true");
    }
    assertThat(state("t-0").orElseThrow().getStatus().attempt).isNull(); // a person's cordon
  }

  // ---- helpers

  private void create(String pool, Consumer<RolloutPolicy> rollout) {
    create(pool, rollout, NumaPolicySpec.Mode.Enforce);
  }

  private void create(String pool, Consumer<RolloutPolicy> rollout, NumaPolicySpec.Mode mode) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName(pool);
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = mode;
    policy.getSpec().nodeSelector = new NodeSelector();
    policy.getSpec().nodeSelector.matchLabels = Map.of("pool", pool);
    policy.getSpec().scheduler.provider = SchedulerPolicy.Provider.None;
    rollout.accept(policy.getSpec().rollout);
    client.resource(policy).create();
  }

  private void edit(String name, Consumer<NumaPolicySpec> change) {
    await()
        .ignoreExceptionsMatching(e -> e.getMessage().contains("has been modified"))
        .until(
            () ->
                client
                        .resources(NumaPolicy.class)
                        .withName(name)
                        .edit(
                            policy -> {
                              change.accept(policy.getSpec());
                              return policy;
                            })
                    != null);
  }

  private NumaPolicy policy(String name) {
    return client.resources(NumaPolicy.class).withName(name).get();
  }

  /** Of the spec of now. */
  private static boolean isTrue(NumaPolicy policy, String type) {
    return policy.getStatus() != null
        && Objects.equals(
            policy.getMetadata().getGeneration(), policy.getStatus().observedGeneration)
        && policy.getStatus().conditions.stream()
            .anyMatch(c -> c.type.equals(type) && c.status == Condition.Status.True);
  }

  private Optional<NumaNodeState> state(String node) {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(node).get());
  }

  private Condition awaitReason(String node, String reason, String message) {
    return await(node + " " + reason)
        .atMost(SOON)
        .until(
            () ->
                state(node).flatMap(s -> Optional.ofNullable(s.getStatus())).stream()
                    .flatMap(s -> s.conditions.stream())
                    .filter(c -> c.type.equals("KubeletConfigured"))
                    .filter(c -> c.reason.equals(reason) && c.message.contains(message))
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  private boolean isAllInService(String pool) {
    return client.nodes().withLabel("pool", pool).list().getItems().stream()
        .noneMatch(node -> Boolean.TRUE.equals(node.getSpec().getUnschedulable()));
  }

  private Map<String, String> annotations(String node) {
    return client.nodes().withName(node).get().getMetadata().getAnnotations();
  }

  /** Returns when its pods run. */
  private void deployment(String name, String pool, int replicas) {
    client
        .resource(
            new DeploymentBuilder()
                .withNewMetadata()
                .withNamespace("default")
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withReplicas(replicas)
                .withNewSelector()
                .addToMatchLabels("app", name)
                .endSelector()
                .withNewTemplate()
                .withNewMetadata()
                .addToLabels("app", name)
                .endMetadata()
                .withNewSpec()
                .addToNodeSelector("pool", pool)
                .addNewContainer()
                .withName("main")
                .withImage("numa.test/pause:1")
                .endContainer()
                .endSpec()
                .endTemplate()
                .endSpec()
                .build())
        .create();
    await(name + " runs").atMost(SOON).until(() -> running(name).size() == replicas);
  }

  /** Returns when the disruption controller has counted its pods. */
  private PodDisruptionBudget budget(String name, String app, int minAvailable) {
    var budget =
        client
            .resource(
                new PodDisruptionBudgetBuilder()
                    .withNewMetadata()
                    .withNamespace("default")
                    .withName(name)
                    .endMetadata()
                    .withNewSpec()
                    .withMinAvailable(new IntOrString(minAvailable))
                    .withNewSelector()
                    .addToMatchLabels("app", app)
                    .endSelector()
                    .endSpec()
                    .build())
            .create();
    await(name + " has counted")
        .atMost(SOON)
        .until(
            () ->
                Optional.ofNullable(client.resource(budget).get().getStatus())
                    .filter(s -> s.getCurrentHealthy() == running(app).size())
                    .isPresent());
    return budget;
  }

  private List<Pod> running(String app) {
    return client.pods().inNamespace("default").withLabel("app", app).list().getItems().stream()
        .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .toList();
  }
}
