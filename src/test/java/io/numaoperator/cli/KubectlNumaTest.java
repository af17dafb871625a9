package io.numaoperator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.cli.text.Paint;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line against a fake API server that has the objects of a lab. */
class KubectlNumaTest {
  private static final String SAMPLE = "config/samples/gpu-nodes.yaml";

  @TempDir Path directory;
  private final Recorded recorded = new Recorded();
  private FakeApi server;
  private StringWriter out;
  private StringWriter err;

  @BeforeEach
  void start() throws IOException {
    server = FakeApi.of(recorded);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private int run(String... arguments) {
    return run(options -> server.connect(), arguments);
  }

  private int run(Connector connector, String... arguments) {
    out = new StringWriter();
    err = new StringWriter();
    var terminal =
        new Terminal(
            new PrintWriter(out),
            new PrintWriter(err, true),
            Paint.NONE,
            false,
            OptionalInt.empty());
    int exit = KubectlNuma.commandLine(terminal, connector).execute(arguments);
    assertThat(out + "" + err).doesNotContain("\tat ");
    return exit;
  }

  // ---- status

  @Test
  void statusReadsAllPagesAndIsWell() {
    assertThat(run("status")).isEqualTo(Exit.WELL);
    TextGolden.assertMatches("status", out.toString());
  }

  @Test
  void statusAsDataHasTheSameValues() throws IOException {
    assertThat(run("status", "-o", "json")).isEqualTo(Exit.WELL);
    var json = new ObjectMapper().readTree(out.toString());
    assertThat(json.path("ready").asBoolean()).isTrue();
    assertThat(json.path("nodes").get(0).path("name").asText()).isEqualTo("gpu-1");
    assertThat(json.path("nodes").get(0).path("aligned").asInt()).isEqualTo(3);
    assertThat(run("status", "-o", "yaml")).isEqualTo(Exit.WELL);
    assertThat(out.toString()).startsWith("ready: true\n");
  }

  @Test
  void statusOfANodeThatIsNotReadyExitsWithOne() {
    var conditions = recorded.objects("NumaNodeState").getFirst().path("status").path("conditions");
    conditions.forEach(c -> ((ObjectNode) c).put("status", "False"));
    assertThat(run("status")).isEqualTo(Exit.NOT_WELL);
  }

  @Test
  void withoutAPolicyNothingIsWell() {
    server.list("/" + ClusterReader.POLICIES, List.of());
    server.list("/" + ClusterReader.STATES, List.of());
    assertThat(run("status")).isEqualTo(Exit.NOT_WELL);
    assertThat(out.toString()).contains("there is no NumaPolicy");
  }

  // ---- no answer

  @Test
  void aClusterWithoutTheOperatorIsTold() throws IOException {
    try (var empty = new FakeApi()) {
      for (var command : List.of("status", "map", "gather")) {
        assertThat(run(options -> empty.connect(), command)).isEqualTo(Exit.NO_ANSWER);
        assertThat(err.toString()).contains("does not have the kinds of the NUMA Operator");
      }
    }
  }

  @Test
  void aClusterThatIsAwayIsTold() throws IOException {
    int port;
    try (var socket = new java.net.ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    assertThat(run(options -> new Api(FakeApi.config(port)), "status")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString().strip())
        .startsWith(
            "kubectl numa: the API server http://127.0.0.1:%d/ does not answer: ".formatted(port))
        .doesNotContain("null")
        .doesNotContain("\n");
  }

  @Test
  void whoMayNotReadIsToldWhat() {
    server.refuse("/" + ClusterReader.POLICIES, 403);
    assertThat(run("status")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString())
        .isEqualTo("kubectl numa: not allowed: refused by the fake API server\n");
    server.refuse("/" + ClusterReader.POLICIES, 401);
    assertThat(run("status")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString()).contains("does not know who you are (401)");
  }

  @Test
  void whatWasNotUnderstoodExitsWithTwo() {
    for (var wrong :
        List.of("statuss", "status -o xml", "explain", "explain a/b/c", "map a b", "render")) {
      assertThat(run(wrong.split(" "))).as(wrong).isEqualTo(Exit.USAGE);
      assertThat(err.toString()).contains("see: kubectl numa");
    }
    assertThat(run()).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("Exit codes:");
  }

  @Test
  void everyCommandHasHelpThatDocsRepeat() throws IOException {
    var docs = Files.readString(Path.of("docs/cli.md"));
    for (var command : List.of("status", "map", "explain", "render", "gather", "probe")) {
      assertThat(run("help", command)).as(command).isZero();
      assertThat(docs).contains("kubectl numa " + command);
    }
    run("--help");
    for (int code = 0; code <= 4; code++) {
      assertThat(out.toString()).contains("\n  " + code + "   ");
      assertThat(docs).contains("| %d |".formatted(code));
    }
  }

  // ---- map and explain

  @Test
  void mapOfOneNodeAndOfAll() {
    assertThat(run("map", "gpu-1")).isEqualTo(Exit.WELL);
    TextGolden.assertMatches("map-node", out.toString());
    assertThat(run("map", "node/gpu-1")).isEqualTo(Exit.WELL);
    assertThat(run("map")).isEqualTo(Exit.WELL);
    assertThat(out.toString()).contains("gpu-1").contains("gpu-2");
  }

  @Test
  void mapOfAnUnknownNodeNamesTheOthers() {
    assertThat(run("map", "gpu-9")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString())
        .contains("no NumaPolicy has a node \"gpu-9\"; there are gpu-1, gpu-2");
  }

  @Test
  void explainIsWellOnlyForAPodThatIsNotAcross() {
    assertThat(run("explain", "pod/left")).isEqualTo(Exit.WELL);
    assertThat(run("explain", "pod/rejected")).isEqualTo(Exit.NOT_WELL);
    TextGolden.assertMatches("explain-rejected", out.toString());
    assertThat(run("explain", "pending", "-n", "default")).isEqualTo(Exit.NOT_WELL);
    assertThat(run("explain", "pod/left", "-n", "other")).isEqualTo(Exit.NO_ANSWER);
    assertThat(err.toString()).contains("there is no pod \"left\" in namespace \"other\"");
  }

  // ---- render

  @Test
  void renderAsksNoCluster() {
    Connector none =
        options -> {
          throw new AssertionError("no cluster may be asked");
        };
    assertThat(run(none, "render", "-f", SAMPLE, "--inventory", Recorded.FILE.toString()))
        .isEqualTo(Exit.WELL);
    TextGolden.assertMatches("render", out.toString());
  }

  @Test
  void thePlanIsTheOneThatTheOperatorReported() {
    run("render", "-f", SAMPLE);
    for (var state : recorded.states()) {
      assertThat(out.toString())
          .contains(
              "# node %s: plan %s,"
                  .formatted(state.getMetadata().getName(), state.getStatus().plan.hash))
          .contains("hash: \"%s\"".formatted(state.getSpec().kubelet.hash));
    }
  }

  @Test
  void renderTellsWhatIsRefusedAndExitsWithOne() throws IOException {
    var policy = directory.resolve("policy.yaml");
    Files.writeString(
        policy, Files.readString(Path.of(SAMPLE)).replace("perNumaNode: 4Gi", "perNumaNode: 64Gi"));
    assertThat(run("render", "-f", policy.toString())).isEqualTo(Exit.NOT_WELL);
    assertThat(out.toString()).contains("# node gpu-1: REFUSED MemoryBeyond");
  }

  @Test
  void renderDiffTellsWhatIsNotThereAndWhatDiffers() {
    assertThat(run("render", "-f", SAMPLE, "--diff")).isEqualTo(Exit.NOT_WELL);
    assertThat(out.toString())
        .contains("+ DaemonSet numa-operator-system/numa-agent")
        .contains("~ NumaNodeState gpu-1\n    spec.kubelet.verificationWindow: 5s -> 60s\n");
  }

  @Test
  void renderToldAFileThatIsNoPolicySaysSo() throws IOException {
    assertThat(run("render", "-f", "/no/such/file")).isEqualTo(Exit.USAGE);
    assertThat(run("render", "-f", Recorded.FILE.toString(), "--inventory", SAMPLE))
        .isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("there is no NumaNodeState in " + SAMPLE);
    var typo = directory.resolve("typo.yaml");
    Files.writeString(typo, Files.readString(Path.of(SAMPLE)).replace("rollout:", "rolout:"));
    assertThat(run("render", "-f", typo.toString())).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("rolout");
  }

  // ---- gather

  @Test
  void gatherReadsNoSecretAndLeavesOutValues() throws IOException {
    operatorNamespace();
    var file = directory.resolve("g.tar.gz");
    assertThat(run("gather", "-o", file.toString())).isEqualTo(Exit.NOT_WELL);
    assertThat(server.asked)
        .allMatch(request -> request.startsWith("GET "))
        .noneMatch(request -> request.contains("secrets"))
        .anyMatch(request -> request.contains("/pods/numa-operator-1/log?container=operator"));
    var files = untar(file);
    assertThat(files.keySet())
        .contains(
            "numapolicies/gpu-nodes.yaml",
            "numanodestates/gpu-1.yaml",
            "noderesourcetopologies/gpu-2.yaml",
            "nodes/gpu-1.yaml",
            "events.yaml",
            "operator/pods/numa-operator-1.yaml",
            "operator/logs/numa-operator-1/operator.log",
            "operator/logs/numa-operator-1/operator.previous.log",
            "missing.txt");
    assertThat(files.get("missing.txt")).contains("operator/leases: ");
    assertThat(String.join("\n", files.values()))
        .doesNotContain("hunter2")
        .contains("name: \"TOKEN\"")
        .contains("a line of the operator")
        .contains("RelevantToNodes")
        .doesNotContain("OfSomebodyElse");
  }

  @Test
  void anUnpackedGatherIsAnInventory() throws IOException {
    operatorNamespace();
    var file = directory.resolve("g.tar.gz");
    run("gather", "-o", file.toString());
    var unpacked = directory.resolve("unpacked");
    for (var entry : untar(file).entrySet()) {
      var path = unpacked.resolve(entry.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, entry.getValue());
    }
    assertThat(run("render", "-f", SAMPLE, "--inventory", unpacked.toString()))
        .isEqualTo(Exit.WELL);
    TextGolden.assertMatches("render", out.toString());
  }

  @Test
  void gatherOverwritesNothing() throws IOException {
    var file = Files.writeString(directory.resolve("there"), "precious");
    assertThat(run("gather", "-o", file.toString())).isEqualTo(Exit.USAGE);
    assertThat(file).content().isEqualTo("precious");
  }

  private void operatorNamespace() throws IOException {
    var json = new ObjectMapper();
    var pods = "/api/v1/namespaces/numa-operator-system/pods";
    server.list(
        pods,
        List.of(
            (ObjectNode)
                json.readTree(
                    """
                    {"metadata": {"name": "numa-operator-1", "annotations":
                       {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}},
                     "spec": {"containers": [{"name": "operator", "env": [{"name": "TOKEN", "value": "hunter2"}]}]},
                     "status": {"containerStatuses": [{"name": "operator", "restartCount": 1}]}}
                    """)));
    server.text(pods + "/numa-operator-1/log", "a line of the operator\n");
    server.list("/apis/apps/v1/namespaces/numa-operator-system/daemonsets", List.of());
    server.list("/apis/apps/v1/namespaces/numa-operator-system/deployments", List.of());
    server.list("/api/v1/namespaces/numa-operator-system/configmaps", List.of());
    server.refuse("/apis/coordination.k8s.io/v1/namespaces/numa-operator-system/leases", 403);
    server.list(
        "/api/v1/events",
        List.of(
            (ObjectNode)
                json.readTree(
                    """
                    {"metadata": {"namespace": "default"}, "involvedObject": {"kind": "Node"},
                     "reason": "RelevantToNodes"}
                    """),
            (ObjectNode)
                json.readTree(
                    """
                    {"metadata": {"namespace": "shop"}, "involvedObject": {"kind": "Pod"},
                     "reason": "OfSomebodyElse"}
                    """)));
  }

  /** By the format's description, not by the class that wrote it. */
  private static Map<String, String> untar(Path file) throws IOException {
    var files = new TreeMap<String, String>();
    try (var in =
        new DataInputStream(
            new GZIPInputStream(new ByteArrayInputStream(Files.readAllBytes(file))))) {
      var header = new byte[512];
      for (in.readFully(header); header[0] != 0; in.readFully(header)) {
        var prefix = text(header, 345, 155);
        var name = (prefix.isEmpty() ? "" : prefix + "/") + text(header, 0, 100);
        var content = new byte[Integer.parseInt(text(header, 124, 12), 8)];
        in.readFully(content);
        in.skipNBytes((512 - content.length % 512) % 512);
        files.put(
            name.substring(name.indexOf('/') + 1), new String(content, StandardCharsets.UTF_8));
      }
    }
    return files;
  }

  private static String text(byte[] header, int at, int length) {
    return new String(header, at, length, StandardCharsets.UTF_8).replaceFirst("\0.*", "").strip();
  }
}
