package io.numaoperator.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stands for the API server: answers GET of lists, objects and logs with what it was given, POST
 * with the object and a name for it, DELETE with nothing done; and notes what it was asked for.
 */
final class FakeApi implements AutoCloseable {
  /** Of what asks for one by generateName. */
  static final String GIVEN_NAME = "given-name";

  private final ObjectMapper mapper = new ObjectMapper();
  private final HttpServer server;
  private final Map<String, List<ObjectNode>> lists = new HashMap<>();
  private final Map<String, String> texts = new HashMap<>();
  private final Map<String, Integer> refused = new HashMap<>();

  /** Method and path with query of each request. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  /** The objects that were made. */
  final List<ObjectNode> made = new CopyOnWriteArrayList<>();

  FakeApi() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  /** A lab's objects. */
  static FakeApi of(Recorded recorded) throws IOException {
    var api = new FakeApi();
    api.list("/" + ClusterReader.POLICIES, recorded.objects("NumaPolicy"));
    api.list("/" + ClusterReader.STATES, recorded.objects("NumaNodeState"));
    api.list("/" + ClusterReader.TOPOLOGIES, recorded.objects("NodeResourceTopology"));
    api.list("/api/v1/nodes", recorded.objects("Node"));
    api.list("/api/v1/namespaces/default/pods", recorded.objects("Pod"));
    api.text("/version", "{\"gitVersion\": \"v1.36.3\"}");
    return api;
  }

  void list(String path, List<ObjectNode> objects) {
    lists.put(path, objects);
  }

  void text(String path, String content) {
    texts.put(path, content);
  }

  void refuse(String path, int code) {
    refused.put(path, code);
  }

  Api connect() {
    return new Api(config(server.getAddress().getPort()));
  }

  static Config config(int port) {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:%d/".formatted(port))
        .withNamespace("default")
        .build();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      var path = exchange.getRequestURI().getPath();
      asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
      if (refused.containsKey(path)) {
        send(exchange, refused.get(path), "{\"message\": \"refused by the fake API server\"}");
      } else if (exchange.getRequestMethod().equals("POST")) {
        var object = (ObjectNode) mapper.readTree(exchange.getRequestBody());
        ((ObjectNode) object.get("metadata")).put("name", GIVEN_NAME);
        made.add(object);
        send(exchange, 201, object.toString());
      } else if (exchange.getRequestMethod().equals("DELETE")) {
        send(exchange, 200, "{}");
      } else if (texts.containsKey(path)) {
        send(exchange, 200, texts.get(path));
      } else if (lists.containsKey(path)) {
        send(exchange, 200, page(exchange, lists.get(path)).toString());
      } else {
        var parent = path.substring(0, path.lastIndexOf('/'));
        var name = path.substring(path.lastIndexOf('/') + 1);
        var object =
            lists.getOrDefault(parent, List.of()).stream()
                .filter(o -> name.equals(o.path("metadata").path("name").asText()))
                .findFirst();
        send(
            exchange,
            object.isPresent() ? 200 : 404,
            object.map(ObjectNode::toString).orElse("{\"message\": \"not found\"}"));
      }
    }
  }

  /** One object a page, so that whoever forgets to go on is found out. */
  private ObjectNode page(HttpExchange exchange, List<ObjectNode> objects) {
    var query = exchange.getRequestURI().getQuery();
    int at =
        query != null && query.contains("continue=")
            ? Integer.parseInt(query.replaceFirst(".*continue=(\\d+).*", "$1"))
            : 0;
    var page = mapper.createObjectNode();
    var items = new ArrayList<ObjectNode>();
    if (at < objects.size()) {
      items.add(objects.get(at));
    }
    var metadata = page.putObject("metadata");
    if (at + 1 < objects.size()) {
      metadata.put("continue", String.valueOf(at + 1));
    }
    page.putArray("items").addAll(items);
    return page;
  }

  private static void send(HttpExchange exchange, int code, String body) throws IOException {
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
