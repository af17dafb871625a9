package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.lab.Lab;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The lab's kube-scheduler as a process of this machine, with the configuration that the operator
 * made, or the same without its extender. Either may ask the API server 1,000 times a second: at
 * the default of 50 it would measure that.
 */
final class KubeScheduler implements AutoCloseable {
  static final String WITHOUT_EXTENDER = "without-extender";
  static final String WITH_EXTENDER = "numa-scheduler";
  private static final String NAMESPACE = "/api/v1/namespaces/numa-operator-system";
  private static final Pattern BUCKET =
      Pattern.compile(
          "scheduler_scheduling_algorithm_duration_seconds_bucket\\{le=\"([^\"]+)\"} (\\d+)");

  private final Process process;
  private final URI metrics;

  private KubeScheduler(Process process, int port) {
    this.process = process;
    metrics = URI.create("https://127.0.0.1:" + port + "/metrics");
  }

  /**
   * @param directory for its configuration and log
   * @param extenderPort where the operator answers; 0 for one that asks nobody
   */
  static KubeScheduler start(BenchCluster cluster, Path directory, int extenderPort)
      throws IOException {
    var rendered = "";
    for (JsonNode text :
        cluster.api().get(NAMESPACE + "/configmaps/" + BuiltInScheduler.DEPLOYMENT).path("data")) {
      rendered = text.asText();
    }
    return start(
        cluster.lab(),
        directory,
        extenderPort == 0
            ? rendered
                .replaceAll("(?s)extenders:.*", "")
                .replace("\"" + WITH_EXTENDER + "\"", "\"" + WITHOUT_EXTENDER + "\"")
            : rendered
                .replace(
                    "https://%s:%d"
                        .formatted(
                            BuiltInScheduler.host("numa-operator-system"), BuiltInScheduler.PORT),
                    "https://127.0.0.1:" + extenderPort)
                .replace("/etc/numa-extender", certificates(cluster, directory).toString()));
  }

  private static Path certificates(BenchCluster cluster, Path directory) throws IOException {
    var files = Files.createDirectories(directory.resolve("numa-extender").toAbsolutePath());
    var secret =
        cluster.api().get(NAMESPACE + "/secrets/" + BuiltInScheduler.CLIENT_SECRET).path("data");
    for (var entry : secret.properties()) {
      Files.write(
          files.resolve(entry.getKey()), Base64.getDecoder().decode(entry.getValue().asText()));
    }
    return files;
  }

  private static KubeScheduler start(Lab lab, Path directory, String rendered) throws IOException {
    var config = directory.resolve("scheduler.yaml").toAbsolutePath();
    Files.writeString(
        config,
        rendered.replace("leaderElect: true", "leaderElect: false")
            + "clientConnection: {kubeconfig: %s, qps: 1000, burst: 2000}\n"
                .formatted(lab.file("kubeconfig")));
    int port;
    try (var socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    return new KubeScheduler(
        new ProcessBuilder(
                Path.of(System.getProperty("lab.bin"), "kube-scheduler").toString(),
                "--config=" + config,
                "--secure-port=" + port,
                "--bind-address=127.0.0.1",
                "--cert-dir=" + directory.toAbsolutePath(),
                "--authorization-always-allow-paths=/metrics")
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("scheduler.log").toFile())
            .start(),
        port);
  }

  Usage usage() {
    return Usage.of(process.pid());
  }

  /**
   * The bound of the bucket that 99 % of its scheduling cycles are in, in seconds: the filters and
   * scores of one pod, not its binding.
   */
  double cycleP99() throws IOException, InterruptedException {
    var buckets = new TreeMap<Double, Long>();
    try (var http = HttpClient.newBuilder().sslContext(anyCertificate()).build()) {
      var text =
          http.send(
                  HttpRequest.newBuilder(metrics).timeout(Duration.ofSeconds(20)).build(),
                  BodyHandlers.ofString())
              .body();
      var found = BUCKET.matcher(text);
      while (found.find()) {
        var bound =
            found.group(1).equals("+Inf") ? Double.MAX_VALUE : Double.parseDouble(found.group(1));
        buckets.put(bound, Long.parseLong(found.group(2)));
      }
    }
    if (buckets.isEmpty()) {
      return Double.NaN;
    }
    long all = buckets.lastEntry().getValue();
    return buckets.entrySet().stream()
        .filter(bucket -> bucket.getValue() >= 0.99 * all)
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  /** It signs its own certificate at each start, and is on this machine. */
  private static SSLContext anyCertificate() {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new TrustAll()}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class TrustAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
