package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.api.KubeletPolicy.TopologyPolicy;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The program that a person starts, against a real cluster: kubectl numa. */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CliLabTest {
  private static final String SAMPLE = "config/samples/gpu-nodes.yaml";

  private static Lab lab;
  private static KubernetesClient client;

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "1");
    client = lab.client();
    lab.install();
    client.resource(Lab.sample()).create();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** What a program printed, and its exit code. */
  private record Run(int exit, String out, String err) {}

  private static Run numa(String... arguments) {
    var command = new ArrayList<>(List.of("target/dist/bin/kubectl-numa"));
    command.addAll(List.of(arguments));
    try {
      var out = Files.createTempFile("numa", ".out");
      var err = Files.createTempFile("numa", ".err");
      var builder = new ProcessBuilder(command);
      builder.environment().put("KUBECONFIG", lab.file("kubeconfig").toString());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      var process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      return new Run(
          process.exitValue(),
          Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static Pod pod(String name, String scheduler, int gpus, int cpus) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .withSchedulerName(scheduler)
        .withTerminationGracePeriodSeconds(0L)
        .withRestartPolicy("Never")
        .addNewContainer()
        .withName("main")
        .withImage("numa.test/pause:1")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity(String.valueOf(gpus)))
        .addToLimits("cpu", new Quantity(String.valueOf(cpus)))
        .addToLimits("memory", new Quantity("1Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static void awaitPod(String name, String phaseOrReason) {
    await(name + " " + phaseOrReason)
        .untilAsserted(
            () -> {
              var status = client.pods().inNamespace("default").withName(name).get().getStatus();
              assertThat(List.of(status.getPhase(), String.valueOf(status.getReason())))
                  .contains(phaseOrReason);
            });
  }

  @Test
  @Order(1)
  void itTellsOfAClusterWhatIsSo() throws JsonProcessingException {
    assertThat(numa("status").exit()).isEqualTo(1);
    await()
        .atMost(Lab.LONG)
        .untilAsserted(
            () ->
                assertThat(numa("status")).extracting(Run::exit, Run::err).containsExactly(0, ""));
    assertThat(numa("status").out())
        .containsPattern("gpu-nodes +Enforce +True +AllNodesReady")
        .containsPattern("gpu-1 +gpu-nodes +True +Aligned +Done +2 +8 ");

    client.resource(pod("left", "numa-scheduler", 2, 4)).create();
    awaitPod("left", "Running");
    client.resource(pod("right", "numa-scheduler", 2, 4)).create();
    awaitPod("right", "Running");
    await()
        .untilAsserted(
            () ->
                assertThat(numa("map", "gpu-1").out())
                    .contains("CPUs     #aa.#aa.  2 free, 4 held, 2 reserved")
                    .contains("CPUs     #bb.#bb.  2 free, 4 held, 2 reserved")
                    .contains("GPUs     aa..  2 free, 2 held  nvidia.com/gpu")
                    .containsPattern("a  default/left +main +1-2,9-10 +0 +0 +0 +Aligned"));
    assertThat(numa("explain", "pod/left"))
        .extracting(Run::exit, Run::out)
        .containsExactly(
            0,
            """
            pod default/left runs on node gpu-1 and is aligned
              container main is aligned: CPUs 1-2,9-10 on zone 0, memory on zone 0, 2 nvidia.com/gpu on zone 0
            """);

    client.resource(pod("pending", "numa-scheduler", 4, 2)).create();
    client.resource(pod("rejected", "default-scheduler", 4, 2)).create();
    awaitPod("rejected", "TopologyAffinityError");
    var numbers =
        "gpu-1  not now  needs 4 nvidia.com/gpu in one zone; zone 0 has 2 free, zone 1 has 2 free; 4 free in all";
    var rejected = numa("explain", "pod/rejected");
    assertThat(rejected.exit()).isEqualTo(1);
    assertThat(rejected.out())
        .contains("was rejected by the kubelet of node gpu-1: TopologyAffinityError")
        .contains("Resources cannot be allocated with Topology locality")
        .contains(numbers)
        .contains("default/left holds 2 nvidia.com/gpu on zone 0");
    await()
        .untilAsserted(
            () ->
                assertThat(numa("explain", "pod/pending").out())
                    .contains("pod default/pending is pending")
                    .contains("it said: ")
                    .contains(numbers));

    whatKeepsAPodOut();
    thePlanIsTheOperators();
    gatherHasItAll();
    probeMeasuresAndLeavesNothing();
  }

  /** Who wrote spec.nodeName is told by managedFields alone (explain.Obstacles). */
  private static void whatKeepsAPodOut() {
    var named = pod("named", "default-scheduler", 0, 0);
    named.getSpec().getContainers().getFirst().setResources(null);
    named.getSpec().setNodeName("gpu-1");
    client.resource(named).create();
    awaitPod("named", "Running");
    assertThat(managedFields("named")).contains("f:nodeName");
    assertThat(managedFields("left")).contains("f:schedulerName").doesNotContain("f:nodeName");
    client.pods().inNamespace("default").withName("named").delete();

    lab.kubectl("taint", "node", "gpu-1", "team=a:NoSchedule");
    assertThat(numa("explain", "pod/pending").out())
        .contains(
            "gpu-1  kept out  it has the taint team=a:NoSchedule, which the pod does not tolerate; as"
                + " to NUMA: needs 4 nvidia.com/gpu in one zone");
    lab.kubectl("taint", "node", "gpu-1", "team-");
  }

  private static String managedFields(String pod) {
    return lab.kubectl(
        "get", "pod", pod, "-o", "jsonpath={.metadata.managedFields}", "--show-managed-fields");
  }

  /**
   * The lab's NUMA nodes are made up, and so is what a probe would find of them: this is about the
   * Job, its pod and what it prints. What is measured is the machine below, whose memory is not on
   * the lab's zone 1, and the probe says so.
   */
  private static void probeMeasuresAndLeavesNothing() throws JsonProcessingException {
    lab.kubectl("cordon", "gpu-1");
    var probe =
        numa(
            "probe",
            "gpu-1",
            "--memory",
            "64Mi",
            "--repeats",
            "3",
            "-o",
            "json",
            "--timeout",
            "100");
    lab.kubectl("uncordon", "gpu-1");
    System.out.println("probe: " + probe);
    assertThat(probe.exit()).as("not each pair can be measured: " + probe.err()).isEqualTo(1);
    var report = new ObjectMapper().readTree(probe.out());
    assertThat(report.path("zones")).hasSize(2);
    assertThat(CpuSet.parse("0-3").containsAll(CpuSet.parse(threads(report)))).isTrue();
    var pairs = report.path("pairs");
    assertThat(pairs).hasSize(4);
    assertThat(pairs.get(0).path("gbPerSecond").asDouble()).isPositive();
    for (int remote : List.of(1, 3)) {
      assertThat(pairs.get(remote).path("memoryZone").asInt()).isEqualTo(1);
      assertThat(pairs.get(remote).path("problem").asText())
          .containsAnyOf("has 0 % of the memory on zone 1", "zone 1 has no CPUs that a pod");
    }
    assertThat(requests("create", "jobs")).isEqualTo(1);
    assertThat(requests("delete", "jobs")).isEqualTo(1);
    assertThat(client.batch().v1().jobs().inNamespace("default").list().getItems()).isEmpty();
    await("its pod goes")
        .until(
            () ->
                client
                    .pods()
                    .inNamespace("default")
                    .withLabel("app.kubernetes.io/name", "numa-probe")
                    .list()
                    .getItems()
                    .isEmpty());
  }

  /** Where those of zone 0 were pinned to: one CPU of each of its cores that is really there. */
  private static String threads(JsonNode report) {
    var threads = report.path("zones").get(0).path("threads").asText();
    assertThat(threads).isNotEmpty();
    return threads;
  }

  /** Rendered by the same functions, applied by the operator: nothing differs but our window. */
  private static void thePlanIsTheOperators() {
    var state = lab.state("gpu-1").orElseThrow();
    var rendered = numa("render", "-f", SAMPLE);
    assertThat(rendered.exit()).as(rendered.err()).isZero();
    assertThat(rendered.out())
        .contains("# node gpu-1: plan " + state.getStatus().plan.hash + ",")
        .contains("# its kubelet runs with this already");
    var diff = numa("render", "-f", SAMPLE, "--diff");
    assertThat(diff.exit()).isEqualTo(1);
    assertThat(diff.out().lines().filter(l -> l.matches("[+~].*|    .*")))
        .containsExactly("~ NumaNodeState gpu-1", "    spec.kubelet.verificationWindow: 5s -> 60s");
  }

  private static void gatherHasItAll() {
    try {
      var file = Files.createTempDirectory("gather").resolve("g.tar.gz");
      var before = reads("secrets");
      assertThat(numa("gather", "-o", file.toString())).isEqualTo(new Run(0, file + "\n", ""));
      assertThat(reads("secrets")).as("reads of Secrets by a person").isEqualTo(before);
      assertThat(reads("leases")).as("what gather reads is in the audit log").isPositive();
      var tar = new ProcessBuilder("tar", "tzf", file.toString()).start();
      var names = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(names)
          .contains("/numanodestates/gpu-1.yaml")
          .contains("/noderesourcetopologies/gpu-1.yaml")
          .contains("/events.yaml")
          .containsPattern("/operator/logs/numa-agent-[a-z0-9]+/agent.log")
          .containsPattern("/operator/logs/numa-operator-[-a-z0-9]+/operator.log");
      Files.delete(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** With best-effort, a kubelet admits five GPUs where a zone has four. */
  @Test
  @Order(2)
  void aPodAcrossNumaNodesIsTold() {
    client.pods().inNamespace("default").withGracePeriod(0).delete();
    lab.edit(
        "gpu-nodes", p -> p.getSpec().kubelet.topologyManager.policy = TopologyPolicy.BestEffort);
    await("the kubelet runs with best-effort")
        .atMost(Lab.LONG)
        .ignoreExceptions()
        .until(
            () ->
                lab.condition("gpu-1", "KubeletConfigured")
                    .filter(c -> c.status == Status.True && c.message.contains("best-effort"))
                    .isPresent());
    client.resource(pod("across", "default-scheduler", 5, 2)).create();
    awaitPod("across", "Running");
    await("the agent counts it")
        .until(
            () -> lab.state("gpu-1").orElseThrow().getStatus().containers.crossNuma, is -> is == 1);
    var event =
        await("its Event")
            .until(
                () ->
                    client.v1().events().inNamespace("default").list().getItems().stream()
                        .filter(e -> "AcrossNUMANodes".equals(e.getReason()))
                        .findFirst(),
                Optional::isPresent)
            .orElseThrow();
    System.out.println("across: " + event.getMessage());
    assertThat(event.getType()).isEqualTo("Warning");
    assertThat(event.getInvolvedObject().getName()).isEqualTo("across");
    assertThat(event.getMessage())
        .contains(
            "runs across NUMA nodes of gpu-1", "container main: CPUs ", "nvidia.com/gpu on zone");
    var explained = numa("explain", "pod/across");
    assertThat(explained.exit()).isEqualTo(1);
    assertThat(explained.out())
        .contains("pod default/across runs on node gpu-1 across NUMA nodes")
        .contains("container main is across NUMA nodes: CPUs ");
    assertThat(numa("map", "gpu-1").out()).containsPattern("A  default/across +main .*CrossNUMA");
    assertThat(numa("status").out()).containsPattern("gpu-1 .* 2 +8 +0 +1 ");
  }

  /** By the lab's own user, who is the person here. */
  private static long reads(String resource) {
    return byThePerson(resource).count();
  }

  private static long requests(String verb, String resource) {
    return byThePerson(resource).filter(e -> verb.equals(e.path("verb").asText())).count();
  }

  private static Stream<JsonNode> byThePerson(String resource) {
    return lab.audit().stream()
        .filter(e -> resource.equals(e.path("objectRef").path("resource").asText()))
        .filter(e -> "kubernetes-admin".equals(e.path("user").path("username").asText()));
  }
}
