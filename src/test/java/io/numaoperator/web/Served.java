package io.numaoperator.web;

import io.numaoperator.scheduler.tls.Certificates;
import io.numaoperator.web.PageServer.Ports;
import io.numaoperator.web.PageServer.Tls;
import io.vertx.core.Vertx;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The page of a pretended cluster, served on free ports. */
record Served(Vertx vertx, PageServer server) implements AutoCloseable {
  static Served of(ClusterSource cluster, Access access) {
    var vertx = Vertx.vertx();
    return new Served(vertx, new PageServer(vertx, new Ports(0, 0), tls(), cluster, access));
  }

  private static Tls tls() {
    try {
      var now = Instant.now();
      var day = Duration.ofDays(1);
      var authority = Certificates.authority("page", now, day);
      var own =
          Certificates.issue(
              authority, Certificates.Use.SERVER, "page", List.of("localhost"), now, day);
      return new Tls(own.certificate() + authority.certificate(), own.key());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  String url() {
    return "http://localhost:" + server.loopbackPort() + "/";
  }

  String othersUrl() {
    return "https://localhost:" + server.port() + "/";
  }

  @Override
  public void close() {
    server.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
