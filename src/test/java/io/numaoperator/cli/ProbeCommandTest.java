package io.numaoperator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.cli.text.Paint;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * kubectl numa probe against a fake API server, whose pod has ended when it is looked at for the
 * first time. The figures are made up; ProbeTest and a lab test measure.
 */
class ProbeCommandTest {
  private static final String PODS = "/api/v1/namespaces/default/pods";
  private static final String JOBS = "/apis/batch/v1/namespaces/default/jobs";
  private static final String TWO_ZONES =
      """
      looking how busy the machine is
      numa-probe-result: {"bytes": 1073741824, "zones": [
      {"id": 0, "threads": "0-3", "cacheBytes": 33554432, "busy": 0.01},
      {"id": 1, "threads": "4-7", "cacheBytes": 33554432, "busy": 0.3}], "pairs": [
      {"cpuZone": 0, "memoryZone": 0, "rates": [1.0E11, 0.99E11, 1.01E11], "problem": ""},
      {"cpuZone": 0, "memoryZone": 1, "rates": [6.5E10, 6.4E10, 6.6E10], "problem": ""},
      {"cpuZone": 1, "memoryZone": 0, "rates": [9.9E10, 9.9E10, 9.9E10], "problem": ""},
      {"cpuZone": 1, "memoryZone": 1, "rates": [1.0E11, 9.8E10, 1.0E11], "problem": ""}]}
      """
          .replaceAll("\n(?=\\{)", "");

  private FakeApi server;
  private StringWriter out;
  private StringWriter err;

