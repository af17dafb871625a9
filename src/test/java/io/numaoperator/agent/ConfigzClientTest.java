package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.numaoperator.agent.KubeletApi.Configz;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Over real TLS, to a server that stands for the kubelet and signed its own certificate. */
class ConfigzClientTest {
  private static final String CERTIFICATE = "/var/lib/kubelet/pki/kubelet.crt";

  @TempDir static Path keys; // making keys takes seconds

  @TempDir Path root;
  private final LastSeen seen = new LastSeen();
  private HttpsServer server;
  private int answer = 200;

  @BeforeAll
  static void certificates() throws Exception {
    certificate("kubelet");
    certificate("other");
  }

  @BeforeEach
  void start() throws Exception {
    Files.createDirectories(root.resolve("var/lib/kubelet/pki"));
    Files.copy(keys.resolve("kubelet.pem"), root.resolve(CERTIFICATE.substring(1)));
    var password = "changeit".toCharArray();
    var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(KeyStore.getInstance(keys.resolve("kubelet.p12").toFile(), password), password);
    var context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/configz",
        exchange -> {
          try (exchange) {
            var token = exchange.getRequestHeaders().getFirst("Authorization");
            exchange.sendResponseHeaders("Bearer secret".equals(token) ? answer : 401, 0);
            exchange
                .getResponseBody()
                .write("{\"kubeletconfig\":{\"maxPods\":110}}".getBytes(UTF_8));
          }
        });
    server.start();
    var port = server.getAddress().getPort();
    seen.node(
        new NodeView(
            "uid-1",
            "v1.36.3",
            Optional.of("127.0.0.1"),
            port,
            false,
            Optional.empty(),
            Optional.empty(),
            Instant.EPOCH,
            "",
            Set.of()));
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void readsTheConfiguration() {
    assertThat(configz("secret"))
        .isInstanceOfSatisfying(
            Configz.Live.class,
            live -> assertThat(live.config().path("maxPods").asInt()).isEqualTo(110));
  }

  @Test
  void aRefusalSaysNothingAboutTheKubelet() {
    assertThat(configz("stale")).isInstanceOf(Configz.Denied.class);
    answer = 500;
    assertThat(configz("secret")).isInstanceOf(Configz.Denied.class);
  }

  @Test
  void noServerNoAnswer() {
    server.stop(0);
    assertThat(configz("secret")).isInstanceOf(Configz.Unreachable.class);
  }

  @Test
  void anotherCertificateIsNotTrusted() throws Exception {
    Files.delete(root.resolve(CERTIFICATE.substring(1)));
    Files.copy(keys.resolve("other.pem"), root.resolve(CERTIFICATE.substring(1)));
    untrusted();
  }

  @Test
  void withoutACertificateOnTheDiskNobodyIsTrusted() throws Exception {
    Files.delete(root.resolve(CERTIFICATE.substring(1)));
    untrusted();
  }

  private void untrusted() {
    assertThat(configz("secret"))
        .isInstanceOfSatisfying(
            Configz.Unreachable.class,
            unreachable -> assertThat(unreachable.why()).contains(CERTIFICATE));
  }

  @Test
  void anUnreadableTokenIsTold() {
    var client =
        new ConfigzClient(
            seen,
            pinned(),
            () -> {
              throw new UncheckedIOException(new IOException("no token"));
            });
    assertThat(client.configz())
        .isInstanceOfSatisfying(
            Configz.Denied.class, denied -> assertThat(denied.why()).contains("no token"));
  }

  private Configz configz(String token) {
    return new ConfigzClient(seen, pinned(), () -> token).configz();
  }

  private PinnedCertificate pinned() {
    return new PinnedCertificate(
        new LocalHost(root, Path.of("/proc")), () -> List.of("/none.pem", CERTIFICATE));
  }

  /** A self-signed certificate, as NAME.p12 with its key and as NAME.pem. */
  private static void certificate(String name) throws Exception {
    var file = keys.resolve(name + ".p12").toString();
    keytool(
        "-genkeypair", "-alias", name, "-keyalg", "EC", "-dname", "CN=" + name, "-keystore", file);
    var pem = keys.resolve(name + ".pem").toString();
    keytool("-exportcert", "-rfc", "-alias", name, "-keystore", file, "-file", pem);
  }

  private static void keytool(String... arguments) throws Exception {
    var command = new java.util.ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(List.of("-storepass", "changeit"));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
  }
}
