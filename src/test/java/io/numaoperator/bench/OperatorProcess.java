package io.numaoperator.bench;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The operator of target/dist as a process of this machine, with the ServiceAccount and the memory
 * that config/manager gives it.
 */
final class OperatorProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final long POLL_MILLIS = 50;

  /** The container's limit in config/manager; the JVM takes its share of it as heap. */
  private static final String LIMIT = "512m";

  private final Process process;
  private final URI health;
  private final int extenderPort;
  private final Duration startToReady;

  private OperatorProcess(Process process, int healthPort, int extenderPort)
      throws IOException, InterruptedException {
    this.process = process;
    this.extenderPort = extenderPort;
    health = URI.create("http://127.0.0.1:" + healthPort + "/q/health/ready");
    long began = System.nanoTime();
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() - began > PATIENCE.toNanos()) {
        process.destroyForcibly();
        throw new IllegalStateException("the operator does not get ready; see its log");
      }
      Thread.sleep(POLL_MILLIS);
    }
    startToReady = Duration.ofNanos(System.nanoTime() - began);
  }

  /**
   * Returns when it is ready.
   *
   * @param kubeconfig of its ServiceAccount
   * @param log what it says is added to this file
   * @param options of the JVM, beside its own
   */
  static OperatorProcess start(Path kubeconfig, Path log, String options)
      throws IOException, InterruptedException {
    int healthPort = freePort();
    int extenderPort = freePort();
    var builder =
        new ProcessBuilder(
            Path.of("target/dist/bin/numa-operator").toAbsolutePath().toString(), "operator");
    var environment = new HashMap<String, String>();
    environment.put("KUBECONFIG", kubeconfig.toString());
    environment.put("NAMESPACE", "numa-operator-system");
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("JDK_JAVA_OPTIONS", ("-XX:MaxRAM=" + LIMIT + " " + options).strip());
    environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
    environment.put("QUARKUS_HTTP_PORT", String.valueOf(healthPort));
    environment.put("NUMA_OPERATOR_EXTENDER_PORT", String.valueOf(extenderPort));
    environment.put("NUMA_OPERATOR_PAGE_PORT", String.valueOf(freePort()));
    environment.put("NUMA_OPERATOR_PAGE_LOOPBACK_PORT", String.valueOf(freePort()));
    builder.environment().putAll(Map.copyOf(environment));
    builder.redirectErrorStream(true);
    Files.createDirectories(log.getParent());
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    return new OperatorProcess(builder.start(), healthPort, extenderPort);
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private boolean isReady() throws InterruptedException {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    }
  }

  Duration startToReady() {
    return startToReady;
  }

  int extenderPort() {
    return extenderPort;
  }

  long pid() {
    return process.pid();
  }

  Usage usage() {
    return Usage.of(process.pid());
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
