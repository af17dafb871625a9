package io.numaoperator.agent;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Asks the kubelet for its configuration, as the agent's ServiceAccount (nodes/configz). */
final class ConfigzClient implements KubeletApi {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final HttpClient http;
  private final ObjectMapper mapper = new ObjectMapper();
  private final LastSeen seen;
  private final Supplier<String> token;

  /**
   * @param token the ServiceAccount's; asked at each call, since it is rotated
   */
  ConfigzClient(LastSeen seen, PinnedCertificate pinned, Supplier<String> token) {
    this.seen = seen;
    this.token = token;
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .sslContext(context(pinned))
            .build();
  }

  private static SSLContext context(PinnedCertificate pinned) {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {pinned}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }

  @Override
  public Configz configz() {
    var address = seen.address();
    var uri =
        URI.create(
            "https://%s:%d/configz"
                .formatted(address.contains(":") ? "[" + address + "]" : address, seen.port()));
    try {
      var request =
          HttpRequest.newBuilder(uri)
              .timeout(TIMEOUT)
              .header("Authorization", "Bearer " + token.get())
              .build();
      var answer = http.send(request, BodyHandlers.ofByteArray());
      if (answer.statusCode() != 200) {
        return new Configz.Denied(uri + " answers HTTP " + answer.statusCode());
      }
      return new Configz.Live(mapper.readTree(answer.body()).path("kubeletconfig"));
    } catch (UncheckedIOException e) {
      return new Configz.Denied("the ServiceAccount token cannot be read: " + Errors.text(e));
    } catch (IOException e) {
      return new Configz.Unreachable(uri + ": " + Errors.text(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Configz.Unreachable(uri + ": interrupted");
    }
  }
}
