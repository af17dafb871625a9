package io.numaoperator.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.scheduler.tls.Certificates;
import io.numaoperator.scheduler.tls.Certificates.Use;
import io.numaoperator.scheduler.tls.Identity;
import io.numaoperator.scheduler.tls.MutualTls;
import io.numaoperator.topology.fit.Fit;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExtenderServerTest {
  private static final Duration DAY = Duration.ofDays(1);
  private final KubernetesSerialization json = new KubernetesSerialization();
  private final Identity authority = authority();
  private final AtomicReference<Identity> shown =
      new AtomicReference<>(issue(authority, Use.SERVER));
  private final AtomicBoolean ready = new AtomicBoolean(true);
  private final List<String> asked = new ArrayList<>();
  private final ClusterState state = new ClusterState(Clock.fixed(Given.NOW, ZoneOffset.UTC));
  private final ExtenderServer server = server();

  private static Identity authority() {
    try {
      return Certificates.authority("test", Instant.now(), DAY);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Identity issue(Identity authority, Use use) {
    try {
      return Certificates.issue(authority, use, "test", List.of("localhost"), Instant.now(), DAY);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private ExtenderServer server() {
    var judge = new Judge(UnknownNodes.Deny, Fit::of);
    var api = new FakeApiServer();
    var clock = Clock.fixed(Given.NOW, ZoneOffset.UTC);
    try {
      return new ExtenderServer(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
          MutualTls.context(() -> new MutualTls.Material(shown.get(), authority.certificate())),
          new Extender(
              state,
              () -> judge,
              new Binder(api, state, () -> judge, clock),
              new CycleGate(Duration.ZERO),
              new Refusals()),
          json,
          ready::get,
          asked::add);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> post(Identity client, String path, String body) throws Exception {
    var tls = MutualTls.context(() -> new MutualTls.Material(client, authority.certificate()));
    try (var http = HttpClient.newBuilder().sslContext(tls).build()) {
      return http.send(
          HttpRequest.newBuilder(
                  URI.create("https://localhost:%d%s".formatted(server.port(), path)))
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return post(issue(authority, Use.CLIENT), path, body);
  }

  /**
   * The question as Go's encoder writes it, fields in upper camel case and null for what is unset.
   */
  private String question(String... nodes) {
    return "{\"Pod\":%s,\"Nodes\":null,\"NodeNames\":%s}"
        .formatted(json.asJson(Given.pod("a", 4)), json.asJson(nodes));
  }

  @Test
  void answersInTheFormOfTheExtenderApi() throws Exception {
    state.put(Given.topology("n1", 2, 2));
    state.put(Given.topology("n2", 4, 2));
    assertThat(post("/scheduler/filter", question("n1", "n2", "n3")).body())
        .isEqualTo(
            "{\"NodeNames\":[\"n2\"],\"FailedNodes\":{\"n1\":\"zone 0 has 2 of 4 nvidia.com/gpu"
                + " free, zone 1 has 2\"},\"FailedAndUnresolvableNodes\":{\"n3\":\"it has no"
                + " NodeResourceTopology\"},\"Error\":\"\"}");
    assertThat(post("/scheduler/prioritize", question("n2")).body())
        .isEqualTo("[{\"Host\":\"n2\",\"Score\":7}]");
    assertThat(
            post(
                    "/scheduler/preempt",
                    "{\"Pod\":%s,\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"x\"}],\"NumPDBViolations\":2}}}"
                        .formatted(json.asJson(Given.pod("a", 4))))
                .body())
        .isEqualTo(
            "{\"NodeNameToMetaVictims\":{\"n2\":{\"Pods\":[{\"UID\":\"x\"}],\"NumPDBViolations\":2}}}");
    assertThat(
            post(
                    "/scheduler/bind",
                    "{\"PodName\":\"a\",\"PodNamespace\":\"default\",\"PodUID\":\"u\",\"Node\":\"n2\"}")
                .body())
        .isEqualTo("{\"Error\":\"the pod is gone\"}");
    assertThat(asked).containsExactly("filter", "prioritize", "preempt", "bind");
  }

  @Test
  void onlyOurAuthoritysClientsAreHeard() {
    var stranger = issue(authority(), Use.CLIENT);
    assertThatThrownBy(() -> post(stranger, "/scheduler/filter", question()))
        .isInstanceOf(IOException.class);
    assertThat(asked).isEmpty();
  }

  /** A server's certificate is not a client's. */
  @Test
  void aServersCertificateDoesNotMakeAClient() {
    var server = issue(authority, Use.SERVER);
    assertThatThrownBy(() -> post(server, "/scheduler/filter", question()))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aRenewedCertificateIsShownWithoutARestart() throws Exception {
    var renewed = issue(authority, Use.SERVER);
    shown.set(renewed);
    var response = post("/scheduler/filter", question());
    assertThat(response.sslSession().orElseThrow().getPeerCertificates()[0])
        .isEqualTo(
            CertificateFactory.getInstance("X.509")
                .generateCertificate(
                    new ByteArrayInputStream(
                        renewed.certificate().getBytes(StandardCharsets.US_ASCII))));
  }

  @Test
  void refusesWhatItCannotAnswer() throws Exception {
    assertThat(post("/scheduler/filter", "not json").statusCode()).isEqualTo(400);
    assertThat(post("/scheduler/filter/x", question()).statusCode()).isEqualTo(404);
    assertThat(post("/else", question()).statusCode()).isEqualTo(404);
    ready.set(false);
    assertThat(post("/scheduler/filter", question()).statusCode()).isEqualTo(503);
  }
}
