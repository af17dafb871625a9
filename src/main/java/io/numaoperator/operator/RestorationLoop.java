package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.rollout.NodeProgress.Cordon;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * Works on policies that are being deleted, one after the other. JOSDK hands such an object only to
 * a Cleaner, and a Cleaner puts a finalizer on every policy, also on those whose deletion must
 * never wait for an operator. It also finds what a policy that is gone has left cordoned.
 */
@ApplicationScoped
class RestorationLoop {
  private static final Logger LOG = Logger.getLogger(RestorationLoop.class);

  /** What waits for a time is looked at again, and so is what failed. */
  private static final long AGAIN_SECONDS = 5;

  /** Between two looks: each goes through all nodes, and thousands may change at once. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final ClusterCache cache;
  private final Writer writer;
  private final Restoration restoration;
  private final DrainedNodes drained;
  private final Semaphore wake = new Semaphore(0);
  private final Thread thread = Thread.ofVirtual().name("restoration").unstarted(this::run);

  @Inject
  RestorationLoop(
      ClusterCache cache, Writer writer, Restoration restoration, DrainedNodes drained) {
    this.cache = cache;
    this.writer = writer;
    this.restoration = restoration;
    this.drained = drained;
  }

  /** Called once, when this replica begins to lead; one that no longer leads ends. */
  void start() {
    cache.policies().onChange((old, policy) -> true, policy -> wake.release());
    cache.states().onChange((old, state) -> true, state -> wake.release());
    cache.nodes().onChange(Nodes::differ, node -> wake.release());
    cache.proofPods().onChange(ProofPass::differ, pod -> wake.release());
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
        var live = cache.livePolicies();
        orphans(
                cache.nodes().list(),
                name -> cache.states().get(name).isPresent(),
                node -> live.stream().anyMatch(policy -> Nodes.isSelected(policy, node)))
            .forEach(this::uncordon);
        if (wake.tryAcquire(AGAIN_SECONDS, TimeUnit.SECONDS)) {
          Thread.sleep(PAUSE);
          wake.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Nodes that we took out of service and that nobody would put back: a cordon that was written
   * while its policy went away, or whose state somebody deleted. One that a policy selects is that
   * policy's in a moment.
   */
  static List<Node> orphans(
      Stream<Node> nodes, Predicate<String> hasState, Predicate<Node> isSelected) {
    return nodes
        .filter(node -> Nodes.cordon(node) instanceof Cordon.Ours)
        .filter(node -> !hasState.test(node.getMetadata().getName()))
        .filter(node -> !isSelected.test(node))
        .toList();
  }

  private void uncordon(Node node) {
    var name = node.getMetadata().getName();
    try {
      LOG.infof("node %s was cordoned for a policy that does not have it: uncordoned", name);
      writer.uncordon(node, Optional.empty());
    } catch (KubernetesClientException e) {
      LOG.warnf("uncordoning node %s: %s", name, e.getMessage());
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
