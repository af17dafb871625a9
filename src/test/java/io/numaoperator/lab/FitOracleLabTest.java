package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.KubeletRules;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import io.numaoperator.topology.fit.PodRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random pods on real kubelets, past any scheduler: what the model says of the node's state files
 * must be what the kubelet does.
 */
@Tag("lab")
class FitOracleLabTest {
  private static final int PODS_EACH = 38;
  private static final int GPUS = 3;
  private static Lab lab;

  /** One kubelet configuration on one node. */
  private record Setting(String node, Policy policy, Scope scope) {}

  /**
   * Two rounds on four nodes, not eight nodes at a time: a kubelet takes 7 of the 128 inotify
   * instances that root has, and other labs run beside this one.
   */
  private static final List<List<Setting>> ROUNDS =
      List.of(
          List.of(
              new Setting("two-a", Policy.SingleNumaNode, Scope.Pod),
              new Setting("two-b", Policy.SingleNumaNode, Scope.Container),
              new Setting("four-a", Policy.Restricted, Scope.Pod),
              new Setting("four-b", Policy.BestEffort, Scope.Container)),
          List.of(
              new Setting("two-a", Policy.Restricted, Scope.Container),
              new Setting("two-b", Policy.None, Scope.Container),
              new Setting("four-a", Policy.BestEffort, Scope.Pod),
              new Setting("four-b", Policy.SingleNumaNode, Scope.Pod)));

  @BeforeAll
  static void up() {
    lab = Lab.up("--no-nodes");
    for (var setting : ROUNDS.getFirst()) {
      var zones = setting.node().startsWith("two") ? "2" : "4";
      lab.numalab("node", "add", setting.node(), "--zones", zones, "--gpus-per-zone", "" + GPUS);
    }
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  @Test
  void theModelSaysWhatTheKubeletDoes() throws Exception {
    var wrong = Collections.synchronizedList(new ArrayList<String>());
    var answers = Collections.synchronizedList(new ArrayList<Boolean>());
    long seed = 0;
    for (var round : ROUNDS) {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var running = new ArrayList<Future<?>>();
        for (var setting : round) {
          var random = new Random(seed++); // the same pods in every run
          running.add(threads.submit(() -> compare(setting, random, wrong, answers)));
        }
        for (var each : running) {
          each.get();
        }
      }
    }
    assertThat(answers).hasSizeGreaterThanOrEqualTo(300);
    assertThat(answers).filteredOn(admitted -> admitted).hasSizeGreaterThan(75);
    assertThat(answers).filteredOn(admitted -> !admitted).hasSizeGreaterThan(50);
    assertThat(wrong).isEmpty();
  }

  private static void compare(
      Setting setting, Random random, List<String> wrong, List<Boolean> answers) {
    var state = configure(setting);
    for (int i = 0; i < PODS_EACH; ) {
      var active = active(setting.node());
      if (active.size() > 2 && random.nextInt(3) == 0) {
        delete(active.get(random.nextInt(active.size())));
        continue;
      }
      var request = RandomPods.request(random);
      if (RandomPods.exceedsTheNode(lab, setting.node(), request)) {
        if (!active.isEmpty()) {
          delete(active.get(random.nextInt(active.size())));
        }
        continue;
      }
      var uids = active.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
      var free = state.free(uids, GPUS);
      var said = Fit.of(free, request);
      var name =
          "%s-%s-%d"
              .formatted(
                  setting.node(),
                  (setting.policy() + "-" + setting.scope()).toLowerCase(Locale.ROOT),
                  i++);
      var pod = run(setting.node(), name, request);
      boolean admitted = !"Failed".equals(pod.getStatus().getPhase());
      answers.add(admitted);
      if (admitted == said instanceof Fit.DoesNotFit) {
        wrong.add(
            "%s%n  %s%n  %s%n  said %s%n  real %s %s: %s"
                .formatted(
                    setting,
                    free,
                    request,
                    said,
                    admitted,
                    pod.getStatus().getReason(),
                    pod.getStatus().getMessage()));
      }
      if (!admitted) {
        delete(pod);
      }
    }
    active(setting.node()).forEach(FitOracleLabTest::delete);
  }

  /** Stops the kubelet, deletes its state, writes the drop-in and starts it. */
  private static KubeletState configure(Setting setting) {
    var rules = KubeletRules.of(setting.policy(), setting.scope());
    var state = KubeletState.of(lab, setting.node(), rules);
    var policy =
        switch (setting.policy()) {
          case None -> "none";
          case BestEffort -> "best-effort";
          case Restricted -> "restricted";
          case SingleNumaNode -> "single-numa-node";
        };
    lab.numalab("kubelet", "stop", setting.node());
    try {
      Files.deleteIfExists(lab.kubeletFile(setting.node(), "cpu_manager_state"));
      Files.deleteIfExists(lab.kubeletFile(setting.node(), "memory_manager_state"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    lab.exec(
        setting.node(),
        "sh",
        "-c",
        "cat > /etc/kubernetes/kubelet.conf.d/90-oracle.conf <<'END'\n"
            + state.dropIn(policy, setting.scope().name().toLowerCase(Locale.ROOT))
            + "END\n");
    var started = Instant.now();
    lab.numalab("kubelet", "start", setting.node());
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> Files.exists(lab.kubeletFile(setting.node(), "memory_manager_state")));
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> ready(setting.node(), started, state.ids().size() * GPUS));
    return state;
  }

  /**
   * By a report that this kubelet made when its device plugin had had time to register again: the
   * first ones repeat what the last kubelet knew.
   */
  private static boolean ready(String node, Instant started, int gpus) {
    var status = lab.client().nodes().withName(node).get().getStatus();
    return status.getConditions().stream()
            .filter(c -> c.getType().equals("Ready") && c.getStatus().equals("True"))
            .anyMatch(c -> Instant.parse(c.getLastHeartbeatTime()).isAfter(started.plusSeconds(8)))
        && new Quantity("" + gpus).equals(status.getAllocatable().get("nvidia.com/gpu"));
  }

  private static List<Pod> active(String node) {
    return lab
        .client()
        .pods()
        .inNamespace("default")
        .withField("spec.nodeName", node)
        .list()
        .getItems()
        .stream()
        .filter(pod -> !"Failed".equals(pod.getStatus().getPhase()))
        .toList();
  }

  private static void delete(Pod pod) {
    lab.client().resource(pod).withGracePeriod(0).delete();
    await().atMost(Lab.PATIENCE).until(() -> lab.client().resource(pod).get() == null);
    // a forced deletion leaves the API first: until the kubelet knows, the pod is active for it
    var uid = pod.getMetadata().getUid();
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> !Files.exists(lab.kubeletFile(pod.getSpec().getNodeName(), "pods/" + uid)));
  }

  private static Pod run(String node, String name, PodRequest request) {
    lab.client()
        .resource(
            RandomPods.pod(name, request).edit().editSpec().withNodeName(node).endSpec().build())
        .create();
    return await()
        .atMost(Lab.PATIENCE)
        .until(
            () -> lab.client().pods().inNamespace("default").withName(name).get(),
            pod -> Set.of("Running", "Failed").contains(pod.getStatus().getPhase()));
  }
}
