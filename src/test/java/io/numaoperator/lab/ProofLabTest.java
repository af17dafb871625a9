package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.agent.ProofPod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Proof pods on real kubelets: one that aligns, and one that is right by its configuration only.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ProofLabTest {
  private static final String POLICY = "gpu-nodes";
  private static final String NAMESPACE = "numa-operator-system";

  private static Lab lab;
  private static KubernetesClient client;

  /** The last that a watch saw of each proof pod, and how often each was made. */
  private static final Map<String, Pod> SEEN = new ConcurrentHashMap<>();

  private static final Map<String, Set<String>> UIDS = new ConcurrentHashMap<>();

  /**
   * What its agent told of proof pods, and the attempts by step: node/attempt/step → first seen.
   */
  private static final Map<String, PlacedContainer> HELD = new ConcurrentHashMap<>();

  private static final Map<String, Instant> STEPS = new ConcurrentHashMap<>();

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "3");
    client = lab.client();
    client.pods().inNamespace(NAMESPACE).withLabel(Names.PROOF_LABEL).watch(new Pods());
    lab.install();
    client.resources(NumaNodeState.class).watch(new States());
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  private static final class Pods implements Watcher<Pod> {
    @Override
    public void eventReceived(Action action, Pod pod) {
      var name = NAMESPACE + "/" + pod.getMetadata().getName();
      SEEN.put(name, pod);
      UIDS.computeIfAbsent(name, n -> ConcurrentHashMap.newKeySet())
          .add(pod.getMetadata().getUid());
    }

    @Override
    public void onClose(WatcherException cause) {}
  }

  private static final class States implements Watcher<NumaNodeState> {
    @Override
    public void eventReceived(Action action, NumaNodeState state) {
      var status = state.getStatus();
      if (status == null || status.attempt == null) {
        return;
      }
      STEPS.putIfAbsent(
          "%s/%d/%s"
              .formatted(state.getMetadata().getName(), status.attempt.number, status.attempt.step),
          Instant.now());
      if (status.containers != null && status.containers.proofs != null) {
        status.containers.proofs.forEach(container -> HELD.put(container.pod, container));
        assertNobodysWorkload(state);
      }
    }

    /** Told by the pods' own test below: a watch cannot fail a test. */
    private static void assertNobodysWorkload(NumaNodeState state) {
      var containers = state.getStatus().containers;
      if (containers.placed.stream().anyMatch(c -> c.pod.contains(ProofPod.NAME))
          || containers.aligned + containers.crossNuma > 0) {
        STEPS.put("counted " + state.getMetadata().getName(), Instant.now());
      }
    }

    @Override
    public void onClose(WatcherException cause) {}
  }

  private static NumaPolicy policy() {
    var policy = Lab.sample();
    policy.getSpec().scheduler.provider = SchedulerPolicy.Provider.None;
    policy.getSpec().nodeSelector.matchLabels = Map.of("proof", "a");
    return policy;
  }

  private static Optional<Attempt> attempt(String node) {
    return lab.state(node)
        .flatMap(state -> Optional.ofNullable(state.getStatus()))
        .flatMap(status -> Optional.ofNullable(status.attempt));
  }

  private static Attempt ended(String node) {
    return await(node + " ended")
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofMillis(500))
        .until(() -> attempt(node), a -> a.filter(known -> known.result != null).isPresent())
        .orElseThrow();
  }

  private static void awaitInService(String node) {
    await(node + " in service").until(() -> !lab.isCordoned(node));
    await("proof pods are gone")
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .pods()
                            .inNamespace(NAMESPACE)
                            .withLabel(Names.PROOF_LABEL)
                            .list()
                            .getItems())
                    .isEmpty());
  }

  private static List<String> events(String node, String reason) {
    return Lab.events(client, node).stream()
        .filter(e -> reason.equals(e.getReason()))
        .map(Event::getMessage)
        .toList();
  }

  @Test
  @Order(1)
  void eachZoneHasHeldAPodWithAGpuBeforeTheNodeGoesBackIntoService() {
    // the agents of the others are there before their time, see below
    lab.kubectl("annotate", "node", "gpu-2", "gpu-3", Names.SKIP_ANNOTATION + "=true");
    lab.kubectl("label", "node", "gpu-1", "gpu-2", "gpu-3", "proof=a");
    client.resource(policy()).create();
    var attempt = ended("gpu-1");
    assertThat(attempt.result).as(attempt.error).isEqualTo(Result.Succeeded);
    assertThat(attempt.proof).as(attempt.proofMessage).isEqualTo(ProofVerdict.Passed);
    awaitInService("gpu-1");

    assertThat(HELD.values()).hasSize(2).allMatch(c -> c.placement == Placement.Aligned);
    var zones = new TreeSet<Integer>();
    for (var container : HELD.values()) {
      assertThat(container.deviceZones).isEqualTo(container.cpuZones);
      assertThat(container.memoryZones).isEqualTo(container.cpuZones);
      zones.addAll(container.cpuZones);
    }
    assertThat(zones).containsExactly(0, 1);
    assertThat(SEEN.values())
        .allMatch(pod -> "Guaranteed".equals(pod.getStatus().getQosClass()))
        .allMatch(pod -> pod.getSpec().getNodeName().equals("gpu-1"));
    assertThat(UIDS.values()).as("one set of pods").allMatch(uids -> uids.size() == 1);
    assertThat(STEPS).doesNotContainKey("counted gpu-1");
    assertThat(events("gpu-1", "KubeletChanged")).singleElement().asString().contains("of zone 1");
    System.out.printf(
        "the proof of gpu-1 took %d ms%n",
        between("gpu-1", attempt.number, Step.Proving, Step.Done));
  }

  private static long between(String node, long attempt, Step from, Step to) {
    return Duration.between(
            STEPS.get("%s/%d/%s".formatted(node, attempt, from)),
            STEPS.get("%s/%d/%s".formatted(node, attempt, to)))
        .toMillis();
  }

  @Test
  @Order(2)
  void operatorAndAgentMayBeKilledMeanwhile() {
    forget();
    lab.kubectl("annotate", "node", "gpu-3", Names.SKIP_ANNOTATION + "-");
    await("gpu-3 is at its proof")
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> STEPS.keySet().stream().anyMatch(step -> step.matches("gpu-3/.*/Proving")));
    killPods("numa-operator");
    killPods("numa-agent");
    var attempt = ended("gpu-3");
    assertThat(attempt.result).as(attempt.error).isEqualTo(Result.Succeeded);
    assertThat(attempt.proof).as(attempt.proofMessage).isEqualTo(ProofVerdict.Passed);
    awaitInService("gpu-3");
    assertThat(UIDS).hasSize(2);
    assertThat(UIDS.values()).as("one set of pods").allMatch(uids -> uids.size() == 1);
  }

  private static void forget() {
    HELD.clear();
    SEEN.clear();
    UIDS.clear();
  }

  private static void killPods(String name) {
    client
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", name)
        .withGracePeriod(0)
        .delete();
  }

  /**
   * The kubelet numbers the zones otherwise than its device plugin and the agent: it starts with
   * the kernel's node0 and node1 exchanged, as seen by what is started on the node from now on. Its
   * configuration, its state files and its devices are as wanted all the same.
   */
  @Test
  @Order(3)
  void aKubeletThatIsRightByItsConfigurationOnlyIsRolledBack() {
    forget();
    await("the agent of gpu-2 runs")
        .until(
            () ->
                lab.state("gpu-2")
                    .flatMap(state -> Optional.ofNullable(state.getStatus()))
                    .flatMap(status -> Optional.ofNullable(status.inventory))
                    .isPresent());
    lab.exec(
        "gpu-2",
        "sh",
        "-c",
        """
        cd /sys/devices/system/node && mkdir -p /run/nodes && mount -t tmpfs nodes /run/nodes &&
        cp -r node0 /run/nodes/zero && cp -r node1 /run/nodes/one &&
        mount --bind /run/nodes/one node0 && mount --bind /run/nodes/zero node1
        """);
    lab.kubectl("annotate", "node", "gpu-2", Names.SKIP_ANNOTATION + "-");
    var attempt = ended("gpu-2");
    System.out.println(
        "gpu-2: " + attempt.result + " " + attempt.error + " " + attempt.proofMessage);
    assertThat(attempt.result).isEqualTo(Result.RolledBack);
    assertThat(attempt.error).startsWith("the proof failed: proof pod ").contains("is not aligned");
    assertThat(STEPS).containsKey("gpu-2/%d/Proving".formatted(attempt.number));
    awaitInService("gpu-2");
    assertThat(lab.exec("gpu-2", "ls", "/etc/kubernetes/kubelet.conf.d"))
        .doesNotContain(Names.DROP_IN_FILE);
    assertThat(UIDS.values()).as("one set of pods").allMatch(uids -> uids.size() == 1);
    assertThat(events("gpu-2", "KubeletRolledBack")).singleElement().asString().contains("proof");
  }
}
