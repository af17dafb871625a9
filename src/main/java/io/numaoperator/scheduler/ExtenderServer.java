package io.numaoperator.scheduler;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jboss.logging.Logger;

/**
 * The extender over HTTPS, with the JDK's server. Whoever asks must show a certificate of our
 * authority: a caller can have pods bound.
 */
final class ExtenderServer implements AutoCloseable {
  static final String PREFIX = "/scheduler";
  private static final Logger LOG = Logger.getLogger(ExtenderServer.class);

  /** Pods are below 1.5 MiB (etcd's limit); 5,000 names of nodes below 1.3 MiB. */
  private static final int MAX_REQUEST = 4 << 20;

  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int TOO_LARGE = 413;
  private static final int FAILED = 500;
  private static final int NOT_READY = 503;
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final HttpsServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final KubernetesSerialization json;
  private final ReadyCheck ready;

  /** Whether there is anything to answer from. */
  interface ReadyCheck {
    boolean ready();
  }

  /** Opens the port; 0 takes any. */
  ExtenderServer(
      InetSocketAddress address,
      SSLContext tls,
      Extender extender,
      KubernetesSerialization json,
      ReadyCheck ready,
      Consumer<String> asked)
      throws IOException {
    this.json = json;
    this.ready = ready;
    server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(tls) {
          @Override
          public void configure(HttpsParameters parameters) {
            var wanted = getSSLContext().getDefaultSSLParameters();
            wanted.setNeedClientAuth(true);
            wanted.setProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
            parameters.setSSLParameters(wanted);
          }
        });
    server.setExecutor(threads);
    serve("filter", Wire.ExtenderArgs.class, extender::filter, asked);
    serve("prioritize", Wire.ExtenderArgs.class, extender::prioritize, asked);
    serve("preempt", Wire.ExtenderPreemptionArgs.class, extender::preempt, asked);
    serve("bind", Wire.ExtenderBindingArgs.class, extender::bind, asked);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private <T> void serve(
      String verb, Class<T> type, Function<T, Object> answer, Consumer<String> asked) {
    server.createContext(
        PREFIX + "/" + verb,
        exchange -> {
          try (exchange) {
            if (!exchange.getRequestURI().getPath().equals(PREFIX + "/" + verb)) {
              refuse(exchange, NOT_FOUND);
            } else if (!exchange.getRequestMethod().equals("POST")) {
              refuse(exchange, METHOD_NOT_ALLOWED);
            } else if (!ready.ready()) {
              // kube-scheduler holds the pod back, and tries again
              refuse(exchange, NOT_READY);
            } else {
              asked.accept(verb);
              answer(exchange, type, answer);
            }
          }
        });
  }

  private <T> void answer(HttpExchange exchange, Class<T> type, Function<T, Object> answer)
      throws IOException {
    byte[] body = exchange.getRequestBody().readNBytes(MAX_REQUEST + 1);
    if (body.length > MAX_REQUEST) {
      refuse(exchange, TOO_LARGE);
      return;
    }
    T question;
    try {
      question = json.unmarshal(new ByteArrayInputStream(body), type);
    } catch (RuntimeException malformed) {
      LOG.warnf(malformed, "%s: the question cannot be read", exchange.getRequestURI());
      refuse(exchange, BAD_REQUEST);
      return;
    }
    byte[] text;
    try {
      text = json.asJson(answer.apply(question)).getBytes(StandardCharsets.UTF_8);
    } catch (RuntimeException failed) {
      LOG.warnf(failed, "no answer to %s", exchange.getRequestURI());
      refuse(exchange, FAILED);
      return;
    }
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(OK, text.length);
    exchange.getResponseBody().write(text);
  }

  private static void refuse(HttpExchange exchange, int status) throws IOException {
    exchange.sendResponseHeaders(status, -1);
  }

  @Override
  public void close() {
    server.stop((int) GRACE.toSeconds());
    threads.close();
  }
}
