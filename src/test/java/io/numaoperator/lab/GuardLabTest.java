package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.Names;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The guard on real kubelets: the agent's process ends at every point between the kubelet's stop
 * and its start, and nothing starts it again, since a kubelet that is down starts nothing. The
 * agent is {@link io.numaoperator.agent.InterruptedAgent}, with a patience of 3 s instead of 60.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GuardLabTest {
  private static final List<String> NODES = List.of("gpu-1", "gpu-2", "gpu-3", "gpu-4");
  private static final String DROP_IN = "/etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE;
  private static final String GUARD = "/var/lib/numaoperator/guard/";
  private static final String UNITS = "/etc/systemd/system/";
  private static final int PATIENCE = 3;
  private static final int NEVER = -1;

  /** Where a node has the images that the lab was given, by the order of their names. */
  private static final String IMAGES = "/run/numalab/images/";

  private static Lab lab;
  private static KubernetesClient client;
  private static String token;
  private static String classPath;
  private static final Map<String, Integer> ATTEMPTS = new ConcurrentHashMap<>();

  /** What a change that fails consists of, from the kubelet's stop on. */
  private static List<String> failedChange = List.of();

  @BeforeAll
  static void up() throws IOException {
    lab =
        Lab.up(
            "--nodes",
            "4",
            "--gpus-per-zone",
            "0",
            "--image",
            "numa.test/interrupted=" + Path.of("target/test-classes").toAbsolutePath());
    client = lab.client();
    lab.kubectl("create", "serviceaccount", "agent");
    lab.kubectl(
        "create",
        "clusterrolebinding",
        "agent",
        "--clusterrole=cluster-admin",
        "--serviceaccount=default:agent");
    token = lab.kubectl("create", "token", "agent").strip();
    var jars = Files.readAllLines(Path.of("target/dist/agent.classpath"));
    classPath =
        String.join(
            ":",
            Stream.concat(
                    Stream.of(IMAGES + "1"),
                    jars.stream().map(jar -> IMAGES + "0/quarkus-app/" + jar))
                .toList());
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  // ---- the agent

  /** What a run of the agent printed: the changes that it made, and how the attempt ended. */
  private record Run(List<String> changes, String diedBefore, JsonNode report) {
    String result() {
      return report.path("result").asText();
    }

    String error() {
      return report.path("error").asText();
    }
  }

  private static Run agent(String node, String fragment, int diesBefore) {
    var output =
        lab.exec(
            node,
            System.getProperty("java.home") + "/bin/java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath,
            "io.numaoperator.agent.InterruptedAgent",
            String.valueOf(ATTEMPTS.get(node)),
            fragment,
            token,
            String.valueOf(PATIENCE),
            String.valueOf(diesBefore));
    var changes = new ArrayList<String>();
    var died = "";
    JsonNode report = new JsonMapper().createObjectNode();
    for (var line : output.lines().toList()) {
      if (line.startsWith("change: ")) {
        changes.add(line.substring("change: ".length()));
      } else if (line.startsWith("dies before: ")) {
        died = line.substring("dies before: ".length());
      } else if (line.startsWith("report: ")) {
        report = json(line.substring("report: ".length()));
      }
    }
    assertThat(died.isEmpty()).as(node + ": " + output).isEqualTo(!report.isEmpty());
    return new Run(changes, died, report);
  }

  private static JsonNode json(String text) {
    try {
      return new JsonMapper().readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A new attempt on a node that is cordoned for it. */
  private static Run start(String node, String fragment, int diesBefore) {
    int attempt = ATTEMPTS.merge(node, 1, Integer::sum);
    lab.kubectl(
        "patch",
        "node",
        node,
        "--type=merge",
        "--patch={\"metadata\": {\"annotations\": {\"%s\": \"lab/%d\"}}, \"spec\": {\"unschedulable\": true}}"
            .formatted(Names.CORDONED_ANNOTATION, attempt));
    return agent(node, fragment, diesBefore);
  }

  /** The agent comes back to an attempt that was interrupted. */
  private static Run resume(String node) {
    return agent(node, "{}", NEVER);
  }

  /** Both managers Static: evictionHard and systemReserved are what reservedMemory sums up to. */
  private static String good(String reservedCpus) {
    return fragment(reservedCpus, "150Mi");
  }

  /** The sum is another: the kubelet exits before it listens. */
  private static String bad(String reservedCpus) {
    return fragment(reservedCpus, "1Gi");
  }

  private static String fragment(String reservedCpus, String perZone) {
    return """
        {"cpuManagerPolicy": "static", "reservedSystemCPUs": "%s", "memoryManagerPolicy": "Static",
         "systemReserved": {"memory": "200Mi"}, "evictionHard": {"memory.available": "100Mi"},
         "reservedMemory": [{"numaNode": 0, "limits": {"memory": "%s"}},
                            {"numaNode": 1, "limits": {"memory": "%s"}}]}
        """
        .formatted(reservedCpus, perZone, perZone);
  }

  // ---- the node

  private static String sh(String node, String script) {
    return lab.exec(node, "sh", "-c", script);
  }

  private static String kubeletPid(String node) {
    return sh(node, "pgrep -x -o kubelet || true").strip();
  }

  /** The same process for longer than a kubelet takes to refuse its configuration. */
  private static void awaitKubelet(String node, String when) {
    var seen = new AtomicReference<>("");
    await(node + ": the kubelet is up: " + when)
        .atMost(Lab.PATIENCE)
        .pollInterval(Duration.ofSeconds(3))
        .ignoreExceptions()
        .until(
            () -> {
              var pid = kubeletPid(node);
              boolean same = !pid.isEmpty() && pid.equals(seen.getAndSet(pid));
              return same && client.raw("/api/v1/nodes/" + node + "/proxy/healthz").equals("ok");
            });
  }

  private static void awaitReady(String node) {
    await(node + " Ready")
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                client.nodes().withName(node).get().getStatus().getConditions().stream()
                    .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True")));
  }

  private static String dropIn(String node) {
    return sh(node, "cat " + DROP_IN + " 2>/dev/null || true");
  }

  private static void onAllNodes(Consumer<String> work) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(NODES.size())) {
      var calls = NODES.stream().map(node -> Executors.callable(() -> work.accept(node))).toList();
      for (var done : threads.invokeAll(List.<Callable<Object>>copyOf(calls))) {
        done.get();
      }
    }
  }

  // ---- the story

  /**
   * A first change that fails leaves nothing behind; one that succeeds leaves the guard, at rest.
   */
  @Test
  @Order(1)
  void theGuardComesWithTheFirstChangeAndGoesWithTheLast() throws Exception {
    var failed = start("gpu-1", bad("0"), NEVER);
    assertThat(failed.result()).isEqualTo("RolledBack");
    assertThat(failed.error()).contains("is not equal to the value");
    failedChange = failed.changes();
    assertThat(dropIn("gpu-1")).isBlank();
    assertThat(sh("gpu-1", "ls " + UNITS + " " + UNITS + "kubelet.service.d " + GUARD))
        .doesNotContain("numaoperator-guard", "guard.sh", "armed");

    onAllNodes(
        node -> {
          var run = start(node, good("0"), NEVER);
          assertThat(run.result()).as(run.error()).isEqualTo("Succeeded");
          assertThat(sh(node, "cat " + UNITS + "kubelet.service.d/99-numaoperator-guard.conf"))
              .contains("ExecStartPre=-+/usr/bin/env timeout");
          assertThat(sh(node, "ls " + GUARD))
              .contains("guard.sh", "boot", "node")
              .doesNotContain("armed", "starts");
        });
  }

  /** A point at which the agent ends. */
  private record Point(boolean good, int before) {}

  @Test
  @Order(2)
  void theGuardAloneBringsTheKubeletUpWhereverTheAgentEnds() throws Exception {
    assertThat(failedChange).startsWith("stop kubelet.service");
    int started = failedChange.indexOf("start kubelet.service");
    int startedAgain = failedChange.lastIndexOf("start kubelet.service");
    assertThat(startedAgain).isGreaterThan(started);
    Queue<Point> points = new ConcurrentLinkedQueue<>();
    for (int at = 0; at <= startedAgain + 1; at++) {
      // until the start a good change is as a bad one
      points.add(new Point(at <= started + 1, at));
    }
    points.add(new Point(false, started + 1));
    int all = points.size();
    Queue<String> told = new ConcurrentLinkedQueue<>();
    onAllNodes(
        node -> {
          for (var point = points.poll(); point != null; point = points.poll()) {
            told.add(interrupted(node, point));
          }
        });
    told.forEach(System.out::println);
    System.out.printf("%d interruption points on real kubelets, the guard alone%n", all);
    assertThat(all).isGreaterThan(18);
    assertThat(told).hasSize(all);
    assertThat(told).anyMatch(line -> line.contains("restored by the guard after 3 unverified"));
  }

  private static String interrupted(String node, Point point) {
    var before = dropIn(node);
    var cpus = before.contains("reservedSystemCPUs: \"0\"") ? "1" : "0";
    var died = start(node, point.good() ? good(cpus) : bad(cpus), point.before());
    var when =
        "%s change, dead before: %s".formatted(point.good() ? "good" : "bad", died.diedBefore());
    awaitKubelet(node, when);
    var end = resume(node);
    assertThat(end.result()).as(when).isIn("Succeeded", "RolledBack");
    if (end.result().equals("RolledBack")) {
      assertThat(dropIn(node)).as(when).isEqualTo(before);
    } else {
      assertThat(point.good()).as(when).isTrue();
      assertThat(dropIn(node)).as(when).isNotEqualTo(before);
    }
    assertThat(sh(node, "ls " + GUARD)).as(when).doesNotContain("armed", "starts", "restored");
    awaitReady(node);
    return "%s: %s: %s %s".formatted(node, when, end.result(), end.error());
  }

  /** systemd leaves it where it fell, and only the timer starts it again. */
  @Test
  @Order(3)
  void aKubeletThatSystemdDoesNotRestartIsRestored() {
    var node = "gpu-2";
    var norestart = UNITS + "kubelet.service.d/50-norestart.conf";
    sh(node, "printf '[Service]\\nRestart=no\\n' > " + norestart + " && kill -HUP 1 && sleep 1");
    var before = dropIn(node);
    int started = failedChange.indexOf("start kubelet.service");
    var died = start(node, bad("0-1"), started + 1);
    awaitKubelet(node, "bad change, Restart=no, dead before: " + died.diedBefore());
    assertThat(dropIn(node)).isEqualTo(before);
    var end = resume(node);
    assertThat(end.result()).isEqualTo("RolledBack");
    assertThat(end.error())
        .contains("restored by the guard after 3 unverified starts: ")
        .contains("is not equal to the value");
    sh(node, "rm " + norestart + " && kill -HUP 1");
  }

  /**
   * With Static managers a kubelet does not start on another amount of memory. First without the
   * guard's script, to see that; then with it.
   */
  @Test
  @Order(4)
  void aRebootWithAnotherAmountOfMemoryKeepsNoKubeletDown() {
    var node = "gpu-3";
    sh(node, "mv " + GUARD + "guard.sh " + GUARD + "away");
    lab.numalab("node", "reboot", node, "--memory-per-zone", "12Gi");
    await("the kubelet refuses its state")
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                sh(node, "tail -c 20000 /var/log/kubelet.log")
                    .contains("the expected machine state is different from the real one"));
    sh(node, "mv " + GUARD + "away " + GUARD + "guard.sh");
    awaitKubelet(node, "with the guard");
    assertThat(sh(node, "ls " + GUARD)).contains("cleared-memory_manager_state");
    assertThat(sh(node, "ls /run/numaoperator-guard")).contains("started");
    awaitReady(node);

    lab.numalab("node", "reboot", node, "--memory-per-zone", "16Gi");
    awaitKubelet(node, "with the guard from the start");
    var pid = kubeletPid(node);
    awaitReady(node);
    assertThat(kubeletPid(node)).isEqualTo(pid);
  }

  /** What pods hold is kept: only the first start of a boot sets the state files aside. */
  @Test
  @Order(5)
  void anotherStartInTheSameBootKeepsTheState() {
    var stamp = "stat -c %i:%Y /var/lib/kubelet/memory_manager_state";
    var before = sh("gpu-4", stamp);
    lab.numalab("kubelet", "restart", "gpu-4");
    awaitKubelet("gpu-4", "after a restart");
    assertThat(sh("gpu-4", stamp)).isEqualTo(before);
  }
}
