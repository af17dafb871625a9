package io.numaoperator.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Against a server that stands for the API server's two reviews: it knows the tokens anna and bob,
 * and lets anna list everything and bob everything but policies. PageLabTest asks a real one.
 */
class ApiServerAccessTest {
  /** Milliseconds, for a machine without a free core. */
  private static final int PATIENCE = 180_000;

  private final JsonMapper json = new JsonMapper();
  private final List<JsonNode> asked = new ArrayList<>();
  private HttpServer server;
  private KubernetesClient client;
  private Access access;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    answer("/apis/authentication.k8s.io/v1/tokenreviews");
    answer("/apis/authorization.k8s.io/v1/subjectaccessreviews");
    server.start();
    client =
        new KubernetesClientBuilder()
            .withHttpClientFactory(new JdkHttpClientFactory())
            .withConfig(
                new ConfigBuilder(Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .withConnectionTimeout(PATIENCE)
                    .withRequestTimeout(PATIENCE)
                    .build())
            .build();
    access = new ApiServerAccess(client);
  }

  @AfterEach
  void stop() {
    client.close();
    server.stop(0);
  }

  private void answer(String path) {
    server.createContext(
        path,
        exchange -> {
          try (exchange) {
            var review = (ObjectNode) json.readTree(exchange.getRequestBody());
            asked.add(review);
            var spec = review.path("spec");
            var status = review.putObject("status");
            if (spec.has("token")) {
              var name = spec.path("token").asText();
              boolean known = List.of("anna", "bob").contains(name);
              status.put("authenticated", known);
              if (known) {
                var user = status.putObject("user").put("username", name).put("uid", "u-" + name);
                user.putArray("groups").add("people");
                user.putObject("extra").putArray("scopes").add("a").add("b");
              }
            } else {
              var resource = spec.path("resourceAttributes").path("resource").asText();
              status.put(
                  "allowed",
                  spec.path("user").asText().equals("anna") || !resource.equals("numapolicies"));
            }
            var body = json.writeValueAsBytes(review);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(201, body.length);
            exchange.getResponseBody().write(body);
          }
        });
  }

  @Test
  void whoMayListAllThatThePageShowsIsLetIn() {
    assertThat(access.of("anna")).isEqualTo(Access.Answer.Allowed);
    assertThat(asked).hasSize(4);
    var spec = asked.get(1).path("spec");
    assertThat(spec.path("user").asText()).isEqualTo("anna");
    assertThat(spec.path("uid").asText()).isEqualTo("u-anna");
    assertThat(spec.path("groups").toString()).isEqualTo("[\"people\"]");
    assertThat(spec.path("extra").toString()).isEqualTo("{\"scopes\":[\"a\",\"b\"]}");
    assertThat(
            asked.stream()
                .skip(1)
                .map(review -> review.path("spec").path("resourceAttributes"))
                .map(
                    what ->
                        what.path("verb").asText()
                            + " "
                            + what.path("resource").asText()
                            + "."
                            + what.path("group").asText()))
        .containsExactlyInAnyOrder(
            "list numanodestates.numaoperator.io",
            "list numapolicies.numaoperator.io",
            "list noderesourcetopologies.topology.node.k8s.io");
    assertThat(asked)
        .noneMatch(review -> review.path("spec").path("resourceAttributes").has("namespace"));
  }

  @Test
  void whoMayNotListOneOfThemIsNot() {
    assertThat(access.of("bob")).isEqualTo(Access.Answer.Forbidden);
    assertThat(access.of("carl")).isEqualTo(Access.Answer.Unauthenticated);
  }

  @Test
  void withoutAnAnswerNobodyIs() {
    server.stop(0);
    assertThat(access.of("anna")).isEqualTo(Access.Answer.NoAnswer);
  }
}
