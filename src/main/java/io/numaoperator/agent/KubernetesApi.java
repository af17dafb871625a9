package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.numaoperator.api.Names;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The API server through fabric8's configuration, authentication and HTTP client. The client's
 * upper half, with its resource handlers and model classes, is left out: it would double the
 * agent's memory.
 */
final class KubernetesApi implements ApiServer, AutoCloseable {
  private static final long TIMEOUT_SECONDS = 15;
  private static final String STATES =
      "apis/" + Names.GROUP + "/" + Names.VERSION + "/numanodestates";
  private static final String TOPOLOGIES =
      "apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies";

  private final HttpClient http;
  private final String server;
  private final String nodeName;
  private final ObjectMapper mapper = new ObjectMapper();

  /**
   * @param config where the API server is and who we are; its retries are switched off, since the
   *     agent must know at once that the API server is away
   */
  KubernetesApi(Config config, String nodeName) {
    config.setRequestRetryBackoffLimit(0);
    this.http = new JdkHttpClientFactory().newBuilder(config).build();
    this.server = config.getMasterUrl();
    this.nodeName = nodeName;
  }

  @Override
  public NodeView node() throws IOException {
    var path = "api/v1/nodes/" + nodeName;
    return NodeView.of(
        get(path).orElseThrow(() -> new IOException("there is no Node " + nodeName)));
  }

  @Override
  public Optional<JsonNode> state() throws IOException {
    return get(STATES + "/" + nodeName);
  }

  private Optional<JsonNode> get(String path) throws IOException {
    var answer = send(request(path).build());
    if (answer.code() == 404) {
      return Optional.empty();
    }
    return Optional.of(mapper.readTree(successful(answer, path)));
  }

  @Override
  public Optional<JsonNode> topology() throws IOException {
    return get(TOPOLOGIES + "/" + nodeName);
  }

  @Override
  public JsonNode applyTopology(JsonNode topology) throws IOException {
    var path =
        "%s/%s?force=true&fieldManager=%s"
            .formatted(TOPOLOGIES, nodeName, Names.AGENT_FIELD_MANAGER);
    return mapper.readTree(successful(apply(path, topology), path));
  }

  @Override
  public void watchTopology(
      String resourceVersion, Duration limit, Consumer<Optional<JsonNode>> changed)
      throws IOException, InterruptedException {
    watch(TOPOLOGIES, resourceVersion, limit, changed);
  }

  @Override
  public boolean applyStatus(JsonNode status) throws IOException {
    var object = mapper.createObjectNode();
    object.put("apiVersion", Names.GROUP + "/" + Names.VERSION).put("kind", "NumaNodeState");
    object.putObject("metadata").put("name", nodeName);
    object.set("status", status);
    var path =
        "%s/%s/status?force=true&fieldManager=%s"
            .formatted(STATES, nodeName, Names.AGENT_FIELD_MANAGER);
    var answer = apply(path, object);
    if (answer.code() == 404) {
      return false;
    }
    successful(answer, path);
    return true;
  }

  private HttpResponse<byte[]> apply(String path, JsonNode object) throws IOException {
    return send(
        request(path)
            .method("PATCH", "application/apply-patch+yaml", mapper.writeValueAsString(object))
            .build());
  }

  @Override
  public void watchState(
      String resourceVersion, Duration limit, Consumer<Optional<JsonNode>> changed)
      throws IOException, InterruptedException {
    watch(STATES, resourceVersion, limit, changed);
  }

  private void watch(
      String collection,
      String resourceVersion,
      Duration limit,
      Consumer<Optional<JsonNode>> changed)
      throws IOException, InterruptedException {
    var path =
        "%s?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%%3D%s&resourceVersion=%s&timeoutSeconds=%d"
            .formatted(collection, nodeName, resourceVersion, limit.toSeconds());
    var events = new WatchEvents(mapper, changed);
    var answer =
        await(http.consumeBytes(request(path).forStreaming().build(), events), TIMEOUT_SECONDS);
    var body = answer.body();
    try {
      if (answer.code() != 200) {
        throw new IOException("watch of " + collection + ": HTTP " + answer.code());
      }
      body.consume();
      // the server ends it by itself; a connection that died without a word does not
      await(body.done(), limit.toSeconds() + TIMEOUT_SECONDS);
    } finally {
      body.cancel();
    }
  }

  /** Cuts the stream into lines, each an event. */
  private static final class WatchEvents implements AsyncBody.Consumer<List<ByteBuffer>> {
    private final ObjectMapper mapper;
    private final Consumer<Optional<JsonNode>> changed;
    private final java.io.ByteArrayOutputStream line = new java.io.ByteArrayOutputStream();

    WatchEvents(ObjectMapper mapper, Consumer<Optional<JsonNode>> changed) {
      this.mapper = mapper;
      this.changed = changed;
    }

    @Override
    public void consume(List<ByteBuffer> chunk, AsyncBody body) throws IOException {
      for (var buffer : chunk) {
        while (buffer.hasRemaining()) {
          byte b = buffer.get();
          if (b == '\n') {
            event(mapper.readTree(line.toByteArray()));
            line.reset();
          } else {
            line.write(b);
          }
        }
      }
      body.consume();
    }

    private void event(JsonNode event) throws IOException {
      switch (event.path("type").asText()) {
        case "ADDED", "MODIFIED" -> changed.accept(Optional.of(event.path("object")));
        case "DELETED" -> changed.accept(Optional.empty());
        case "ERROR" ->
            throw new IOException("watch: " + event.path("object").path("message").asText());
        default -> {} // BOOKMARK
      }
    }
  }

  private HttpRequest.Builder request(String path) {
    return http.newHttpRequestBuilder().uri(server + path);
  }

  private HttpResponse<byte[]> send(HttpRequest request) throws IOException {
    try {
      return await(http.sendAsync(request, byte[].class), TIMEOUT_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static <T> T await(CompletableFuture<T> future, long seconds)
      throws IOException, InterruptedException {
    try {
      return future.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(Errors.text(e.getCause()), e);
    } catch (TimeoutException e) {
      future.cancel(true);
      throw new IOException("no answer within " + seconds + " s", e);
    }
  }

  private byte[] successful(HttpResponse<byte[]> answer, String path) throws IOException {
    if (answer.isSuccessful()) {
      return answer.body();
    }
    var message = "";
    try {
      message = mapper.readTree(answer.body()).path("message").asText();
    } catch (IOException e) {
      // not a Status object: the code has to do
    }
    throw new IOException("%s: HTTP %d %s".formatted(path, answer.code(), message).strip());
  }

  @Override
  public void close() {
    http.close();
  }
}
