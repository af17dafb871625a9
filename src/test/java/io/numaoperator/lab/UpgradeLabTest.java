package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.readiness.NodeReadiness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The operator of now and one that was really built from an older commit ({@code make
 * test-upgrade}), on two real kubelets: up in the middle of a change, down, and up again.
 */
@Tag("upgrade")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class UpgradeLabTest {
  private static final String POLICY = "gpu-nodes";
  private static final String NAMESPACE = "numa-operator-system";
  private static final String IMAGE_OF_BEFORE = "numa.test/numa-operator-of-before";
  private static final List<String> NODES = List.of("gpu-1", "gpu-2");

  private static Path before;
  private static Lab lab;

  @BeforeAll
  static void up() throws IOException {
    before = Path.of(System.getProperty("upgrade.before", ""));
    if (!Files.exists(before.resolve("target/dist/bin/numa-operator"))) {
      throw new IllegalStateException("no operator of before: run this by 'make test-upgrade'");
    }
    lab = Lab.up("--nodes", "2", "--image", IMAGE_OF_BEFORE + "=" + before.resolve("target/dist"));
    useOtherImage();
  }

  /** The lab goes by an image's name, not by its tag: the two need different ones. */
  private static void useOtherImage() throws IOException {
    var file = before.resolve("config/manager/deployment.yaml");
    Files.writeString(file, Files.readString(file).replace(Lab.IMAGE, IMAGE_OF_BEFORE));
  }

  @AfterAll
  static void down() {
    if (lab != null) {
      lab.close();
    }
  }

  /**
   * The agent of before brings the change to its end, under the operator of now; then it is
   * replaced. The node whose turn comes later is changed by an agent of now.
   */
  @Test
  @Order(1)
  void anUpgradeInTheMiddleOfAChange() {
    install(before);
    var policy = Lab.sample();
    policy.getSpec().scheduler.provider = SchedulerPolicy.Provider.None;
    policy.getSpec().rollout.verification.window = "45s";
    lab.client().resource(policy).create();
    await("the first attempt")
        .atMost(Lab.LONG)
        .until(() -> NODES.stream().anyMatch(n -> attempt(n).step == Step.Verifying));
    var changing =
        NODES.stream().filter(n -> attempt(n).step == Step.Verifying).findFirst().orElseThrow();
    var other = NODES.get(1 - NODES.indexOf(changing));
    var agent = agent(changing);
    assertThat(template(agent)).isEmpty();

    install(Path.of(""));
    await("the other node's agent is replaced")
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(() -> !template(agent(other)).isEmpty());
    await("the attempt of the agent of before ends")
        .atMost(Lab.LONG)
        .until(
            () -> {
              // in this order: it may end, and its agent be replaced, at any moment
              var replaced = !agents().containsValue(name(agent));
              var running = attempt(changing).result == null;
              assertThat(running && replaced)
                  .as("an agent is not replaced in the middle of its attempt")
                  .isFalse();
              return !running;
            });
    assertThat(attempt(changing).result).isEqualTo(Result.Succeeded);
    assertThat(attempt(changing).number).isEqualTo(1L);
    await("it is replaced then")
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(() -> !template(agent(changing)).isEmpty());
    awaitAllAligned();
    assertThat(attempt(other).number).isEqualTo(1L);
  }

  /** Older operator, newer agents: no kubelet is touched, and changes are carried out. */
  @Test
  @Order(2)
  void aDowngradeLeavesKubeletsAlone() {
    var kubelets = kubelets();
    var agents = agents();
    install(before);
    staysAsItIs(kubelets);
    assertThat(agents()).isEqualTo(agents);

    lab.edit(
        POLICY,
        p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container);
    await("both are changed")
        .atMost(Lab.LONG)
        .until(() -> NODES.stream().allMatch(n -> succeeded(n, 2)));
    awaitAllAligned();
    assertThat(agents()).isEqualTo(agents);
  }

  /** Agents that are of this version already stay, and so do the kubelets. */
  @Test
  @Order(3)
  void anUpgradeLeavesKubeletsAlone() {
    var kubelets = kubelets();
    var agents = agents();
    install(Path.of(""));
    staysAsItIs(kubelets);
    assertThat(agents()).isEqualTo(agents);
  }

  private static void install(Path tree) {
    lab.kubectl("apply", "-k", tree.resolve("config/default").toString());
    lab.kubectl("-n", NAMESPACE, "rollout", "status", "deployment/numa-operator", "--timeout=300s");
  }

  /** Long enough for the new leader to have planned, judged and, were it so, begun something. */
  private static void staysAsItIs(Map<String, String> kubelets) {
    var leader =
        lab.client()
            .pods()
            .inNamespace(NAMESPACE)
            .withLabel("app.kubernetes.io/name", "numa-operator");
    await("one operator").atMost(Lab.LONG).until(() -> leader.list().getItems().size() == 1);
    await("it leads")
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(
            () ->
                lab.client().leases().inNamespace(NAMESPACE).list().getItems().stream()
                    .anyMatch(
                        lease ->
                            name(leader.list().getItems().getFirst())
                                .equals(lease.getSpec().getHolderIdentity())));
    await("nothing happens")
        .during(Duration.ofSeconds(30))
        .atMost(Duration.ofSeconds(60))
        .until(() -> kubelets().equals(kubelets));
    awaitAllAligned();
    assertThat(kubelets()).isEqualTo(kubelets);
  }

  private static void awaitAllAligned() {
    NODES.forEach(node -> lab.awaitNode(node, NodeReadiness.ALIGNMENT, Lab::isTrue));
    lab.awaitPolicy(POLICY, "Ready", Lab::isTrue);
    NODES.forEach(node -> assertThat(lab.isCordoned(node)).isFalse());
  }

  /** What shows that a kubelet was touched: its process, its drop-in, the number of attempts. */
  private static Map<String, String> kubelets() {
    var seen = new TreeMap<String, String>();
    for (var node : NODES) {
      var status = lab.state(node).orElseThrow().getStatus();
      seen.put(
          node,
          "pid %d drop-in %s attempt %d cordoned %s"
              .formatted(
                  status.inventory.kubelet.pid,
                  status.dropInHash,
                  status.attempt.number,
                  lab.isCordoned(node)));
    }
    return seen;
  }

  private static Map<String, String> agents() {
    var names = new TreeMap<String, String>();
    NODES.forEach(node -> pod(node).ifPresent(pod -> names.put(node, name(pod))));
    return names;
  }

  private static boolean succeeded(String node, long attempt) {
    return attempt(node).number >= attempt && attempt(node).result == Result.Succeeded;
  }

  private static Attempt attempt(String node) {
    return lab.state(node)
        .map(NumaNodeState::getStatus)
        .map(status -> status.attempt)
        .orElseGet(Attempt::new);
  }

  private static Pod agent(String node) {
    return pod(node).orElseThrow();
  }

  private static Optional<Pod> pod(String node) {
    return lab
        .client()
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", "numa-agent")
        .list()
        .getItems()
        .stream()
        .filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .findFirst();
  }

  private static String name(Pod pod) {
    return pod.getMetadata().getName();
  }

  /** What it was made from, as the operator of now notes it; that of before notes nothing. */
  private static String template(Pod agent) {
    return agent.getMetadata().getAnnotations() == null
        ? ""
        : agent.getMetadata().getAnnotations().getOrDefault(Names.AGENT_ANNOTATION, "");
  }
}
