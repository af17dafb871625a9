package io.numaoperator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/**
 * The API server: reads, but for the Job of a probe. Configuration, authentication and HTTP are
 * fabric8's; its upper half is left out, since a command would wait longer for its classes than for
 * the answer.
 */
final class Api implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;
  private static final long TIMEOUT_SECONDS = 60;
  private static final int PAGE = 500;

  private final HttpClient http;
  private final String server;
  private final String namespace;
  private final ObjectMapper mapper =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  Api(Config config) {
    config.setRequestRetryBackoffLimit(0); // a person waits
    config.setConnectionTimeout(CONNECT_MILLIS);
    this.http = new JdkHttpClientFactory().newBuilder(config).build();
    this.server = config.getMasterUrl();
    this.namespace = Optional.ofNullable(config.getNamespace()).orElse("default");
  }

  /** The namespace of the kubeconfig's context. */
  String namespace() {
    return namespace;
  }

  /** Empty when there is none. */
  <T> Optional<T> get(String path, Class<T> type) {
    return json(path).map(json -> convert(json, type));
  }

  /**
   * All of them, page by page.
   *
   * @return empty when the cluster does not serve the kind
   */
  <T> Optional<List<T>> list(String path, Class<T> type) {
    var items = new ArrayList<T>();
    var more = "";
    do {
      var page =
          json(
              path
                  + (path.contains("?") ? "&" : "?")
                  + "limit="
                  + PAGE
                  + (more.isEmpty() ? "" : "&continue=" + encoded(more)));
      if (page.isEmpty()) {
        return Optional.empty();
      }
      for (var item : page.get().path("items")) {
        items.add(convert(item, type));
      }
      more = page.get().path("metadata").path("continue").asText("");
    } while (!more.isEmpty());
    return Optional.of(items);
  }

  /** The answer as it is; empty when there is none. */
  Optional<JsonNode> json(String path) {
    return bytes(path)
        .map(
            body -> {
              try {
                return mapper.readTree(body);
              } catch (IOException e) {
                throw new CliException("%s answered no JSON to %s".formatted(server, path), e);
              }
            });
  }

  /** The answer's bytes; empty when there is none. */
  Optional<byte[]> bytes(String path) {
    return answer(path, request -> {});
  }

  /** Makes an object, and returns it as the cluster has it. */
  <T> T create(String path, T object, Class<T> type) {
    try {
      var body = mapper.writeValueAsString(object);
      var made =
          answer(path, request -> request.post("application/json", body))
              .orElseThrow(() -> new CliException("%s does not have %s".formatted(server, path)));
      return convert(mapper.readTree(made), type);
    } catch (IOException e) {
      throw new CliException("%s answered no JSON to %s".formatted(server, path), e);
    }
  }

  /** Deletes an object and what depends on it; one that is gone already is well. */
  void delete(String path) {
    answer(
        path,
        request -> request.delete("application/json", "{\"propagationPolicy\": \"Background\"}"));
  }

  private Optional<byte[]> answer(String path, Consumer<HttpRequest.Builder> request) {
    var answer = send(path, request);
    return switch (answer.code()) {
      case HttpURLConnection.HTTP_OK,
          HttpURLConnection.HTTP_CREATED,
          HttpURLConnection.HTTP_ACCEPTED ->
          Optional.of(answer.body());
      case HttpURLConnection.HTTP_NOT_FOUND -> Optional.empty();
      case HttpURLConnection.HTTP_UNAUTHORIZED ->
          throw new CliException(
              "%s does not know who you are (401): log in again".formatted(server));
      case HttpURLConnection.HTTP_FORBIDDEN ->
          throw new CliException("not allowed: " + message(answer.body()));
      default ->
          throw new CliException(
              "%s answered %d to %s: %s"
                  .formatted(server, answer.code(), path, message(answer.body())));
    };
  }

  private HttpResponse<byte[]> send(String path, Consumer<HttpRequest.Builder> change) {
    var request = http.newHttpRequestBuilder().uri(server.replaceAll("/+$", "") + "/" + path);
    change.accept(request);
    try {
      return http.sendAsync(request.build(), byte[].class).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw unreachable(e.getCause());
    } catch (TimeoutException e) {
      throw unreachable(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException("interrupted", e);
    }
  }

  private CliException unreachable(Throwable cause) {
    return new CliException(
        "the API server %s does not answer: %s".formatted(server, reason(cause)), cause);
  }

  /** Why, in words; many of the JDK's exceptions have none. */
  static String reason(Throwable failure) {
    var deepest = failure;
    while (deepest.getCause() != null && deepest.getCause() != deepest) {
      if (deepest instanceof UnresolvedAddressException || deepest instanceof SSLException) {
        break;
      }
      deepest = deepest.getCause();
    }
    return switch (deepest) {
      case UnresolvedAddressException _ -> "its name is not known";
      case UnknownHostException _ -> "its name is not known";
      case HttpTimeoutException _ -> "no connection in time";
      case TimeoutException _ -> "no answer in time";
      case ConnectException e -> Optional.ofNullable(e.getMessage()).orElse("connection refused");
      default ->
          Optional.ofNullable(deepest.getMessage()).orElse(deepest.getClass().getSimpleName());
    };
  }

  private String message(byte[] status) {
    try {
      var text = mapper.readTree(status).path("message").asText("");
      return text.isEmpty() ? new String(status, StandardCharsets.UTF_8).strip() : text;
    } catch (IOException notJson) {
      return new String(status, StandardCharsets.UTF_8).strip();
    }
  }

  private <T> T convert(JsonNode json, Class<T> type) {
    try {
      return mapper.treeToValue(json, type);
    } catch (JsonProcessingException e) {
      throw new CliException(
          "%s answered a %s that this version cannot read: %s"
              .formatted(server, type.getSimpleName(), e.getOriginalMessage()),
          e);
    }
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    http.close();
  }
}
