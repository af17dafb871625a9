package io.numaoperator.web;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.jboss.logging.Logger;

/**
 * Serves the page on two ports. One is on the pod's loopback, for kubectl port-forward; one is
 * reached by others, with TLS, and wants a bearer token. Both only answer GET and HEAD.
 */
public final class PageServer implements AutoCloseable {
  private static final Logger LOG = Logger.getLogger(PageServer.class);
  private static final int IDLE_SECONDS = 60;
  private static final int THREADS = 2;
  private static final int LONGEST_LINE = 4096;
  private static final int LONGEST_HEADERS = 32 << 10;
  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final Pattern GZIP = Pattern.compile("(^|[ ,])gzip($|[ ,])");
  private static final int UNAUTHENTICATED = 401;
  private static final int FAILED = 500;

  private static final Map<String, String> HEADERS =
      Map.of(
          "X-Content-Type-Options", "nosniff",
          "X-Frame-Options", "DENY",
          "Referrer-Policy", "no-referrer",
          "Cross-Origin-Opener-Policy", "same-origin",
          "Cross-Origin-Resource-Policy", "same-origin",
          "Cache-Control", "no-store");

  private final Pages pages;
  private final String policy;
  private final WorkerExecutor worker;
  private final HttpServer loopback;
  private final HttpServer others;

  /**
   * Where it listens.
   *
   * @param loopbackPort on 127.0.0.1, 0 for any
   * @param port on all addresses, 0 for any
   */
  public record Ports(int loopbackPort, int port) {}

  /**
   * What it shows on the port with TLS, as PEM.
   *
   * @param certificates its own, then those that sign it
   */
  public record Tls(String certificates, String key) {}

  /** Opens both ports; fails when one cannot be opened. */
  public PageServer(Vertx vertx, Ports ports, Tls tls, ClusterSource cluster, Access access) {
    pages = new Pages(cluster);
    policy = pages.contentSecurityPolicy();
    worker = vertx.createSharedWorkerExecutor("page", THREADS);
    var gate = new Gate.BearerToken(new RememberedAccess(access, Clock.systemUTC()));
    loopback =
        vertx
            .createHttpServer(options().setHost("127.0.0.1").setPort(ports.loopbackPort()))
            .requestHandler(handler(new Gate.Loopback()));
    others =
        vertx
            .createHttpServer(
                options()
                    .setHost("0.0.0.0")
                    .setPort(ports.port())
                    .setSsl(true)
                    .setKeyCertOptions(
                        new PemKeyCertOptions()
                            .addCertValue(Buffer.buffer(tls.certificates()))
                            .addKeyValue(Buffer.buffer(tls.key()))))
            .requestHandler(handler(gate));
    try {
      for (var server : List.of(loopback, others)) {
        server.listen().toCompletionStage().toCompletableFuture().get(1, TimeUnit.MINUTES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new IllegalStateException(e);
    } catch (ExecutionException | TimeoutException failed) {
      close();
      throw new IllegalStateException("the page's ports cannot be opened", failed);
    }
  }

  private static HttpServerOptions options() {
    return new HttpServerOptions()
        .setIdleTimeout(IDLE_SECONDS)
        .setMaxInitialLineLength(LONGEST_LINE)
        .setMaxHeaderSize(LONGEST_HEADERS);
  }

  int loopbackPort() {
    return loopback.actualPort();
  }

  int port() {
    return others.actualPort();
  }

  private Handler<HttpServerRequest> handler(Gate gate) {
    // asking the API server and making the page both take their time
    return request ->
        worker
            .executeBlocking(() -> reply(gate, request), false)
            .onComplete(
                done -> {
                  if (done.failed()) {
                    LOG.warn("no answer to a request for the page", done.cause());
                  }
                  var reply =
                      done.succeeded()
                          ? done.result()
                          : Reply.text(FAILED, "The page could not be made.");
                  send(request, reply);
                });
  }

  /** What is answered; by header names. */
  private record Reply(int status, Map<String, String> headers, byte[] body) {
    static Reply text(int status, String message) {
      return new Reply(
          status,
          Map.of("Content-Type", "text/plain; charset=utf-8"),
          (message + "\n").getBytes(StandardCharsets.UTF_8));
    }

    Reply with(String name, String value) {
      var more = new TreeMap<>(headers);
      more.put(name, value);
      return new Reply(status, more, body);
    }

    /** Here and not by Vert.x, which would load a library with native code for Brotli. */
    Reply gzipped() {
      var bytes = new ByteArrayOutputStream();
      try (var gzip = new GZIPOutputStream(bytes)) {
        gzip.write(body);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return new Reply(status, headers, bytes.toByteArray())
          .with("Content-Encoding", "gzip")
          .with("Vary", "Accept-Encoding");
    }
  }

  private Reply reply(Gate gate, HttpServerRequest request) {
    var refusal = gate.check(request);
    if (refusal.isPresent()) {
      var reply = Reply.text(refusal.get().status(), refusal.get().message());
      return reply.status() == UNAUTHENTICATED
          ? reply.with("WWW-Authenticate", "Bearer realm=\"numa-operator\"")
          : reply;
    }
    if (request.method() != HttpMethod.GET && request.method() != HttpMethod.HEAD) {
      return Reply.text(METHOD_NOT_ALLOWED, "This page only tells.").with("Allow", "GET, HEAD");
    }
    return switch (request.path()) {
      case "/" -> page(request);
      case "/icon.svg" ->
          new Reply(
              OK,
              Map.of("Content-Type", "image/svg+xml"),
              Pages.icon().getBytes(StandardCharsets.UTF_8));
      default -> Reply.text(NOT_FOUND, "There is one page: /");
    };
  }

  private Reply page(HttpServerRequest request) {
    var page = pages.answer(question(request));
    var headers = Map.of("Content-Type", "text/html; charset=utf-8", "ETag", page.tag());
    if (page.tag().equals(request.getHeader("If-None-Match"))) {
      return new Reply(NOT_MODIFIED, headers, new byte[0]);
    }
    var reply = new Reply(page.found() ? OK : NOT_FOUND, headers, page.html());
    return acceptsGzip(request) ? reply.gzipped() : reply;
  }

  private static Question question(HttpServerRequest request) {
    try {
      return Question.of(name -> Optional.ofNullable(request.getParam(name)));
    } catch (IllegalArgumentException notDecodable) {
      return Question.EVERYTHING;
    }
  }

  private static boolean acceptsGzip(HttpServerRequest request) {
    var accepted = request.getHeader("Accept-Encoding");
    return accepted != null && GZIP.matcher(accepted).find();
  }

  private void send(HttpServerRequest request, Reply reply) {
    var response = request.response();
    if (response.closed()) {
      return;
    }
    HEADERS.forEach(response::putHeader);
    response.putHeader("Content-Security-Policy", policy);
    reply.headers().forEach(response::putHeader);
    response.setStatusCode(reply.status());
    if (request.method() == HttpMethod.HEAD || reply.body().length == 0) {
      response.end();
    } else {
      response.end(Buffer.buffer(reply.body()));
    }
  }

  @Override
  public void close() {
    loopback.close();
    others.close();
    worker.close();
  }
}
