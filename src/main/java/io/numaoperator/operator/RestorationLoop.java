package io.numaoperator.operator;

import io.numaoperator.api.NumaPolicy;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * Works on policies that are being deleted, one after the other. JOSDK hands such an object only to
 * a Cleaner, and a Cleaner puts a finalizer on every policy, also on those whose deletion must
 * never wait for an operator.
 */
@ApplicationScoped
class RestorationLoop {
  private static final Logger LOG = Logger.getLogger(RestorationLoop.class);

  /** What waits for a time is looked at again, and so is what failed. */
  private static final long AGAIN_SECONDS = 5;

  private final ClusterCache cache;
  private final Restoration restoration;
  private final DrainedNodes drained;
  private final Semaphore wake = new Semaphore(0);
  private final Thread thread = Thread.ofVirtual().name("restoration").unstarted(this::run);

  @Inject
  RestorationLoop(ClusterCache cache, Restoration restoration, DrainedNodes drained) {
    this.cache = cache;
    this.restoration = restoration;
    this.drained = drained;
  }

  /** Called once, when this replica begins to lead; one that no longer leads ends. */
  void start() {
    cache.policies().onChange((old, policy) -> true, policy -> wake.release());
    cache.states().onChange((old, state) -> true, state -> wake.release());
    cache.nodes().onChange(Nodes::differ, node -> wake.release());
    drained.onChange(wake::release);
    thread.start();
  }

  @PreDestroy
  void stop() {
    thread.interrupt();
  }

  private void run() {
    try {
      while (true) {
        cache.policies().list().filter(RestorationLoop::isDeleted).forEach(this::proceed);
        if (wake.tryAcquire(AGAIN_SECONDS, TimeUnit.SECONDS)) {
          wake.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean isDeleted(NumaPolicy policy) {
    return policy.getMetadata().getDeletionTimestamp() != null;
  }

  /** A write that was refused was decided on an old view: decided again at the next look. */
  private void proceed(NumaPolicy policy) {
    try {
      restoration.proceed(policy);
    } catch (RuntimeException e) {
      LOG.warnf(
          "restoring the nodes of policy %s: %s", policy.getMetadata().getName(), e.getMessage());
    }
  }
}
