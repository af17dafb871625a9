package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.RolloutPolicy;
import io.numaoperator.api.SchedulerPolicy;
import java.io.IOException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
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
 * The first whole slice on three real kubelets: a change that fails, one that succeeds while
 * operator and agents are killed, then every input that must be refused.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SliceLabTest {
  private static final String POLICY = "gpu-nodes";
  private static final List<String> NODES = List.of("gpu-1", "gpu-2", "gpu-3");
  private static final String FOREIGN_FILE = "/etc/kubernetes/kubelet.conf.d/99-foreign.conf";
  private static final Set<String> WRITES = Set.of("create", "update", "patch", "delete");

  private static Lab lab;
  private static KubernetesClient client;
  private static final Set<String> OUT_OF_SERVICE = new ConcurrentSkipListSet<>();
  private static final AtomicInteger MOST_OUT = new AtomicInteger();
  private static final Map<String, String> FILES = new TreeMap<>();
  private static final Map<String, JsonNode> CONFIGZ = new TreeMap<>();

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "3");
    client = lab.client();
    client.nodes().watch(new CordonWatch());
    for (var node : NODES) {
      FILES.put(node, files(node));
      CONFIGZ.put(node, configz(node));
    }
    lab.install();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** Sees every moment at which a node is out of service. */
  private static final class CordonWatch implements Watcher<Node> {
    @Override
    public void eventReceived(Action action, Node node) {
      if (Boolean.TRUE.equals(node.getSpec().getUnschedulable())) {
        OUT_OF_SERVICE.add(node.getMetadata().getName());
      } else {
        OUT_OF_SERVICE.remove(node.getMetadata().getName());
      }
      MOST_OUT.accumulateAndGet(OUT_OF_SERVICE.size(), Math::max);
    }

    @Override
    public void onClose(WatcherException cause) {
      if (cause != null) {
        MOST_OUT.set(Integer.MAX_VALUE); // a watch that broke proves nothing
      }
    }
  }

  // ---- helpers

  private static NumaPolicy sample() {
    var policy = Lab.sample();
    policy.getSpec().scheduler.provider = SchedulerPolicy.Provider.None; // see SchedulingLabTest
    return policy;
  }

  private static void edit(Consumer<NumaPolicy> change) {
    lab.edit(POLICY, change);
  }

  private static String dropIn(String node) {
    return lab.exec(
        node,
        "sh",
        "-c",
        "cat /etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE + " 2>/dev/null || true");
  }

  /** The guard's files on a node; see GuardLabTest for what it does. */
  private static String guard(String node) {
    return lab.exec(
        node,
        "sh",
        "-c",
        "cd /; ls etc/systemd/system/*/*guard* etc/systemd/system/*guard*"
            + " var/lib/numaoperator/guard/[agns]* 2>/dev/null || true");
  }

  private static String statePolicy(String node, String file) {
    try {
      return Serialization.jsonMapper()
          .readTree(lab.kubeletFile(node, file).toFile())
          .path("policyName")
          .asText();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void deletePods(String component) {
    client
        .pods()
        .inNamespace("numa-operator-system")
        .withLabel("app.kubernetes.io/name", component)
        .withGracePeriod(0)
        .delete();
  }

  private static void killAgent(String node) {
    client
        .pods()
        .inNamespace("numa-operator-system")
        .withLabel("app.kubernetes.io/name", "numa-agent")
        .withField("spec.nodeName", node)
        .withGracePeriod(0)
        .delete();
  }

  private static void awaitAllConfigured() {
    lab.awaitPolicy(POLICY, "KubeletsConfigured", Lab::isTrue);
    await().atMost(Lab.LONG).untilAsserted(() -> assertThat(NODES).noneMatch(lab::isCordoned));
  }

  // ---- the story

  /**
   * What preflight cannot know: a wrapper around the kubelet, as a configuration manager may have
   * one, puts a drop-in that replaces our reservedMemory beside ours. The kubelet crashes before it
   * listens. FatalConditionsLabTest has the other ways to crash.
   */
  @Test
  @Order(1)
  void aChangeThatFailsIsRolledBackAndStopsThePolicy() {
    lab.exec("gpu-1", "sh", "-c", foreignFile("/var/lib/kubelet/foreign.conf"));
    lab.exec(
        "gpu-1",
        "sh",
        "-c",
        """
        mv /usr/bin/kubelet /usr/local/sbin/kubelet
        cat > /usr/bin/kubelet <<'END'
        #!/bin/sh
        rm -f %1$s
        [ ! -e /etc/kubernetes/kubelet.conf.d/%2$s ] || cp /var/lib/kubelet/foreign.conf %1$s
        exec /usr/local/sbin/kubelet "$@"
        END
        chmod 755 /usr/bin/kubelet
        """
            .formatted(FOREIGN_FILE, Names.DROP_IN_FILE));
    // gpu-1 first: the others get a failure domain that sorts behind it
    for (var node : List.of("gpu-2", "gpu-3")) {
      lab.kubectl("label", "node", node, "topology.kubernetes.io/zone=z");
    }
    var policy = sample();
    policy.getSpec().mode = NumaPolicySpec.Mode.Observe;
    client.resource(policy).create();
    for (var node : NODES) {
      // the first in the order among those whose agents answer is taken
      lab.awaitNode(node, "KubeletConfigured", c -> c.reason.equals("Differs"));
    }
    edit(p -> p.getSpec().mode = NumaPolicySpec.Mode.Enforce);

    lab.awaitNode("gpu-1", "KubeletConfigured", c -> c.reason.equals("RolledBack"));
    var attempt = lab.state("gpu-1").orElseThrow().getStatus().attempt;
    assertThat(attempt.result).isEqualTo(Result.RolledBack);
    assertThat(attempt.error).contains("is not equal to the value");
    assertThat(lab.condition("gpu-1", "KubeletConfigured").orElseThrow().message)
        .contains("is not equal to the value");
    lab.awaitPolicy(POLICY, "Stalled", Lab::isTrue);
    await().untilAsserted(() -> assertThat(lab.isCordoned("gpu-1")).isFalse());
    assertThat(dropIn("gpu-1")).isBlank();
    assertThat(guard("gpu-1")).isBlank();
    assertThat(statePolicy("gpu-1", "cpu_manager_state")).isEqualTo("none");
    assertThat(client.nodes().withName("gpu-1").get().getStatus().getConditions())
        .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
    for (var node : List.of("gpu-2", "gpu-3")) {
      assertThat(lab.state(node).orElseThrow().getStatus().attempt).isNull();
      assertThat(dropIn(node)).isBlank();
    }
    // what this cluster does not have (KAI, HAMi, the GPU Operator) is no error
    assertThat(lab.kubectl("-n", "numa-operator-system", "logs", "deployment/numa-operator"))
        .contains("\"level\":\"INFO\"")
        .doesNotContain("\"level\":\"ERROR\"");
  }

  @Test
  @Order(2)
  void anotherSpecIsTriedAndEndsTheSameThoughOperatorAndAgentsAreKilled() {
    lab.exec("gpu-1", "mv", "/usr/local/sbin/kubelet", "/usr/bin/kubelet");
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container);

    int kills = 0;
    while (lab.policyCondition(POLICY, "KubeletsConfigured").filter(Lab::isTrue).isEmpty()
        && kills < 12) {
      kills++;
      // a killed operator's successor waits for its lease: it must come to lead now and then
      if (kills % 5 == 0) {
        deletePods("numa-operator");
      } else {
        killAgent(OUT_OF_SERVICE.stream().findFirst().orElse(NODES.get(kills % NODES.size())));
      }
      Lab.sleep(Duration.ofSeconds(4));
    }
    awaitAllConfigured();
    assertThat(kills).isGreaterThan(2);
    for (var node : NODES) {
      var state = lab.state(node).orElseThrow();
      assertThat(state.getStatus().dropInHash).isEqualTo(state.getSpec().kubelet.hash);
      assertThat(state.getStatus().attempt.result).isEqualTo(Result.Succeeded);
      assertThat(dropIn(node)).contains("topologyManagerScope: container");
      assertThat(statePolicy(node, "cpu_manager_state")).isEqualTo("static");
      assertThat(statePolicy(node, "memory_manager_state")).isEqualTo("Static");
      assertThat(guard(node)).contains("99-numaoperator-guard.conf", "guard.sh");
      assertThat(guard(node)).doesNotContain("armed");
    }
    assertThat(MOST_OUT.get()).as("nodes out of service at a time").isEqualTo(1);
  }

  /**
   * The documents' example: as they print it, a kubelet does not start (src/lab, DESIGN rule 1).
   */
  @Test
  @Order(3)
  void theDocumentsExampleStarts() {
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Pod);
    awaitAllConfigured();
    assertThat(dropIn("gpu-1"))
        .contains("topologyManagerPolicy: single-numa-node", "topologyManagerScope: pod")
        .contains("memory: \"4Gi\"", "memory: \"8092Mi\"");
    var node = client.nodes().withName("gpu-1").get();
    assertThat(node.getStatus().getAllocatable().get("memory").toString()).isEqualTo("24Gi");
    assertThat(node.getStatus().getAllocatable().get("nvidia.com/gpu").toString()).isEqualTo("8");
  }

  /** A restart looks at everything again, and finds nothing to write. */
  @Test
  @Order(4)
  void anUnchangedWorldIsNotWrittenTo() {
    Lab.sleep(Duration.ofSeconds(8)); // the agents' last observations
    var predecessor = operatorPod();
    deletePods("numa-operator");
    await("a successor leads")
        .atMost(Lab.LONG)
        .ignoreExceptions() // while there is none
        .until(() -> !leader().equals(predecessor) && leader().equals(operatorPod()));
    var operator = operatorPod();
    Lab.sleep(Duration.ofSeconds(10));
    var writes =
        lab.audit().stream()
            .filter(e -> e.path("user").path("username").asText().endsWith(":numa-operator"))
            .filter(e -> podOf(e).equals(operator))
            .filter(e -> WRITES.contains(e.path("verb").asText()))
            .filter(e -> !e.path("objectRef").path("resource").asText().equals("leases"))
            // whether it may use leases is asked by creating a review, which is kept nowhere
            .filter(
                e -> !e.path("objectRef").path("apiGroup").asText().equals("authorization.k8s.io"))
            .map(e -> e.path("verb").asText() + " " + e.path("requestURI").asText())
            .toList();
    var reads = lab.audit().stream().filter(e -> podOf(e).equals(operator)).count();
    assertThat(reads).as("the new operator was at work").isGreaterThan(3);
    assertThat(writes).isEmpty();
  }

  /** Through the packaged jar: what a test of classes cannot see. */
  @Test
  @Order(4)
  void theOperatorTellsItsHealthAndCounts() {
    var proxy =
        "/api/v1/namespaces/numa-operator-system/pods/http:" + operatorPod() + ":8080/proxy/q/";
    assertThat(lab.kubectl("get", "--raw", proxy + "health/ready")).contains("\"UP\"");
    assertThat(lab.kubectl("get", "--raw", proxy + "metrics"))
        .contains("reconciliations_queue{controller_name=\"policy\"}")
        .containsPattern("reconciliations_[a-z_]*total\\{[^}]*controller_name=\"node\"");
  }

  private static String leader() {
    return client
        .leases()
        .inNamespace("numa-operator-system")
        .withName("numa-operator")
        .get()
        .getSpec()
        .getHolderIdentity();
  }

  private static String operatorPod() {
    return client
        .pods()
        .inNamespace("numa-operator-system")
        .withLabel("app.kubernetes.io/name", "numa-operator")
        .list()
        .getItems()
        .stream()
        .filter(p -> p.getMetadata().getDeletionTimestamp() == null)
        .map((Pod p) -> p.getMetadata().getName())
        .findFirst()
        .orElseThrow();
  }

  /**
   * A leader that could not renew its lease in time: two that lead would be one too many, and one
   * that never leads again one too few.
   */
  @Test
  @Order(4)
  void aLeaderThatLosesItsLeaseEndsAndComesBack() {
    var pod = client.pods().inNamespace("numa-operator-system").withName(operatorPod());
    var lease = client.leases().inNamespace("numa-operator-system").withName("numa-operator");
    lease.edit(
        it -> {
          it.getSpec().setHolderIdentity("somebody-else");
          it.getSpec().setRenewTime(ZonedDateTime.now(ZoneOffset.UTC));
          return it;
        });
    await("it ends")
        .atMost(Lab.LONG)
        .until(
            () ->
                pod.get().getStatus().getContainerStatuses().stream()
                    .anyMatch(c -> c.getRestartCount() > 0 && c.getReady()));
    await("it leads again")
        .atMost(Lab.LONG)
        .until(
            () ->
                lease
                    .get()
                    .getSpec()
                    .getHolderIdentity()
                    .equals(pod.get().getMetadata().getName()));
    awaitAllConfigured();
  }

  /** As at each upgrade: a successor need not wait until the lease has run out. */
  @Test
  @Order(4)
  void aLeaderThatEndsGivesItsLeaseBack() {
    var predecessor = operatorPod();
    var holders = new CopyOnWriteArrayList<String>();
    var watch =
        client
            .leases()
            .inNamespace("numa-operator-system")
            .withName("numa-operator")
            .watch(
                new Watcher<>() {
                  @Override
                  public void eventReceived(Action action, Lease lease) {
                    holders.add(
                        Objects.requireNonNullElse(lease.getSpec().getHolderIdentity(), "nobody"));
                  }

                  @Override
                  public void onClose(WatcherException cause) {}
                });
    try (watch) {
      client.pods().inNamespace("numa-operator-system").withName(predecessor).delete();
      await("a successor leads")
          .atMost(Lab.LONG)
          .until(
              () -> holders.stream().anyMatch(h -> !h.equals(predecessor) && !h.equals("nobody")));
    }
    assertThat(holders.stream().filter(h -> !h.equals(predecessor)).distinct().toList())
        .startsWith("nobody")
        .hasSize(2);
    awaitAllConfigured();
  }

  private static String podOf(JsonNode event) {
    return event
        .path("user")
        .path("extra")
        .path("authentication.kubernetes.io/pod-name")
        .path(0)
        .asText();
  }

  /** Each input that cannot be: a reason, and the nodes stay as they are. */
  @Test
  @Order(5)
  void badInputGetsAReasonAndNothingIsApplied() {
    var before = dropIn("gpu-2");
    refused(
        p -> p.getSpec().kubelet.cpuManager.reserved = cpus("0,99"), "ReservedCpusNotOnNode", "99");
    refused(
        p -> p.getSpec().kubelet.memoryManager.reserved.perNumaNode = "64Gi",
        "MemoryBeyondZone",
        "has 16Gi outside hugepages");
    refused(
        p -> {
          p.getSpec().kubelet.cpuManager.options = new KubeletPolicy.CpuOptions();
          p.getSpec().kubelet.cpuManager.options.distributeCpusAcrossCores = true;
        },
        "UnsupportedOption",
        "CPUManagerPolicyAlphaOptions");
    assertThat(dropIn("gpu-2")).isEqualTo(before);
    assertThat(NODES).noneMatch(lab::isCordoned);
    awaitAllConfigured();
  }

  private static String foreignFile(String path) {
    return "printf 'apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\n"
        + "reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\\n' > "
        + path;
  }

  /** A drop-in that would win over ours: told before the next restart of the kubelet finds out. */
  @Test
  @Order(5)
  void aForeignDropInIsToldBeforeItDoesHarm() {
    lab.exec("gpu-3", "sh", "-c", foreignFile(FOREIGN_FILE));
    lab.awaitNode(
        "gpu-3",
        "KubeletConfigured",
        c -> c.reason.equals("OverriddenByDropIn") && c.message.contains("99-foreign.conf"));
    lab.exec("gpu-3", "rm", FOREIGN_FILE);
    awaitAllConfigured();
  }

  private static KubeletPolicy.ReservedCpus cpus(String cpuset) {
    var reserved = new KubeletPolicy.ReservedCpus();
    reserved.cpus = cpuset;
    return reserved;
  }

  private static void refused(Consumer<NumaPolicy> change, String reason, String message) {
    var before = client.resources(NumaPolicy.class).withName(POLICY).get().getSpec();
    edit(change);
    for (var node : NODES) {
      lab.awaitNode(
          node, "KubeletConfigured", c -> c.reason.equals(reason) && c.message.contains(message));
    }
    edit(p -> p.setSpec(before));
  }

  @Test
  @Order(6)
  void aNodeStaysWithThePolicyThatHasItAndAnEmptySelectionIsReady() {
    var younger = sample();
    younger.getMetadata().setName("younger");
    client.resource(younger).create();
    lab.awaitPolicy(
        "younger",
        "Ready",
        c -> c.reason.equals("Conflict") && c.message.contains("gpu-1 (gpu-nodes)"));
    assertThat(lab.state("gpu-1").orElseThrow().getSpec().policy).isEqualTo(POLICY);
    client.resource(younger).delete();

    var nothing = sample();
    nothing.getMetadata().setName("nothing");
    nothing.getSpec().nodeSelector.matchLabels = Map.of("no.such/label", "x");
    client.resource(nothing).create();
    lab.awaitPolicy("nothing", "Ready", c -> Lab.isTrue(c) && c.reason.equals("NoNodes"));
    client.resource(nothing).delete();
  }

  /**
   * Somebody takes our file away, or edits it while its kubelet runs on: told within a minute, and
   * brought back under the same rules.
   */
  @Test
  @Order(7)
  void driftIsToldAndHealed() {
    lab.exec(
        "gpu-3",
        "sed",
        "-i",
        "s/topologyManagerScope: pod/topologyManagerScope: container/",
        "/etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE);
    await().atMost(Duration.ofMinutes(1)).until(() -> eventsOf("gpu-3").contains("KubeletDrifted"));
    lab.exec("gpu-2", "rm", "/etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE);
    lab.exec("gpu-2", "sh", "-c", "rm /var/lib/kubelet/*_manager_state");
    lab.numalab("kubelet", "restart", "gpu-2");
    lab.awaitNode("gpu-2", "KubeletConfigured", c -> !Lab.isTrue(c));
    await().atMost(Lab.LONG).until(() -> dropIn("gpu-2").contains("single-numa-node"));
    awaitAllConfigured();
    assertThat(dropIn("gpu-2")).contains("single-numa-node");
    assertThat(dropIn("gpu-3")).contains("topologyManagerScope: pod");
    assertThat(lab.state("gpu-2").orElseThrow().getStatus().attempt.number).isGreaterThan(2);
    assertThat(eventsOf("gpu-2"))
        .contains(
            "KubeletDrifted",
            "CordonedForChange",
            "ChangeGranted",
            "KubeletChanged",
            "BackInService");
    assertThat(eventsOf("gpu-1")).contains("KubeletRolledBack").doesNotContain("KubeletDrifted");
    assertThat(lab.kubectl("describe", "node", "gpu-3")).contains("KubeletDrifted");
  }

  /** The reasons of our Events of a node. */
  private static List<String> eventsOf(String node) {
    return Lab.events(client, node).stream()
        .filter(e -> Names.OPERATOR_FIELD_MANAGER.equals(e.getSource().getComponent()))
        .map(Event::getReason)
        .toList();
  }

  /** A lost node is Unknown, never Ready; after a reboot it is judged by what is seen then. */
  @Test
  @Order(8)
  void aLostNodeIsUnknownAndARebootedOneComesBack() {
    // not the operator's own: of one replica, the successor comes when the pod is evicted
    var host =
        client
            .pods()
            .inNamespace("numa-operator-system")
            .withName(operatorPod())
            .get()
            .getSpec()
            .getNodeName();
    var lost = NODES.stream().filter(node -> !node.equals(host)).toList().getLast();
    lab.numalab("node", "stop", lost);
    lab.awaitNode(lost, "KubeletConfigured", c -> c.status == Condition.Status.Unknown);
    assertThat(lab.condition(lost, "AlignmentReady").orElseThrow().status)
        .isNotEqualTo(Condition.Status.True);
    lab.numalab("node", "start", lost);
    lab.awaitNode(lost, "KubeletConfigured", Lab::isTrue);
    assertThat(lab.state(lost).orElseThrow().getStatus().bootId)
        .isEqualTo(client.nodes().withName(lost).get().getStatus().getNodeInfo().getBootID());
  }

  /**
   * Also: what an earlier policy raised is given back when it is no longer asked for, and an
   * approval holds for exactly the plan that was looked at.
   */
  @Test
  @Order(9)
  void observeShowsExactlyWhatEnforceMakesOnceItIsApproved() {
    var attempts = attempts();
    edit(
        p -> {
          p.getSpec().mode = NumaPolicySpec.Mode.Observe;
          p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container;
          p.getSpec().kubelet.memoryManager.reserved = null;
        });
    for (var node : NODES) {
      lab.awaitNode(node, "KubeletConfigured", c -> c.reason.equals("Differs"));
    }
    lab.awaitPolicy(POLICY, "Ready", c -> c.reason.equals("Differs"));
    var plan = client.resources(NumaPolicy.class).withName(POLICY).get().getStatus().plan;
    assertThat(plan.nodePlans).hasSize(1);
    assertThat(plan.nodePlans.getFirst().nodes).isEqualTo(3);
    var shown = new TreeSet<String>();
    lab.state("gpu-2").orElseThrow().getStatus().plan.changes.stream()
        .map(c -> c.field + ": " + c.from + " -> " + c.to)
        .forEach(shown::add);
    assertThat(shown)
        .contains(
            "topologyManagerScope: pod -> container",
            "systemReserved[memory]: 8092Mi -> 200Mi",
            "reservedMemory[0].memory: 4Gi -> 150Mi");
    var before = configz("gpu-2");

    edit(
        p -> {
          p.getSpec().mode = NumaPolicySpec.Mode.Enforce;
          p.getSpec().approvedPlan = "another-plan";
        });
    for (var node : NODES) {
      lab.awaitNode(
          node,
          "KubeletConfigured",
          c -> c.reason.equals("WaitingForApproval") && c.message.contains(plan.hash));
    }
    Lab.sleep(Duration.ofSeconds(3));
    assertThat(attempts()).isEqualTo(attempts);
    assertThat(NODES).noneMatch(lab::isCordoned);

    edit(p -> p.getSpec().approvedPlan = plan.hash);
    awaitAllConfigured();
    assertThat(changes(before, configz("gpu-2"))).isEqualTo(shown);
    assertThat(lab.state("gpu-2").orElseThrow().getStatus().plan.changes).isEmpty();

    var changed = attempts();
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Pod);
    lab.awaitNode("gpu-1", "KubeletConfigured", c -> c.reason.equals("WaitingForApproval"));
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container);
    awaitAllConfigured();
    assertThat(attempts()).isEqualTo(changed);
  }

  private static List<Long> attempts() {
    return NODES.stream().map(n -> lab.state(n).orElseThrow().getStatus().attempt.number).toList();
  }

  private static JsonNode configz(String node) {
    try {
      return Serialization.jsonMapper()
          .readTree(lab.kubectl("get", "--raw", "/api/v1/nodes/" + node + "/proxy/configz"))
          .path("kubeletconfig");
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** All that differs between two configurations, in the words of status.plan.changes. */
  private static Set<String> changes(JsonNode before, JsonNode after) {
    var from = values(before);
    var to = values(after);
    var names = new TreeSet<>(from.keySet());
    names.addAll(to.keySet());
    var changes = new TreeSet<String>();
    for (var name : names) {
      if (!Objects.equals(from.get(name), to.get(name))) {
        changes.add(name + ": " + from.get(name) + " -> " + to.get(name));
      }
    }
    return changes;
  }

  private static Map<String, String> values(JsonNode config) {
    var values = new TreeMap<String, String>();
    for (var field : config.properties()) {
      var value = field.getValue();
      if (field.getKey().equals("reservedMemory")) {
        value.forEach(
            zone ->
                values.put(
                    "reservedMemory[" + zone.path("numaNode") + "].memory",
                    zone.path("limits").path("memory").asText()));
      } else if (value.isObject()) {
        value
            .properties()
            .forEach(e -> values.put(field.getKey() + "[" + e.getKey() + "]", text(e.getValue())));
      } else {
        values.put(field.getKey(), text(value));
      }
    }
    return values;
  }

  private static String text(JsonNode value) {
    return value.isValueNode() ? value.asText() : value.toString();
  }

  /**
   * Deleting the policy leaves the kubelets as they are, and nothing of ours behind; also when its
   * owner had asked for more and thinks better of it, since that waits.
   */
  @Test
  @Order(10)
  void deletingThePolicyLeavesTheKubelets() {
    edit(
        p -> {
          p.getSpec().rollout.onDelete = RolloutPolicy.OnDelete.Restore;
          p.getMetadata().getAnnotations().put(Names.PAUSED_ANNOTATION, "true");
        });
    await().atMost(Lab.LONG).until(SliceLabTest::hasFinalizer);
    client.resources(NumaPolicy.class).withName(POLICY).delete();
    lab.awaitPolicy(
        POLICY, "Ready", c -> c.reason.equals("Restoring") && c.message.contains("gpu-1 (Paused"));
    edit(p -> p.getSpec().rollout.onDelete = RolloutPolicy.OnDelete.Keep);
    nothingOfOursIsLeft();
    assertThat(dropIn("gpu-1")).contains("single-numa-node");
    assertThat(statePolicy("gpu-1", "cpu_manager_state")).isEqualTo("static");
  }

  private static boolean hasFinalizer() {
    return client
        .resources(NumaPolicy.class)
        .withName(POLICY)
        .get()
        .getMetadata()
        .getFinalizers()
        .contains(Names.RESTORE_FINALIZER);
  }

  private static void nothingOfOursIsLeft() {
    await()
        .atMost(Lab.LONG)
        .ignoreExceptions() // the API server may be away
        .until(() -> client.resources(NumaPolicy.class).withName(POLICY).get() == null);
    await()
        .atMost(Lab.LONG)
        .untilAsserted(
            () -> {
              assertThat(client.resources(NumaNodeState.class).list().getItems()).isEmpty();
              assertThat(
                      client
                          .apps()
                          .daemonSets()
                          .inNamespace("numa-operator-system")
                          .list()
                          .getItems())
                  .isEmpty();
            });
    assertThat(NODES).noneMatch(lab::isCordoned);
  }

  /**
   * Every file and every setting is as it was before the operator came. The API server is away in
   * the middle of it: nothing can be said of a kubelet then, and nothing is held against it.
   */
  @Test
  @Order(11)
  void aPolicyCanRestoreItsNodesBeforeItGoes() {
    var policy = sample();
    policy.getSpec().rollout.onDelete = RolloutPolicy.OnDelete.Restore;
    policy.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container;
    policy.getSpec().kubelet.memoryManager.reserved = null;
    client.resource(policy).create();
    awaitAllConfigured();
    await().atMost(Lab.LONG).until(SliceLabTest::hasFinalizer);
    assertThat(dropIn("gpu-1")).isNotBlank();

    client.resources(NumaPolicy.class).withName(POLICY).delete();
    await()
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () ->
                lab.state("gpu-1")
                    .map(s -> s.getStatus().attempt)
                    .filter(a -> a.step == NumaNodeStateStatus.Step.Verifying)
                    .isPresent());
    lab.numalab("apiserver", "stop");
    Lab.sleep(Duration.ofSeconds(20));
    lab.numalab("apiserver", "start");
    nothingOfOursIsLeft();

    for (var node : NODES) {
      assertThat(files(node)).as(node).isEqualTo(FILES.get(node));
      assertThat(configz(node)).as(node).isEqualTo(CONFIGZ.get(node));
      assertThat(statePolicy(node, "cpu_manager_state")).isEqualTo("none");
      assertThat(eventsOf(node)).contains("KubeletRestored");
    }
    assertThat(eventsOf("gpu-2")).doesNotContain("KubeletRolledBack");
    assertThat(lab.exec("gpu-1", "cat", "/var/lib/numaoperator/journal.json"))
        .contains("\"result\" : \"Succeeded\"", "\"form\" : \"NONE\"");
  }

  /** Every file that configures the kubelet, with its hash. */
  private static String files(String node) {
    return lab.exec(
        node,
        "sh",
        "-c",
        "find /etc/kubernetes /etc/systemd/system /etc/default /var/lib/kubelet/config.yaml"
            + " /var/lib/kubelet/kubeadm-flags.env -type f | sort | xargs sha256sum");
  }
}
