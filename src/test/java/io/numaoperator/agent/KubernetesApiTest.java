package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests that are made, against an HTTP server that stands for the API server. */
class KubernetesApiTest {
  private static final String STATES = "/apis/numaoperator.io/v1alpha1/numanodestates";
  private final ObjectMapper json = new ObjectMapper();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private HttpServer server;
  private KubernetesApi api;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
    var config =
        new ConfigBuilder()
            .withAutoConfigure(false)
            .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
            .build();
    api = new KubernetesApi(config, "gpu-1");
  }

  @AfterEach
  void stop() {
    api.close();
    server.stop(0);
  }

  @Test
  void readsItsNode() throws IOException {
    serve(
        "/api/v1/nodes/gpu-1",
        200,
        """
        {"metadata": {"annotations": {"numaoperator.io/cordoned-for": "p/3"},
                      "labels": {"kubernetes.io/os": "linux"}},
         "spec": {"unschedulable": true},
         "status": {
           "addresses": [{"type": "Hostname", "address": "gpu-1"},
                         {"type": "InternalIP", "address": "10.0.0.7"}],
           "daemonEndpoints": {"kubeletEndpoint": {"Port": 10255}},
           "nodeInfo": {"kubeletVersion": "v1.36.3", "osImage": "Debian GNU/Linux 12 (bookworm)"},
           "conditions": [
             {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": "2020-01-01T00:00:00Z"},
             {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]}}
        """);
    assertThat(api.node())
        .isEqualTo(
            new NodeView(
                "",
                "v1.36.3",
                Optional.of("10.0.0.7"),
                10255,
                true,
                Optional.of("p/3"),
                Optional.empty(),
                Instant.parse("2026-01-01T00:00:00Z"),
                "Debian GNU/Linux 12 (bookworm)",
                Set.of("kubernetes.io/os", "numaoperator.io/cordoned-for")));
  }

  @Test
  void aNodeThatSaysNothingIsNeitherReadyNorCordoned() throws IOException {
    serve("/api/v1/nodes/gpu-1", 200, "{}");
    var node = api.node();
    assertThat(node.notReady()).hasValue("it has no condition Ready");
    assertThat(node.unschedulable()).isFalse();
    assertThat(node.cordonedFor()).isEmpty();
    assertThat(node.internalIp()).isEmpty();
  }

  @Test
  void whyANodeIsNotReadyIsRead() throws IOException {
    serve(
        "/api/v1/nodes/gpu-1",
        200,
        """
        {"status": {"conditions": [
          {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
           "message": "Kubelet stopped posting node status."}]}}
        """);
    assertThat(api.node().notReady())
        .hasValue("NodeStatusUnknown: Kubelet stopped posting node status.");
  }

  @Test
  void anObjectThatIsNotThereIsNoError() throws IOException {
    serve(STATES + "/gpu-1", 404, "{\"kind\": \"Status\"}");
    assertThat(api.state()).isEmpty();
    assertThat(api.applyStatus(json.createObjectNode())).isFalse();
  }

  @Test
  void appliesTheStatusAsTheAgent() throws IOException {
    serve(STATES + "/gpu-1/status", 200, "{}");
    assertThat(api.applyStatus(json.createObjectNode().put("bootId", "b"))).isTrue();
    assertThat(requests)
        .containsExactly(
            "PATCH "
                + STATES
                + "/gpu-1/status?force=true&fieldManager=numa-agent application/apply-patch+yaml"
                + " {\"apiVersion\":\"numaoperator.io/v1alpha1\",\"kind\":\"NumaNodeState\","
                + "\"metadata\":{\"name\":\"gpu-1\"},\"status\":{\"bootId\":\"b\"}}");
  }

  @Test
  void anErrorIsToldOnceAndAtOnce() {
    serve(STATES + "/gpu-1", 503, "{\"message\": \"etcd is away\"}");
    assertThatThrownBy(() -> api.state())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("HTTP 503 etcd is away");
    assertThat(requests).hasSize(1);
  }

  @Test
  void watchesItsObjectAlone() throws Exception {
    serve(
        STATES,
        200,
        "{\"type\":\"MODIFIED\",\"object\":{\"n\":1}}\n{\"type\":\"BOOK",
        "MARK\",\"object\":{\"n\":2}}\n{\"type\":\"ADDED\",\"object\":{\"n\":3}}\n");
    var seen = new ArrayList<JsonNode>();
    api.watchState("42", Duration.ofSeconds(30), o -> seen.add(o.orElseThrow()));
    assertThat(seen).extracting(o -> o.path("n").asInt()).containsExactly(1, 3);
    assertThat(requests.getFirst())
        .contains("watch=true", "fieldSelector=metadata.name=gpu-1", "resourceVersion=42");
  }

  @Test
  void aWatchThatIsTooOldEnds() {
    serve(STATES, 200, "{\"type\":\"ERROR\",\"object\":{\"message\":\"too old\"}}\n");
    assertThatThrownBy(() -> api.watchState("1", Duration.ofSeconds(30), o -> {}))
        .isInstanceOf(IOException.class);
  }

  private void serve(String path, int code, String... chunks) {
    server.createContext(path, exchange -> answer(exchange, code, chunks));
  }

  private void answer(HttpExchange exchange, int code, String... chunks) throws IOException {
    try (exchange) {
      var body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      var type = exchange.getRequestHeaders().getFirst("Content-Type");
      requests.add(
          "%s %s %s %s"
              .formatted(
                  exchange.getRequestMethod(),
                  exchange.getRequestURI().getPath() + "?" + exchange.getRequestURI().getQuery(),
                  type,
                  body));
      exchange.sendResponseHeaders(code, 0);
      for (var chunk : chunks) {
        exchange.getResponseBody().write(chunk.getBytes(UTF_8));
        exchange.getResponseBody().flush();
      }
    }
  }
}
