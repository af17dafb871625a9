package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * What comes between the steps of a node's change, on real kubelets: at each step the API server
 * goes away for a minute, and at each step agent and operator are killed. A round has each node at
 * another step, so that one outage is met by all of them. Then a leader that is not one any more,
 * and objects from an old backup.
 */
@Tag("interruption")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InterruptionLabTest {
  private static final String POLICY = HeldNodes.POLICY;
  private static final String NAMESPACE = "numa-operator-system";
  private static final Duration OUTAGE = Duration.ofSeconds(60);

  /** Of its command line; the brackets keep the pattern from matching itself. */
  private static final String OPERATOR = "[q]uarkus-run.jar";

  private static final String API_SERVER = "the API server";

  /** Cordoned, and kept from its grant by a pod that a disruption budget keeps. */
  private static final String DRAINING = "Draining";

  private static final List<String> FORWARD =
      List.of(
          "Granted", "Preparing", "Stopping", "ClearingState", "Writing", "Starting", "Verifying");
  private static final List<String> BACK =
      List.of("RollingBack/Stop", "RollingBack/Restore", "RollingBack/Start", "VerifyingRollback");
  private static final String DONE = "Done";

  /** A step of a change that the kubelet takes, or of one that it refuses. */
  private record Point(String step, boolean good) {
    @Override
    public String toString() {
      return step + (good ? " of a good change" : " of a bad change");
    }

    /** It takes seconds to come to; until then no kubelet is to be down. */
    boolean late() {
      return step.equals(DONE) || BACK.contains(step);
    }
  }

  /** Until the kubelet is started a bad change is as a good one. */
  private static final List<Point> POINTS =
      Stream.concat(
              Stream.of(Stream.of(DRAINING), FORWARD.stream(), Stream.of(DONE))
                  .flatMap(steps -> steps)
                  .map(step -> new Point(step, true)),
              Stream.of(FORWARD.stream().skip(3), BACK.stream(), Stream.of(DONE))
                  .flatMap(steps -> steps)
                  .map(step -> new Point(step, false)))
          .toList();

  /** Of the kernel's 128 inotify instances each takes ten, and another lab runs beside this one. */
  private static final List<String> NODES =
      IntStream.rangeClosed(1, 6).mapToObj("gpu-%d"::formatted).toList();

  private static HeldNodes nodes;
  private static Lab lab;
  private static KubernetesClient client;
  private static int change;

  @BeforeAll
  static void up() {
    nodes = HeldNodes.up("--nodes", String.valueOf(NODES.size()), "--gpus-per-zone", "1");
    lab = nodes.lab();
    client = lab.client();
    nodes.install(NODES);
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  // ---- the cluster

  /** Another reservation: the memory manager's state does not outlive it. */
  private static void change() {
    change++;
    if (client.resources(NumaPolicy.class).withName(POLICY).get() == null) {
      client.resource(changed(HeldNodes.policy())).create();
    } else {
      lab.edit(POLICY, InterruptionLabTest::changed);
    }
  }

  private static NumaPolicy changed(NumaPolicy policy) {
    policy.getSpec().kubelet.memoryManager.reserved.perNumaNode = 500 + 100 * change + "Mi";
    return policy;
  }

  private static NumaNodeState state(String node) {
    return client.resources(NumaNodeState.class).withName(node).get();
  }

  private static Optional<Condition> configured(String node) {
    return state(node).getStatus().conditions.stream()
        .filter(c -> c.type.equals("KubeletConfigured"))
        .findFirst();
  }

  private static Optional<String> cordon(Node node) {
    return Optional.ofNullable(node.getMetadata().getAnnotations().get(Names.CORDONED_ANNOTATION));
  }

  private static boolean inService(String name) {
    var node = client.nodes().withName(name).get();
    return cordon(node).isEmpty()
        && !Boolean.TRUE.equals(node.getSpec().getUnschedulable())
        && node.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
  }

  /** A pod that cannot be evicted, as long as its budget is there. */
  private static void block(String node) {
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: stays-%1$s, namespace: default}
                spec:
                  selector: {matchLabels: {stays: %1$s}}
                  template:
                    metadata: {labels: {stays: %1$s}}
                    spec:
                      nodeSelector: {kubernetes.io/hostname: %1$s}
                      terminationGracePeriodSeconds: 0
                      containers: [{name: main, image: 'numa.test/pause:1'}]
                """
                    .formatted(node),
                Deployment.class))
        .create();
    lab.kubectl(
        "create",
        "poddisruptionbudget",
        "stays-" + node,
        "--selector=stays=" + node,
        "--min-available=1");
    var budget = client.policy().v1().podDisruptionBudget().inNamespace("default");
    await(node + ": its pod is counted")
        .ignoreExceptions() // until there is a status
        .until(() -> budget.withName("stays-" + node).get().getStatus().getCurrentHealthy() == 1);
  }

  private static void unblock(String node) {
    lab.kubectl("delete", "poddisruptionbudget,deployment", "stays-" + node);
  }

  private static boolean isBlocked(String node) {
    var condition = configured(node);
    return condition.isPresent()
        && condition.get().reason.equals("EvictionRefused")
        && state(node).getSpec().grant == null;
  }

  // ---- a round

  /** What interrupts nodes that are held; it lets them go on. */
  private interface Interruption {
    void come(Map<String, Point> at);
  }

  /** Until each point was met; tells what came of each. */
  private static List<String> interrupted(String by, Interruption interruption) {
    var left = new ArrayDeque<>(POINTS);
    var told = new ArrayList<String>();
    int rounds = 0;
    while (!left.isEmpty()) {
      assertThat(rounds++).as("rounds; not met: %s", left).isLessThan(4);
      Map<String, Point> at = new TreeMap<>();
      for (var node : NODES) {
        if (!left.isEmpty()) {
          at.put(node, left.remove());
        }
      }
      var met = round(at, interruption);
      at.forEach(
          (node, point) -> {
            if (met.containsKey(node)) {
              told.add("%s, %s: %s".formatted(by, point, met.get(node)));
            } else {
              left.add(point);
            }
          });
    }
    told.forEach(System.out::println);
    System.out.printf("%s: %d interruption points on real kubelets%n", by, told.size());
    return told;
  }

  /** Returns how the change ended on the nodes that were at their points. */
  private static Map<String, String> round(Map<String, Point> at, Interruption interruption) {
    Map<String, String> before = new ConcurrentHashMap<>();
    Lab.atOnce(
        NODES,
        node -> {
          nodes.watch(node);
          nodes.takeChanges(node);
          before.put(node, nodes.configuration(node));
        });
    Lab.atOnce(
        at.entrySet(),
        entry -> {
          if (!entry.getValue().good()) {
            nodes.refuseChanges(entry.getKey());
          }
          if (entry.getValue().step().equals(DRAINING)) {
            block(entry.getKey());
          } else {
            nodes.hold(entry.getKey(), "Granted");
          }
        });
    change();
    // all at the gate, then the farthest first: a kubelet that is down for a minute is started
    at.forEach(
        (node, point) ->
            await("%s comes to %s".formatted(node, point))
                .atMost(Lab.LONG)
                .ignoreExceptions()
                .until(
                    () ->
                        point.step().equals(DRAINING)
                            ? isBlocked(node)
                            : nodes.held(node).equals("Granted")));
    reach(at, true);
    reach(at, false);
    var met =
        at.entrySet().stream()
            .filter(
                e ->
                    e.getValue().step().equals(DRAINING)
                        || nodes.held(e.getKey()).equals(e.getValue().step()))
            .map(Map.Entry::getKey)
            .toList();
    interruption.come(at);
    at.forEach(
        (node, point) -> {
          if (point.step().equals(DRAINING)) {
            unblock(node);
          }
        });
    Map<String, String> ends = new ConcurrentHashMap<>();
    Lab.atOnce(NODES, node -> ends.put(node, end(node, at.get(node), before.get(node))));
    ends.keySet().retainAll(met);
    return ends;
  }

  private static void reach(Map<String, Point> at, boolean late) {
    var some =
        at.entrySet().stream()
            .filter(e -> e.getValue().late() == late)
            .filter(e -> !e.getValue().step().equals(DRAINING))
            .toList();
    some.forEach(e -> nodes.hold(e.getKey(), e.getValue().step()));
    some.forEach(
        e ->
            await("%s comes to %s, or by it".formatted(e.getKey(), e.getValue()))
                .atMost(Lab.PATIENCE)
                .until(
                    () ->
                        nodes.held(e.getKey()).equals(e.getValue().step())
                            || nodes.history(e.getKey()).toString().contains(DONE)));
  }

  /**
   * The node is as wanted or as before and in service, and its steps were each done once, or once
   * more with the same effect.
   *
   * @param point where it was interrupted; null where it was not
   */
  private static String end(String node, Point point, String before) {
    await(node + " is in service again after " + point)
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofSeconds(1))
        .ignoreExceptions()
        .until(
            () ->
                nodes.history(node).toString().contains(DONE)
                    && Set.of("Configured", "RolledBack").contains(configured(node).get().reason)
                    && inService(node));
    var attempt = state(node).getStatus().attempt;
    var after = nodes.configuration(node);
    var what = "%s after %s: %s".formatted(node, point, attempt.error);
    assertThat(attempt.result).as(what).isIn(Result.Succeeded, Result.RolledBack);
    boolean succeeded = attempt.result == Result.Succeeded;
    assertThat(after.equals(before)).as(what).isEqualTo(!succeeded);
    if (point == null || !point.good()) {
      assertThat(succeeded).as(what).isEqualTo(point == null);
    }
    steps(what, nodes.history(node), attempt);
    starts(what, nodes.starts(node), before, after);
    return attempt.result + (attempt.error == null ? "" : ": " + attempt.error);
  }

  /** One attempt; forward, and perhaps back, and never forward again. */
  private static void steps(String what, List<String> history, Attempt attempt) {
    assertThat(history).as(what).allMatch(line -> line.startsWith(attempt.number + " "));
    var points = history.stream().map(line -> line.substring(line.indexOf(' ') + 1)).toList();
    var forward = points.stream().takeWhile(FORWARD::contains).toList();
    var back = points.subList(forward.size(), points.size() - 1);
    assertThat(HeldNodes.inOrder(forward, FORWARD.toArray(String[]::new)))
        .as("%s: %s", what, points)
        .isTrue();
    // stopping and restoring may have to be done again, where the guard started the kubelet
    assertThat(BACK).as(what).containsAll(back);
    assertThat(points.getLast()).as(what).isEqualTo(DONE);
    assertThat(back.isEmpty()).as(what).isEqualTo(attempt.result == Result.Succeeded);
  }

  /** With the files of before, then with the new ones, then perhaps with those of before. */
  private static void starts(String what, List<String> starts, String before, String after) {
    var behind = starts.stream().dropWhile(before::equals).toList();
    var fresh = behind.stream().takeWhile(start -> !start.equals(before)).distinct().toList();
    var last = behind.stream().dropWhile(start -> !start.equals(before)).distinct().toList();
    assertThat(fresh).as("%s: %s", what, starts).hasSizeLessThanOrEqualTo(1);
    if (after.equals(before)) {
      assertThat(last).as("%s: %s", what, starts).isIn(List.of(), List.of(before));
    } else {
      assertThat(fresh).as("%s: %s", what, starts).containsExactly(after);
      assertThat(last).as("%s: %s", what, starts).isEmpty();
    }
  }

  // ---- the story

  /** Nothing can be said of a kubelet then, and nothing is held against it. */
  @Test
  @Order(1)
  void theApiServerIsAwayAtEveryStep() {
    var told =
        interrupted(
            "API server away for a minute",
            at -> {
              lab.numalab("apiserver", "stop");
              at.keySet().forEach(node -> nodes.hold(node));
              Lab.sleep(OUTAGE);
              lab.numalab("apiserver", "start");
            });
    assertThat(told).hasSize(POINTS.size());
    for (var line : told) {
      // what is missing after a rollback is told; it is no reason for one
      var reason = line.split("; after the rollback")[0].replaceFirst("^API server[^:]*:", "");
      assertThat(reason).doesNotContainIgnoringCase(API_SERVER);
      if (line.contains("of a good change") && line.contains("RolledBack")) {
        // a slow machine: the kubelet was down for longer than the guard bears
        assertThat(line).contains("guard");
      }
      if (line.contains("of a bad change")) {
        assertThat(line).containsAnyOf(HeldNodes.REFUSAL, "guard");
      }
    }
  }

  /** Nothing starts an agent while its kubelet is down: the guard does that first. */
  @Test
  @Order(2)
  void agentAndOperatorAreKilledAtEveryStep() {
    var told =
        interrupted(
            "agent and operator killed",
            at -> {
              var host = operators().getFirst().getSpec().getNodeName();
              var kills =
                  at.keySet().stream().map(node -> (Runnable) () -> nodes.killAgent(node)).toList();
              Lab.atOnce(
                  Stream.concat(
                          Stream.<Runnable>of(() -> nodes.kill(host, "KILL", OPERATOR)),
                          kills.stream())
                      .toList(),
                  Runnable::run);
              at.keySet().forEach(node -> nodes.hold(node));
            });
    assertThat(told).hasSize(POINTS.size());
    assertThat(told).anyMatch(line -> line.contains("Starting of a good change: Succeeded"));
  }

  /** Empty between two leaders. */
  private static Optional<Pod> leading() {
    var lease = client.leases().inNamespace(NAMESPACE).withName("numa-operator").get();
    return operators().stream()
        .filter(pod -> pod.getMetadata().getName().equals(lease.getSpec().getHolderIdentity()))
        .findFirst();
  }

  private static boolean isSame(Pod one, Pod other) {
    return one.getMetadata().getUid().equals(other.getMetadata().getUid());
  }

  private static List<Pod> operators() {
    return client
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", "numa-operator")
        .list()
        .getItems();
  }

  /** To the one process of this pod: the other replica may be on the same node. */
  private static void signal(Pod operator, String signal) {
    lab.exec(
        operator.getSpec().getNodeName(),
        "sh",
        "-c",
        "for pid in $(pgrep -f '%s'); do if grep -zqx POD_NAME=%s /proc/$pid/environ; then kill -%s $pid; fi; done"
            .formatted(OPERATOR, operator.getMetadata().getName(), signal));
  }

  private static void scale(int replicas) {
    lab.kubectl("-n", NAMESPACE, "scale", "deployment/numa-operator", "--replicas=" + replicas);
    awaitOperators(replicas);
  }

  private static void awaitOperators(int replicas) {
    await("%d operators".formatted(replicas))
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(
            () ->
                operators().size() == replicas
                    && operators().stream()
                        .allMatch(p -> p.getStatus().getContainerStatuses().getFirst().getReady()));
  }

  private static void awaitConfigured(String node) {
    await(node + " is as wanted")
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofSeconds(1))
        .ignoreExceptions()
        .until(() -> configured(node).get().reason.equals("Configured") && inService(node));
  }

  /** What was done to the nodes so far: it can only become more. */
  private static Map<String, String> deeds() {
    Map<String, String> deeds = new TreeMap<>();
    for (var node : NODES) {
      deeds.put(node, nodes.history(node) + " " + nodes.starts(node));
    }
    return deeds;
  }

  /** It wakes in the middle of what its successor has done. */
  @Test
  @Order(3)
  void aStaleLeaderStartsNothing() {
    // stopped, it answers no probe, and is not to be ended for that; the lab's pods have the ports
    // of their node, so two of them cannot be on one
    lab.kubectl(
        "-n",
        NAMESPACE,
        "patch",
        "deployment",
        "numa-operator",
        """
        --patch=
        spec:
          template:
            spec:
              containers: [{name: operator, livenessProbe: null}]
              affinity:
                podAntiAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                  - topologyKey: kubernetes.io/hostname
                    labelSelector: {matchLabels: {app.kubernetes.io/name: numa-operator}}
        """);
    scale(2);
    lab.kubectl("-n", NAMESPACE, "rollout", "status", "deployment/numa-operator", "--timeout=300s");
    Lab.atOnce(
        NODES,
        node -> {
          nodes.takeChanges(node);
          nodes.watch(node);
        });
    // not where one of them runs: the successor would drain the other with the node
    var hosts = operators().stream().map(pod -> pod.getSpec().getNodeName()).toList();
    var blocked = NODES.stream().filter(node -> !hosts.contains(node)).findFirst().orElseThrow();
    block(blocked);
    change();
    await("%s is cordoned and not granted".formatted(blocked))
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(() -> isBlocked(blocked));
    NODES.stream()
        .filter(node -> !node.equals(blocked))
        .forEach(InterruptionLabTest::awaitConfigured);
    awaitOperators(2); // one of them may have been drained with its node
    var stale =
        await("one of them leads")
            .atMost(Lab.LONG)
            .until(InterruptionLabTest::leading, Optional::isPresent)
            .orElseThrow();
    signal(stale, "STOP");
    await("another one leads")
        .atMost(Lab.LONG)
        .until(() -> leading().filter(pod -> !isSame(pod, stale)).isPresent());
    unblock(blocked);
    NODES.forEach(InterruptionLabTest::awaitConfigured);
    var done = deeds();

    signal(stale, "CONT");
    await("it ends")
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(
            () ->
                client
                        .resource(stale)
                        .get()
                        .getStatus()
                        .getContainerStatuses()
                        .getFirst()
                        .getRestartCount()
                    > stale.getStatus().getContainerStatuses().getFirst().getRestartCount());
    Lab.sleep(Duration.ofSeconds(5)); // the agents look every 5 s
    NODES.forEach(InterruptionLabTest::awaitConfigured);
    assertThat(deeds()).isEqualTo(done);
    System.out.println("a stale leader woke: nothing was started");
  }

  /**
   * As after a restore of etcd: the objects are those of the middle of an attempt that is long
   * over, grants and cordons included, but for one cordon: the operator's new pod has to be
   * somewhere.
   */
  @Test
  @Order(4)
  void objectsFromAnOldBackupStartNothing() {
    Lab.atOnce(
        NODES,
        node -> {
          nodes.takeChanges(node);
          nodes.watch(node, "Stopping");
        });
    change();
    for (var node : NODES) {
      await(node + " is in the middle of it")
          .atMost(Lab.LONG)
          .until(() -> nodes.held(node).equals("Stopping"));
    }
    var granted = client.resources(NumaNodeState.class).list().getItems();
    Map<String, String> cordons = new TreeMap<>();
    for (var node : NODES.subList(1, NODES.size())) {
      cordons.put(node, cordon(client.nodes().withName(node).get()).orElseThrow());
    }
    assertThat(granted).hasSize(NODES.size()).allMatch(state -> state.getSpec().grant != null);
    NODES.forEach(node -> nodes.hold(node));
    NODES.forEach(InterruptionLabTest::awaitConfigured);
    change();
    for (var old : granted) {
      await().atMost(Lab.LONG).until(() -> isPlannedAnew(old));
    }
    NODES.forEach(InterruptionLabTest::awaitConfigured);
    var done = deeds();
    scale(0);
    Lab.atOnce(granted, InterruptionLabTest::restore);
    Lab.atOnce(cordons.entrySet(), old -> cordon(old.getKey(), old.getValue()));
    // as with etcd, after which nobody's watch goes on
    lab.numalab("apiserver", "stop");
    lab.numalab("apiserver", "start");
    Lab.sleep(Duration.ofSeconds(12)); // twice as long as an agent takes for a look
    assertThat(deeds()).as("the agents alone").isEqualTo(done);

    scale(1);
    for (var old : granted) {
      await("the operator has looked").atMost(Lab.LONG).until(() -> isPlannedAnew(old));
    }
    NODES.forEach(InterruptionLabTest::awaitConfigured);
    Lab.sleep(Duration.ofSeconds(5));
    assertThat(deeds()).isEqualTo(done);
    System.out.printf("%d objects of an old backup: nothing was started%n", granted.size());
  }

  private static boolean isPlannedAnew(NumaNodeState old) {
    var now = state(old.getMetadata().getName()).getSpec();
    return now.grant == null && !now.kubelet.hash.equals(old.getSpec().kubelet.hash);
  }

  private static void restore(NumaNodeState old) {
    var name = old.getMetadata().getName();
    client.resource(old).delete();
    var restored =
        new ObjectMetaBuilder()
            .withName(name)
            .withLabels(old.getMetadata().getLabels())
            .withOwnerReferences(old.getMetadata().getOwnerReferences())
            .build();
    var status = old.getStatus();
    await(name + " is gone").until(() -> state(name) == null);
    old.setMetadata(restored);
    old.setStatus(null);
    client.resource(old).create();
    client
        .resources(NumaNodeState.class)
        .withName(name)
        .subresource("status")
        .patch(
            new PatchContext.Builder().withPatchType(PatchType.JSON_MERGE).build(),
            Serialization.asJson(Map.of("status", status)));
  }

  private static void cordon(String node, String mark) {
    lab.kubectl(
        "patch",
        "node",
        node,
        "--type=merge",
        "--patch={\"metadata\": {\"annotations\": {\"%s\": \"%s\"}}, \"spec\": {\"unschedulable\": true}}"
            .formatted(Names.CORDONED_ANNOTATION, mark));
  }
}
