package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.numaoperator.api.RolloutPolicy.OnDelete;
import io.numaoperator.bundle.OlmInstall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The operator as people install it: into a cluster, at work, and out again by the documented
 * order, in each way after the other. What is left behind is compared, object by object and file by
 * file, with what docs/install.md says.
 */
@Tag("install")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InstallTest {
  private static final List<String> NODES = List.of("gpu-1", "gpu-2");
  private static final String POLICY = "gpu-nodes";

  /**
   * What {@code kubectl} is told to apply, and to delete.
   *
   * @param objects its last arguments
   */
  record Way(String name, Supplier<List<String>> objects) {
    void install() {
      kubectl("apply", "--server-side");
      lab.kubectl(
          "-n",
          "numa-operator-system",
          "rollout",
          "status",
          "deployment/numa-operator",
          "--timeout=300s");
    }

    void remove() {
      kubectl("delete");
    }

    private void kubectl(String... command) {
      lab.kubectl(Stream.concat(Stream.of(command), objects.get().stream()).toArray(String[]::new));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final Way KUSTOMIZE = new Way("kustomize", () -> List.of("-k", "config/default"));

  /** With the rights that the sample's providers need and no others, and with NetworkPolicies. */
  private static final Way HELM =
      new Way(
          "helm template",
          () ->
              file(
                  Chart.template(
                      "roles.schedulerAssignment=false",
                      "roles.kai=false",
                      "roles.nfd=false",
                      "roles.openShift=false",
                      "roles.externalDelivery=false",
                      "networkPolicy.enabled=true")));

  /** The objects that OLM would make; see OlmInstall for what it stands for. */
  private static final Way OLM =
      new Way("OLM bundle", () -> List.of("-f", OlmInstall.ofBundle().file().toString()));

  private static Lab lab;
  private static Traces before;
  private static List<String> own;

  static List<Way> ways() {
    return List.of(KUSTOMIZE, HELM, OLM);
  }

  private static List<String> file(String yaml) {
    try {
      return List.of("-f", Files.writeString(lab.file("install.yaml"), yaml).toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", String.valueOf(NODES.size()));
    before = Traces.of(lab, NODES);
    own = configurations();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** After the first, the cluster is as the former way has left it. */
  @Order(1)
  @ParameterizedTest
  @MethodSource("ways")
  void comesWorksAndGoes(Way way) {
    way.install();
    makeReady(OnDelete.Restore);
    assertThat(configurations())
        .allSatisfy(c -> assertThat(c).contains("\"topologyManagerPolicy\":\"single-numa-node\""));

    lab.kubectl("delete", "numapolicies", "--all", "--timeout=300s");
    way.remove();
    assertThat(configurations()).isEqualTo(own);
    leaves(LEFT, List.of());
  }

  /**
   * The operator first, with all of its kinds: kubelets stay as they are, and so does what only the
   * operator takes off a node.
   */
  @Test
  @Order(2)
  void inTheWrongOrderTheKubeletsStay() {
    KUSTOMIZE.install();
    makeReady(OnDelete.Keep);
    var changed = configurations();
    KUSTOMIZE.remove();
    leaves(LEFT_IN_THE_WRONG_ORDER, LABELS);
    assertThat(NODES).noneMatch(lab::isCordoned);
    assertThat(configurations()).isEqualTo(changed);
  }

  /** What docs/install.md says of a cluster whose nodes were restored. */
  private static final List<String> LEFT =
      List.of(
          "+ apiextensions.k8s.io/v1/CustomResourceDefinition /noderesourcetopologies.topology.node.k8s.io",
          "+ topology.node.k8s.io/v1alpha2/NodeResourceTopology /NODE",
          "+ NODE /run/numaoperator-guard/started",
          "+ NODE /var/lib/numaoperator");

  /** What it says of one whose operator was removed before its policy. */
  private static final List<String> LEFT_IN_THE_WRONG_ORDER =
      Stream.concat(
              LEFT.stream(),
              Stream.of(
                  "+ NODE /etc/kubernetes/kubelet.conf.d/90-numaoperator.conf",
                  "+ NODE /etc/systemd/system/kubelet.service.d/99-numaoperator-guard.conf",
                  "+ NODE /etc/systemd/system/numaoperator-guard.timer",
                  "+ NODE /var/lib/numaoperator/guard/boot",
                  "+ NODE /var/lib/numaoperator/guard/guard.sh",
                  "+ NODE /var/lib/numaoperator/guard/last-words.sh",
                  "+ NODE /var/lib/numaoperator/guard/node",
                  "~ NODE /var/lib/kubelet/cpu_manager_state",
                  "~ NODE /var/lib/kubelet/memory_manager_state"))
          .toList();

  /** The policies go while the operator ends: it may still come to take their labels off. */
  private static final List<String> LABELS = List.of("~ v1/Node /NODE");

  /** The sample, with a window that a test can wait for. */
  private static void makeReady(OnDelete onDelete) {
    var policy = Lab.sample();
    policy.getSpec().rollout.onDelete = onDelete;
    lab.client().resource(policy).create();
    NODES.forEach(node -> lab.awaitNode(node, "AlignmentReady", Lab::isTrue));
    lab.awaitPolicy(POLICY, "Ready", Lab::isTrue);
  }

  /** What the kubelets run with, as they say. */
  private static List<String> configurations() {
    return NODES.stream()
        .map(node -> lab.kubectl("get", "--raw", "/api/v1/nodes/" + node + "/proxy/configz"))
        .toList();
  }

  /**
   * Garbage is collected, and pods end, in their own time.
   *
   * @param maybe may be there or not
   */
  private static void leaves(List<String> differences, List<String> maybe) {
    var expected = ofEachNode(differences);
    var unsure = ofEachNode(maybe);
    await("what stays behind")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofSeconds(5))
        .untilAsserted(
            () ->
                assertThat(Traces.of(lab, NODES).since(before))
                    .filteredOn(difference -> !unsure.contains(difference))
                    .containsExactlyInAnyOrderElementsOf(expected));
  }

  private static List<String> ofEachNode(List<String> differences) {
    return differences.stream()
        .flatMap(
            difference ->
                difference.contains("NODE")
                    ? NODES.stream().map(node -> difference.replace("NODE", node))
                    : Stream.of(difference))
        .toList();
  }
}
