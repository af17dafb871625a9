package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.NumaNodeState;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The page of the installed operator: who sees it, and by which way. */
@Tag("lab")
class PageLabTest {
  private static final String NAMESPACE = "numa-operator-system";
  private static final String NODE = "gpu-1";

  private static Lab lab;

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "1");
    lab.install();
    lab.kubectl("apply", "-f", "config/samples/observe.yaml");
    for (var name : List.of("viewer", "nobody")) {
      lab.kubectl("create", "serviceaccount", name);
    }
    // as docs/page.md says
    lab.kubectl(
        "create",
        "clusterrole",
        "numa-page",
        "--verb=list",
        "--resource=numanodestates.numaoperator.io,numapolicies.numaoperator.io"
            + ",noderesourcetopologies.topology.node.k8s.io");
    lab.kubectl(
        "create",
        "clusterrolebinding",
        "numa-page",
        "--clusterrole=numa-page",
        "--serviceaccount=default:viewer");
    await("the agent reports")
        .atMost(Lab.LONG)
        .until(
            () -> {
              var state = lab.client().resources(NumaNodeState.class).withName(NODE).get();
              return state != null
                  && state.getStatus() != null
                  && state.getStatus().inventory != null
                  && state.getStatus().inventory.gpuCount != null
                  && state.getStatus().inventory.gpuCount == 8;
            });
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** The Service, from within the cluster: the body, and the status in the last line. */
  private static String ask(String token) {
    var service = lab.client().services().inNamespace(NAMESPACE).withName("numa-operator-page");
    var command =
        new ArrayList<>(
            List.of("run", "--", "curl", "-sk", "--max-time", "60", "-w", "\nstatus %{http_code}"));
    if (!token.isEmpty()) {
      command.addAll(List.of("-H", "Authorization: Bearer " + token));
    }
    command.add("https://" + service.get().getSpec().getClusterIP() + "/");
    return lab.numalab(command.toArray(String[]::new));
  }

  private static String token(String serviceAccount) {
    return lab.kubectl("create", "token", serviceAccount).strip();
  }

  @Test
  void theServiceAsksTheApiServerWhoMaySee() {
    assertThat(ask("")).contains("status 401").doesNotContain(NODE);
    assertThat(ask("no.such.token")).contains("status 401").doesNotContain(NODE);
    assertThat(ask(token("nobody"))).contains("status 403").doesNotContain(NODE);
    assertThat(ask(token("viewer"))).contains("status 200", NODE, "Zone 0", "Zone 1");
  }

  /** A right that is taken away is gone within the seconds that an answer is remembered. */
  @Test
  void aRightThatIsTakenAwayIsGone() {
    lab.kubectl("create", "serviceaccount", "guest");
    lab.kubectl(
        "create",
        "clusterrolebinding",
        "guest",
        "--clusterrole=numa-page",
        "--serviceaccount=default:guest");
    var token = token("guest");
    await().until(() -> ask(token).contains("status 200"));
    lab.kubectl("delete", "clusterrolebinding", "guest");
    await().until(() -> ask(token).contains("status 403"));
  }

  /** The API server takes the caller's token off: what comes through it gets 401. */
  @Test
  void theApiServersProxyIsNoWayAround() {
    assertThatThrownBy(
            () ->
                lab.kubectl(
                    "get",
                    "--raw",
                    "/api/v1/namespaces/"
                        + NAMESPACE
                        + "/services/https:numa-operator-page:https/proxy/"))
        .hasMessageContaining("asked for the client to provide credentials");
  }

  @Test
  void theLoopbacksPortIsReachedByPortForwardOnly() throws Exception {
    var address = operator().getStatus().getPodIP();
    assertThatThrownBy(
            () ->
                lab.numalab(
                    "run", "--", "curl", "-s", "--max-time", "20", "http://" + address + ":8081/"))
        .hasMessageContaining("exit 7"); // refused, says curl

    var kubectl =
        new ProcessBuilder(
                Path.of(System.getProperty("lab.bin"), "kubectl").toString(),
                "--kubeconfig=" + lab.file("kubeconfig"),
                "--namespace=" + NAMESPACE,
                "port-forward",
                "deployment/numa-operator",
                ":8081")
            .redirectErrorStream(true)
            .redirectOutput(lab.file("port-forward.log").toFile())
            .start();
    try (var http = HttpClient.newHttpClient()) {
      var url = "http://localhost:" + port() + "/";
      assertThat(get(http, url)).contains(NODE, "Zone 0", "4 free", "observe");
      assertThat(get(http, url + "?node=" + NODE)).contains("KubeletConfigured");
    } finally {
      kubectl.destroy();
      kubectl.waitFor();
    }
  }

  /** As make demo does it: the script's own port-forward, and a real Chromium. */
  @Test
  void theScriptDrawsIt() throws Exception {
    var picture = lab.file("page.png");
    var script = new ProcessBuilder("hack/page-png.sh", picture.toString(), "?node=" + NODE);
    script.environment().put("KUBECONFIG", lab.file("kubeconfig").toString());
    script
        .environment()
        .merge("PATH", System.getProperty("lab.bin"), (path, bin) -> bin + ":" + path);
    var log = lab.file("page-png.log");
    var process = script.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(process.waitFor()).as(Files.readString(log)).isZero();
    var image = ImageIO.read(picture.toFile());
    assertThat(image.getWidth()).isEqualTo(1280);
    // a page and no blank sheet
    assertThat(IntStream.range(0, 400).map(x -> image.getRGB(x, 120)).distinct().count())
        .isGreaterThan(2);
  }

  private static String get(HttpClient http, String url) throws IOException, InterruptedException {
    var answer =
        http.send(
            HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.body();
  }

  private static String port() {
    var line = Pattern.compile("Forwarding from 127\\.0\\.0\\.1:(\\d+)");
    return await()
        .ignoreExceptions()
        .until(
            () -> {
              var said = line.matcher(Files.readString(lab.file("port-forward.log")));
              return said.find() ? said.group(1) : "";
            },
            port -> !port.isEmpty());
  }

  private static Pod operator() {
    return lab.client()
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", "numa-operator")
        .list()
        .getItems()
        .getFirst();
  }
}
