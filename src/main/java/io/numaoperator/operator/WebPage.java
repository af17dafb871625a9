package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.scheduler.tls.Certificates;
import io.numaoperator.web.ApiServerAccess;
import io.numaoperator.web.ClusterSource;
import io.numaoperator.web.PageServer;
import io.numaoperator.web.PageServer.Ports;
import io.numaoperator.web.PageServer.Tls;
import io.quarkus.runtime.StartupEvent;
import io.vertx.core.Vertx;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * The page, served from what this replica has read, whether it leads or not. That it cannot be
 * served is logged, and holds nothing else up.
 */
@ApplicationScoped
class WebPage {
  private static final Logger LOG = Logger.getLogger(WebPage.class);
  private static final Duration VALIDITY = Duration.ofDays(3650);

  private final Vertx vertx;
  private final KubernetesClient client;
  private final ClusterCache cache;
  private final OperatorSettings settings;
  private Optional<PageServer> server = Optional.empty();

  @Inject
  WebPage(Vertx vertx, KubernetesClient client, ClusterCache cache, OperatorSettings settings) {
    this.vertx = vertx;
    this.client = client;
    this.cache = cache;
    this.settings = settings;
  }

  void start(@Observes StartupEvent event) {
    var page = settings.page();
    if (!page.enabled()) {
      return;
    }
    try {
      server =
          Optional.of(
              new PageServer(
                  vertx,
                  new Ports(page.loopbackPort(), page.port()),
                  tls(),
                  new Cached(cache),
                  new ApiServerAccess(client)));
    } catch (IOException | GeneralSecurityException | RuntimeException failed) {
      LOG.warn("the page cannot be served", failed);
    }
  }

  /** The owner's, or one that nobody can check: it keeps tokens from those who listen. */
  private Tls tls() throws IOException, GeneralSecurityException {
    var directory = settings.page().certificateDirectory();
    var certificate = directory.resolve("tls.crt");
    if (Files.exists(certificate)) {
      return new Tls(Files.readString(certificate), Files.readString(directory.resolve("tls.key")));
    }
    var now = Instant.now();
    var authority = Certificates.authority("numa-operator-page", now, VALIDITY);
    var own =
        Certificates.issue(
            authority,
            Certificates.Use.SERVER,
            "numa-operator-page",
            List.of("numa-operator-page." + settings.namespace() + ".svc"),
            now,
            VALIDITY);
    return new Tls(own.certificate() + authority.certificate(), own.key());
  }

  /** The cache, as the page needs it. */
  private record Cached(ClusterCache cache) implements ClusterSource {
    @Override
    public List<NumaPolicy> policies() {
      return cache.policies().list().toList();
    }

    @Override
    public List<NumaNodeState> states() {
      return cache.states().list().toList();
    }

    @Override
    public List<NodeResourceTopology> topologies() {
      return cache.topologies().list().toList();
    }
  }

  @PreDestroy
  void stop() {
    server.ifPresent(PageServer::close);
  }
}
