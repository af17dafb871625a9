package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Condition;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.RolloutPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * {@code rollout.onDelete: Restore} of kubelets that run without --config-dir: two were given a
 * drop-in directory by their unit, of two the main file was edited, as of kubelets before 1.32. Of
 * each two, one loses its agent when the files are gone and the kubelet is down, and one refuses
 * what its owner has.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RestoreLabTest {
  private static final List<String> GIVEN = List.of("gpu-1", "gpu-2");
  private static final List<String> EDITED = List.of("gpu-3", "gpu-4");
  private static final List<String> KILLED = List.of("gpu-1", "gpu-3");
  private static final List<String> REFUSED = List.of("gpu-2", "gpu-4");
  private static final List<String> NODES = Stream.of(GIVEN, EDITED).flatMap(List::stream).toList();

  private static HeldNodes nodes;
  private static Lab lab;
  private static KubernetesClient client;
  private static final Map<String, String> OWN = new ConcurrentHashMap<>();
  private static final Map<String, String> CHANGED = new ConcurrentHashMap<>();

  @BeforeAll
  static void up() {
    nodes = HeldNodes.up("--nodes", "4", "--gpus-per-zone", "0", "--no-config-dir");
    lab = nodes.lab();
    client = lab.client();
    nodes.install(NODES);
    Lab.atOnce(
        EDITED,
        node -> {
          nodes.growOld(node);
          lab.numalab("kubelet", "restart", node);
        });
    for (var node : EDITED) {
      await(node + " is old")
          .until(
              () -> client.nodes().withName(node).get().getStatus().getNodeInfo(),
              info -> info.getKubeletVersion().startsWith("v1.31."));
    }
    for (var node : NODES) {
      await(node).ignoreExceptions().until(() -> !running(node).isEmpty());
      OWN.put(node, running(node));
    }
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** The files that configure a kubelet, its command line, and what it says it runs with. */
  private static String running(String node) {
    var files =
        lab.exec(
            node,
            "sh",
            "-c",
            "find /etc/kubernetes /etc/systemd/system /etc/default /var/lib/kubelet/config.yaml"
                + " /var/lib/kubelet/kubeadm-flags.env -type f | sort | xargs sha256sum;"
                + " tr '\\0' ' ' < /proc/$(pgrep -x -o kubelet)/cmdline"
                // what refuses a configuration starts the same kubelet from elsewhere
                + " | sed 's,^/usr/local/sbin/,/usr/bin/,'; echo;"
                + " grep -o '\"policyName\":\"[A-Za-z]*\"' /var/lib/kubelet/*_manager_state");
    return files + lab.kubectl("get", "--raw", "/api/v1/nodes/" + node + "/proxy/configz");
  }

  private static Optional<Condition> configured(String node) {
    return lab.condition(node, "KubeletConfigured");
  }

  @Test
  @Order(1)
  void kubeletsGetTheirSettingsInEitherForm() {
    var policy = HeldNodes.policy();
    policy.getSpec().rollout.onDelete = RolloutPolicy.OnDelete.Restore;
    policy.getSpec().kubelet.memoryManager.reserved.perNumaNode = "500Mi";
    client.resource(policy).create();
    for (var node : NODES) {
      await(node + " is as wanted")
          .atMost(Lab.LONG)
          .pollInterval(Duration.ofSeconds(1))
          .ignoreExceptions()
          .until(() -> configured(node).get().reason.equals("Configured") && !lab.isCordoned(node));
      CHANGED.put(node, running(node));
      assertThat(CHANGED.get(node))
          .as(node)
          .contains("\"topologyManagerPolicy\":\"single-numa-node\"", "numaoperator-guard");
    }
    for (var node : GIVEN) {
      assertThat(CHANGED.get(node))
          .contains("60-numaoperator-config-dir.conf", Names.DROP_IN_FILE, "--config-dir=");
    }
    for (var node : EDITED) {
      assertThat(CHANGED.get(node)).doesNotContain("--config-dir=", Names.DROP_IN_FILE);
      assertThat(lab.exec(node, "cat", "/var/lib/kubelet/config.yaml"))
          .contains("numaoperator.io", "single-numa-node");
    }
  }

  @Test
  @Order(2)
  void theyGetTheirOwnBackOrStayAsTheyAre() {
    for (var node : NODES) {
      nodes.watch(node);
    }
    KILLED.forEach(node -> nodes.hold(node, "Starting"));
    REFUSED.forEach(nodes::refuseChanges);
    client.resources(NumaPolicy.class).withName(HeldNodes.POLICY).delete();
    for (var node : KILLED) {
      await(node + ": the files are gone, the kubelet is down")
          .atMost(Lab.LONG)
          .until(() -> nodes.held(node).equals("Starting"));
    }
    Lab.atOnce(KILLED, nodes::killAgent);
    KILLED.forEach(node -> nodes.hold(node));

    for (var node : REFUSED) {
      await(node + " refuses what its owner has")
          .atMost(Lab.LONG)
          .ignoreExceptions()
          .until(() -> configured(node).get().reason.equals("RolledBack") && !lab.isCordoned(node));
      var attempt = attempt(node);
      assertThat(attempt.result).isEqualTo(Result.RolledBack);
      assertThat(attempt.error).contains(HeldNodes.REFUSAL);
      assertThat(running(node)).as(node).isEqualTo(CHANGED.get(node));
    }
    for (var node : KILLED) {
      await(node + " is let go").atMost(Lab.LONG).until(() -> lab.state(node).isEmpty());
      await(node + " is in service").until(() -> !lab.isCordoned(node));
      assertThat(running(node)).as(node).isEqualTo(OWN.get(node));
      assertThat(nodes.starts(node)).as("%s: by the guard's timer", node).hasSize(1);
      assertThat(lab.exec(node, "ls", "/var/lib/numaoperator", "/var/lib/numaoperator/guard"))
          .as(node)
          .doesNotContain("main-file", "guard.sh", "armed");
    }
  }

  /** The last two keep the policy; it says so, and goes when they are let go. */
  @Test
  @Order(3)
  void thePolicyWaitsForThoseThatFailedUntilTheyAreLetGo() {
    var policy = client.resources(NumaPolicy.class).withName(HeldNodes.POLICY);
    await("the policy tells which is missing")
        .atMost(Lab.LONG)
        .until(
            () ->
                policy.get().getStatus().conditions.stream()
                    .anyMatch(
                        c ->
                            c.reason.equals("Restoring")
                                && c.message.contains(REFUSED.getFirst() + " (RolledBack")));
    assertThat(nodes.history(REFUSED.getFirst())).filteredOn(l -> l.contains("Done")).hasSize(1);
    REFUSED.forEach(node -> lab.kubectl("annotate", "node", node, Names.SKIP_ANNOTATION + "=true"));
    await("the policy is gone").atMost(Lab.LONG).until(() -> policy.get() == null);
    for (var node : REFUSED) {
      assertThat(running(node)).as(node).isEqualTo(CHANGED.get(node));
    }
    System.out.println("4 restores on real kubelets: 2 with the agent killed, 2 refused");
  }

  private static Attempt attempt(String node) {
    return lab.state(node).orElseThrow().getStatus().attempt;
  }
}
