package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.numaoperator.api.NumaNodeState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a fake API server that has each pod on node gpu-1, and keeps the Events it is sent. */
class CrossingStoryTest {
  private final ObjectMapper json = new ObjectMapper();
  private final List<JsonNode> events = new CopyOnWriteArrayList<>();
  private volatile boolean away;
  private HttpServer server;
  private KubernetesClient client;
  private CrossingStory story;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
    story = new CrossingStory(client, new Events(client));
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      var path = exchange.getRequestURI().getPath();
      int code = 200;
      var body = "{}";
      if (away) {
        code = 403; // not one that is tried again
      } else if (exchange.getRequestMethod().equals("POST")) {
        var event = json.readTree(exchange.getRequestBody());
        events.add(event);
        code = 201;
        body = event.toString();
      } else {
        var name = path.substring(path.lastIndexOf('/') + 1);
        body =
            """
            {"apiVersion": "v1", "kind": "Pod", "metadata":
              {"name": "%s", "namespace": "train", "uid": "uid-%s"}, "spec": {"nodeName": "gpu-1"}}
            """
                .formatted(name, name);
      }
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(code, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private static final String ACROSS =
      "{pod: train/%s, container: main, placement: CrossNUMA, cpus: 0-3, cpuZones: [0],"
          + " memoryZones: [0], devices: [{resource: nvidia.com/gpu, count: 1, zones: [1]}]}";

  private static NumaNodeState node(String name, String... placed) {
    return new KubernetesSerialization()
        .unmarshal(
            """
            apiVersion: numaoperator.io/v1alpha1
            kind: NumaNodeState
            metadata: {name: %s}
            status: {containers: {placed: [%s]}}
            """
                .formatted(name, String.join(", ", placed)),
            NumaNodeState.class);
  }

  private List<String> told() {
    return events.stream().map(e -> e.at("/involvedObject/name").asText()).toList();
  }

  @Test
  void aWarningOfThePodThatSaysWhereEverythingIs() {
    story.look(node("gpu-1", ACROSS.formatted("llm")));
    assertThat(events).hasSize(1);
    var event = events.getFirst();
    assertThat(event.path("type").asText()).isEqualTo("Warning");
    assertThat(event.path("reason").asText()).isEqualTo("AcrossNUMANodes");
    assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Pod");
    assertThat(event.at("/involvedObject/uid").asText()).isEqualTo("uid-llm");
    assertThat(event.path("message").asText())
        .contains("runs across NUMA nodes of gpu-1")
        .contains(
            "container main: CPUs 0-3 on zone 0, memory on zone 0, 1 nvidia.com/gpu on zone 1");
  }

  @Test
  void onceForEachPodAsLongAsItRuns() {
    story.look(node("gpu-1", ACROSS.formatted("a")));
    story.look(node("gpu-1", ACROSS.formatted("a"), ACROSS.formatted("b")));
    story.look(node("gpu-1", ACROSS.formatted("a"), ACROSS.formatted("b")));
    assertThat(told()).containsExactly("a", "b");
  }

  /** One with the same name that was made again, elsewhere. */
  @Test
  void notOfAPodOnAnotherNode() {
    story.look(node("gpu-2", ACROSS.formatted("a")));
    assertThat(events).isEmpty();
  }

  @Test
  void notOfPodsThatAreAlignedOrHaveNoGpu() {
    story.look(
        node(
            "gpu-1",
            "{pod: train/a, container: main, placement: CrossNUMA, cpus: 0-9}",
            "{pod: train/b, container: main, placement: Aligned, devices: [{resource: nvidia.com/gpu, count: 1}]}",
            "{pod: train/c, container: main, placement: NotPinned, devices: [{resource: nvidia.com/gpu, count: 2}]}",
            "{pod: train/d, container: main, placement: Unsupported, devices: [{resource: nvidia.com/gpu, count: 2}]}"));
    assertThat(events).isEmpty();
  }

  @Test
  void whatCouldNotBeToldIsToldLater() {
    away = true;
    story.look(node("gpu-1", ACROSS.formatted("a")));
    away = false;
    story.look(node("gpu-1", ACROSS.formatted("a")));
    assertThat(told()).containsExactly("a");
  }
}