  @BeforeEach
  void start() throws IOException {
    server = FakeApi.of(new Recorded());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private int run(String... arguments) {
    out = new StringWriter();
    err = new StringWriter();
    var terminal =
        new Terminal(
            new PrintWriter(out),
            new PrintWriter(err, true),
            Paint.NONE,
            false,
            OptionalInt.empty());
    return KubectlNuma.commandLine(terminal, options -> server.connect()).execute(arguments);
  }

  private void podEnds(String status, String log) throws IOException {
    server.list(
        PODS,
        List.of(
            (ObjectNode)
                new ObjectMapper()
                    .readTree(
                        "{\"metadata\": {\"name\": \"p\"}, \"status\": %s}".formatted(status))));
    server.text(PODS + "/p/log", log);
  }

  private void isMadeAndRemoved() {
    assertThat(server.asked)
        .filteredOn(r -> !r.startsWith("GET "))
        .containsExactly("POST " + JOBS, "DELETE " + JOBS + "/" + FakeApi.GIVEN_NAME);
    assertThat(server.asked)
        .contains("GET " + PODS + "?labelSelector=job-name%3Dgiven-name&limit=500");
  }

  @Test
  void aTableAndWhatAMisplacedPodLoses() throws IOException {
    podEnds("{\"phase\": \"Succeeded\"}", TWO_ZONES);
    assertThat(run("probe", "node/gpu-1")).isEqualTo(Exit.WELL);
    TextGolden.assertMatches("probe", out.toString());
    isMadeAndRemoved();
  }

  @Test
  void theSameAsData() throws IOException {
    podEnds("{\"phase\": \"Succeeded\"}", TWO_ZONES);
    assertThat(run("probe", "gpu-1", "-o", "json")).isEqualTo(Exit.WELL);
    var json = new ObjectMapper().readTree(out.toString());
    assertThat(json.path("node").asText()).isEqualTo("gpu-1");
    assertThat(json.path("pairs")).hasSize(4);
    assertThat(json.path("pairs").get(1).path("loss").asDouble()).isBetween(0.3499, 0.3501);
    assertThat(json.path("pairs").get(1).path("sure").asBoolean()).isTrue();
    assertThat(json.path("pairs").get(0).has("loss")).isFalse();
    assertThat(json.path("worstLoss").asDouble()).isBetween(0.3499, 0.3501);
    assertThat(json.path("warnings")).hasSize(1);
  }

  /** One pod on that node alone, in the shared CPUs, that may do nothing. */
  @Test
  void theJobIsForOneNodeAndHasNoPermission() throws IOException {
    podEnds("{\"phase\": \"Succeeded\"}", TWO_ZONES);
    run("probe", "gpu-1", "--memory", "2Gi", "--image", "registry.test/ours:1", "-n", "default");
    var spec = server.made.getFirst().path("spec");
    assertThat(spec.path("backoffLimit").asInt(-1)).isZero();
    assertThat(spec.path("activeDeadlineSeconds").asInt()).isEqualTo(180);
    assertThat(spec.path("ttlSecondsAfterFinished").asInt()).isPositive();
    var pod = spec.path("template").path("spec");
    assertThat(pod.path("affinity").toString())
        .contains(
            "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"gpu-1\"]}]");
    assertThat(pod.path("tolerations").toString()).isEqualTo("[{\"operator\":\"Exists\"}]");
    assertThat(pod.path("automountServiceAccountToken").asBoolean(true)).isFalse();
    assertThat(pod.path("securityContext").path("runAsNonRoot").asBoolean()).isTrue();
    var container = pod.path("containers").get(0);
    assertThat(container.path("image").asText()).isEqualTo("registry.test/ours:1");
    assertThat(container.path("args").toString())
        .isEqualTo("[\"--memory-mib\",\"2048\",\"--repeats\",\"5\",\"--threads\",\"16\"]");
    assertThat(container.path("resources").path("limits").toString())
        .as("no CPUs: it is not Guaranteed, and gets none of its own")
        .isEqualTo("{\"memory\":\"2560Mi\"}");
    assertThat(container.path("securityContext").path("capabilities").toString())
        .isEqualTo("{\"drop\":[\"ALL\"]}");
  }

  @Test
  void theImageIsTheOperators() throws IOException {
    podEnds("{\"phase\": \"Succeeded\"}", TWO_ZONES);
    run("probe", "gpu-1");
    assertThat(server.made.getFirst().toString()).contains(Operator.IMAGE);
    server.text(
        "/apis/apps/v1/namespaces/numa-operator-system/deployments/numa-operator",
        "{\"spec\": {\"template\": {\"spec\": {\"containers\": [{\"image\": \"mirror.test/numa:7\"}]}}}}");
    run("probe", "gpu-1");
    assertThat(server.made.getLast().toString()).contains("mirror.test/numa:7");
  }

  @Test
  void whatWasNotMeasuredIsTold() throws IOException {
    podEnds(
        "{\"phase\": \"Succeeded\"}",
        "numa-probe-result: {\"bytes\": 67108864, \"zones\": [{\"id\": 0, \"threads\": \"\", \"cacheBytes\": 0,"
            + " \"busy\": 0.0}], \"pairs\": [{\"cpuZone\": 0, \"memoryZone\": 0, \"rates\": [], \"problem\": \"why\"}]}");
    assertThat(run("probe", "gpu-1")).isEqualTo(Exit.NOT_WELL);
    assertThat(out.toString()).contains("zone 0  -\n").contains("not measured: why");
    run("probe", "gpu-1", "-o", "json");
    assertThat(out.toString()).contains("\"problem\" : \"why\"").doesNotContain("gbPerSecond");
  }

  @Test
  void aProbeThatFailsIsToldAndRemoved() throws IOException {
    podEnds("{\"phase\": \"Failed\"}", "probe: sched_setaffinity to CPUs 1: errno 22\n");
    assertThat(run("probe", "gpu-1")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString())
        .isEqualTo(
            "kubectl numa: the probe ended without a result: probe: sched_setaffinity to CPUs 1: errno 22\n");
    isMadeAndRemoved();
    podEnds("{\"phase\": \"Failed\", \"message\": \"Pod was rejected: no memory\"}", "");
    run("probe", "gpu-1");
    assertThat(err.toString()).contains("Pod was rejected: no memory");
  }

  @Test
  void aPodThatDoesNotStartIsToldAndRemoved() throws IOException {
    podEnds(
        "{\"phase\": \"Pending\", \"conditions\": [{\"type\": \"PodScheduled\", \"status\": \"False\","
            + " \"message\": \"0/2 nodes are available\"}]}",
        "");
    assertThat(run("probe", "gpu-1", "--timeout", "1")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString())
        .contains("kubectl numa: the pod is Pending: 0/2 nodes are available")
        .contains(
            "no result after 1 s: the pod is Pending: 0/2 nodes are available; see --timeout");
    isMadeAndRemoved();
  }

  @Test
  void nothingIsMadeForWhatCannotBe() {
    assertThat(run("probe", "gpu-9")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString()).contains("there is no node \"gpu-9\"");
    for (var wrong :
        List.of("", " gpu-1 --memory 1Ki", " gpu-1 --memory x", " gpu-1 --repeats 0")) {
      assertThat(run(("probe" + wrong).split(" "))).as(wrong).isEqualTo(Exit.USAGE);
    }
    server.refuse(JOBS, 403);
    assertThat(run("probe", "gpu-1")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString()).contains("not allowed: refused by the fake API server");
    assertThat(server.made).isEmpty();
    assertThat(server.asked).noneMatch(r -> r.startsWith("DELETE"));
  }
}
