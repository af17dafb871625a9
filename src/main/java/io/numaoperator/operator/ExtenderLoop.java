package io.numaoperator.operator;

import io.quarkus.runtime.StartupEvent;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Keeps this replica's extender as the policies want it, whether the replica leads or not. Only the
 * leader tells of a failure in a condition; the others log it and try again.
 */
@ApplicationScoped
class ExtenderLoop {
  private static final Logger LOG = Logger.getLogger(ExtenderLoop.class);
  private static final long MINUTES = 10;

  private final ClusterCache cache;
  private final Parts parts;
  private final ScheduledExecutorService worker =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofVirtual().name("extender-loop").factory());

  @Inject
  ExtenderLoop(ClusterCache cache, Parts parts) {
    this.cache = cache;
    this.parts = parts;
  }

  void start(@Observes StartupEvent event) {
    cache.policies().onChange(PolicyReconciler::specsDiffer, policy -> worker.execute(this::serve));
    // certificates expire, and what failed may not fail again
    var unused = worker.scheduleWithFixedDelay(this::serve, 0, MINUTES, TimeUnit.MINUTES);
  }

  private void serve() {
    try {
      parts.serveExtender();
    } catch (RuntimeException failed) {
      // an exception would end the loop
      LOG.warn("the extender could not be set up", failed);
    }
  }

  @PreDestroy
  void stop() {
    worker.shutdownNow();
  }
}
