package io.numaoperator.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PageServerTest {
  private static Served served;
  private static HttpClient http;

  @BeforeAll
  static void serve() throws GeneralSecurityException {
    served =
        Served.of(
            PretendCluster.four(),
            token -> {
              return switch (token) {
                case "good" -> Access.Answer.Allowed;
                case "poor" -> Access.Answer.Forbidden;
                case "lost" -> Access.Answer.NoAnswer;
                default -> Access.Answer.Unauthenticated;
              };
            });
    var tls = SSLContext.getInstance("TLS");
    tls.init(null, new TrustManager[] {new TrustsAll()}, null);
    http = HttpClient.newBuilder().sslContext(tls).build();
  }

  @AfterAll
  static void end() {
    served.close();
    http.close();
  }

  private static HttpResponse<byte[]> get(String url, String... headers)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  @Test
  void onTheLoopbackThePageNeedsNoToken() throws Exception {
    var page = get(served.url());
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(text(page)).contains("gpu-1", "gpu-4");
    assertThat(get(served.url() + "?node=gpu-4").statusCode()).isEqualTo(200);
    assertThat(get(served.url() + "?node=none").statusCode()).isEqualTo(404);
    assertThat(get(served.url() + "icon.svg").statusCode()).isEqualTo(200);
    assertThat(get(served.url() + "?page=x&state=x").statusCode()).isEqualTo(200);
    assertThat(get(served.url() + "etc/passwd").statusCode()).isEqualTo(404);
  }

  /** The browser's user is tricked, not the browser: its request names who it is for. */
  @ParameterizedTest
  @CsvSource({
    "localhost:8081, 200",
    "LOCALHOST, 200",
    "127.0.0.1:9999, 200",
    "[::1]:8081, 200",
    "evil.example:8081, 421",
    "localhost.evil.example, 421",
    "127.0.0.1.evil.example, 421",
    "'', 421"
  })
  void aNameThatWasMadeToPointHereIsRefused(String host, int status) throws IOException {
    var answer = raw("GET /", host);
    assertThat(answer).startsWith("HTTP/1.1 " + status + " ");
    assertThat(answer.contains("gpu-1")).isEqualTo(status == 200);
  }

  /** Java's client would not send it. */
  @Test
  void anAddressThatCannotBeDecodedIsAsIfNothingWasAsked() throws IOException {
    assertThat(raw("GET /?q=%zz&node=%", "localhost")).startsWith("HTTP/1.1 200 ");
  }

  private static String raw(String request, String host) throws IOException {
    try (var socket = new Socket("127.0.0.1", served.server().loopbackPort())) {
      socket
          .getOutputStream()
          .write(
              (request + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void othersNeedATokenThatMay() throws Exception {
    var none = get(served.othersUrl());
    assertThat(none.statusCode()).isEqualTo(401);
    assertThat(none.headers().firstValue("WWW-Authenticate").orElse("")).startsWith("Bearer");
    assertThat(text(none)).contains("port-forward").doesNotContain("gpu-");
    for (var wrong : new String[] {"Bearer bad", "Bearer ", "Basic good", "good", "Bearer"}) {
      assertThat(get(served.othersUrl(), "Authorization", wrong).statusCode())
          .as(wrong)
          .isEqualTo(401);
    }
    var poor = get(served.othersUrl(), "Authorization", "Bearer poor");
    assertThat(poor.statusCode()).isEqualTo(403);
    assertThat(text(poor)).contains("numanodestates").doesNotContain("gpu-");
    var lost = get(served.othersUrl(), "Authorization", "Bearer lost");
    assertThat(lost.statusCode()).isEqualTo(503);
    assertThat(text(lost)).doesNotContain("gpu-");
    var good = get(served.othersUrl(), "Authorization", "bearer good");
    assertThat(good.statusCode()).isEqualTo(200);
    assertThat(text(good)).contains("gpu-1");
    for (var path : new String[] {"icon.svg", "x", "?node=gpu-1"}) {
      assertThat(get(served.othersUrl() + path).statusCode()).as(path).isEqualTo(401);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
  void nothingButReadingIsAnswered(String method) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(served.url()))
            .method(method, HttpRequest.BodyPublishers.ofString("x"))
            .build();
    var answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.body()).doesNotContain("gpu-");
  }

  @Test
  void everyAnswerCarriesTheHeadersThatProtectIt() throws Exception {
    for (var url :
        new String[] {
          served.url(), served.url() + "icon.svg", served.url() + "none", served.othersUrl()
        }) {
      var headers = get(url).headers();
      var policy = headers.firstValue("Content-Security-Policy").orElse("");
      assertThat(policy)
          .contains("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "'sha256-")
          .doesNotContain("unsafe", "*", "data:", "http");
      assertThat(headers.firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(headers.firstValue("Referrer-Policy")).contains("no-referrer");
      assertThat(headers.firstValue("Cross-Origin-Resource-Policy")).contains("same-origin");
      assertThat(headers.firstValue("Cache-Control")).contains("no-store");
      assertThat(headers.firstValue("Access-Control-Allow-Origin")).isEmpty();
    }
  }

  @Test
  void whatIsUnchangedIsNotSentAgain() throws Exception {
    var page = get(served.url());
    var tag = page.headers().firstValue("ETag").orElseThrow();
    var again = get(served.url(), "If-None-Match", tag);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(get(served.url() + "?q=embed", "If-None-Match", tag).statusCode()).isEqualTo(200);
    var zipped = get(served.url(), "Accept-Encoding", "gzip, br");
    assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
    try (var gzip = new GZIPInputStream(new ByteArrayInputStream(zipped.body()))) {
      assertThat(gzip.readAllBytes()).isEqualTo(page.body());
    }
  }

  @Test
  void answersAreRememberedForSecondsAndNoLonger() {
    var now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    var clock =
        new Clock() {
          @Override
          public ZoneId getZone() {
            return ZoneOffset.UTC;
          }

          @Override
          public Clock withZone(ZoneId zone) {
            return this;
          }

          @Override
          public Instant instant() {
            return now.get();
          }
        };
    var asked = new AtomicInteger();
    var answer = new AtomicReference<>(Access.Answer.Allowed);
    var access =
        new RememberedAccess(
            token -> {
              asked.incrementAndGet();
              return answer.get();
            },
            clock);
    assertThat(access.of("a")).isEqualTo(Access.Answer.Allowed);
    answer.set(Access.Answer.Forbidden);
    assertThat(access.of("a")).isEqualTo(Access.Answer.Allowed);
    assertThat(access.of("b")).isEqualTo(Access.Answer.Forbidden);
    assertThat(asked.get()).isEqualTo(2);
    now.updateAndGet(t -> t.plus(RememberedAccess.KEPT));
    assertThat(access.of("a")).isEqualTo(Access.Answer.Forbidden);
    answer.set(Access.Answer.NoAnswer);
    now.updateAndGet(t -> t.plus(Duration.ofMinutes(1)));
    assertThat(access.of("a")).isEqualTo(Access.Answer.NoAnswer);
    answer.set(Access.Answer.Allowed);
    assertThat(access.of("a")).as("no answer is not remembered").isEqualTo(Access.Answer.Allowed);
    for (int i = 0; i < 2 * RememberedAccess.MOST; i++) {
      access.of("many-" + i);
    }
    int before = asked.get();
    access.of("a");
    assertThat(asked.get()).as("the oldest are forgotten").isEqualTo(before + 1);
  }

  /** Accepts any certificate: what is tested is who is let in by the server. */
  private static final class TrustsAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
