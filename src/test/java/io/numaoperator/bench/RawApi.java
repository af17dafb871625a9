package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;

/**
 * The API server by raw requests with ready-made bodies: what simulates thousands of machines must
 * cost little beside what is measured, and what marks the limit must have none of a client's
 * overhead.
 */
final class RawApi implements AutoCloseable {
  static final String MERGE = "application/merge-patch+json";
  static final String STRATEGIC = "application/strategic-merge-patch+json";
  static final String APPLY = "application/apply-patch+yaml";
  private static final String JSON = "application/json";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final String server;
  private final HttpClient http;
  private final Semaphore atOnce;
  private final JsonMapper mapper = new JsonMapper();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * @param connections requests under way at once; watches are not counted
   */
  RawApi(Config config, int connections) {
    try {
      var tls = SSLContext.getInstance("TLS");
      tls.init(SSLUtils.keyManagers(config), SSLUtils.trustManagers(config), null);
      server = config.getMasterUrl().replaceAll("/$", "");
      atOnce = new Semaphore(connections);
      http =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .sslContext(tls)
              .executor(threads)
              .build();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the server said. */
  record Answer(int code, byte[] body) {
    boolean ok() {
      return code / 100 == 2;
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    /** Of the object, without reading all of it; it comes before any other text of that name. */
    String field(String name) {
      var text = text();
      int from = text.indexOf("\"" + name + "\":\"");
      if (from < 0) {
        throw new IllegalStateException("no " + name + " in " + text);
      }
      from += name.length() + 4;
      return text.substring(from, text.indexOf('"', from));
    }
  }

  Answer send(String method, String path, String type, String body) {
    var request =
        HttpRequest.newBuilder(URI.create(server + path))
            .timeout(PATIENCE)
            .header("Content-Type", type)
            .header("Accept", JSON)
            .method(method, BodyPublishers.ofString(body))
            .build();
    try {
      atOnce.acquire();
      try {
        var answer = http.send(request, BodyHandlers.ofByteArray());
        return new Answer(answer.statusCode(), answer.body());
      } finally {
        atOnce.release();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The same for what must succeed. */
  Answer must(String method, String path, String type, String body) {
    var answer = send(method, path, type, body);
    if (!answer.ok()) {
      throw new IllegalStateException(
          "%s %s: HTTP %d %s".formatted(method, path, answer.code(), answer.text()));
    }
    return answer;
  }

  Answer create(String path, String body) {
    return must("POST", path, JSON, body);
  }

  Answer apply(String path, String manager, String body) {
    return send("PATCH", path + "?force=true&fieldManager=" + manager, APPLY, body);
  }

  Answer delete(String path) {
    return must("DELETE", path, JSON, "{}");
  }

  JsonNode get(String path) {
    return json(must("GET", path, JSON, "").body());
  }

  private JsonNode json(byte[] text) {
    try {
      return mapper.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Lists, then watches until closed, in a thread of its own; each object is given as an event.
   *
   * @param query with a leading &amp;, or empty
   */
  AutoCloseable watch(String collection, String query, Consumer<JsonNode> event) {
    var thread =
        Thread.ofVirtual()
            .name("watch " + collection)
            .start(
                () -> {
                  while (!Thread.interrupted() && !http.isTerminated()) {
                    try {
                      follow(collection, query, event);
                    } catch (IOException | RuntimeException e) {
                      // ended by the server after minutes, or by us
                    } catch (InterruptedException e) {
                      return;
                    }
                  }
                });
    return thread::interrupt;
  }

  private void follow(String collection, String query, Consumer<JsonNode> event)
      throws IOException, InterruptedException {
    var list = get(collection + "?resourceVersion=0" + query);
    for (var item : list.path("items")) {
      event.accept(mapper.createObjectNode().put("type", "ADDED").set("object", item));
    }
    var version = list.path("metadata").path("resourceVersion").asText();
    var request =
        HttpRequest.newBuilder(
                URI.create(
                    server
                        + collection
                        + "?watch=1&allowWatchBookmarks=true&resourceVersion="
                        + version
                        + query))
            .header("Accept", JSON)
            .build();
    var answer = http.send(request, BodyHandlers.ofInputStream());
    try (InputStream body = answer.body();
        var events = mapper.readerFor(JsonNode.class).<JsonNode>readValues(body)) {
      while (events.hasNext()) {
        var next = events.next();
        switch (next.path("type").asText()) {
          case "ADDED", "MODIFIED", "DELETED" -> event.accept(next);
          case "ERROR" -> {
            return; // list again
          }
          default -> {} // BOOKMARK
        }
      }
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.shutdownNow();
  }
}
