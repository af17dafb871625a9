package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.numaoperator.api.ListPage;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.explain.Loop;
import io.numaoperator.operator.RejectionLedger.Rejected;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/**
 * The pods that kubelets of our nodes rejected. Only failed pods are watched, and of each only what
 * its rejection says is kept: a loop leaves thousands of them.
 */
@ApplicationScoped
class RejectedPods {
  private static final Logger LOG = Logger.getLogger(RejectedPods.class);
  private static final long LOOK_MILLIS = 500;

  /** That a loop is over is told by the clock alone. */
  private static final Duration AGAIN = Duration.ofSeconds(10);

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final RejectionStory story;
  private final FailedPodCleanup cleanup;
  private final RejectionLedger ledger = new RejectionLedger();
  private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService worker =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofVirtual().name("rejected-pods").factory());
  private volatile Optional<SharedIndexInformer<Pod>> informer = Optional.empty();
  private volatile Optional<List<ExplainedLoop>> loops = Optional.empty();
  private Instant nextLook = Instant.MIN;

  @Inject
  RejectedPods(
      KubernetesClient client, ClusterCache cache, RejectionStory story, FailedPodCleanup cleanup) {
    this.client = client;
    this.cache = cache;
    this.story = story;
    this.cleanup = cleanup;
  }

  /** Called once, when this replica begins to lead; one that no longer leads ends. */
  void start() {
    story.begin(Instant.now());
    informer =
        Optional.of(
            client
                .pods()
                .inAnyNamespace()
                .withField("status.phase", "Failed")
                .withLimit(ListPage.SIZE)
                .runnableInformer(0)
                .removeNamespaceIndex()
                .itemStore(
                    new ReducedStateItemStore<>(
                        ReducedStateItemStore.UID_KEY_STATE,
                        Pod.class,
                        client.getKubernetesSerialization(),
                        "metadata.namespace",
                        "metadata.name"))
                .addEventHandler(new Handler()));
    var unusedStart = informer.get().start();
    var unusedLook =
        worker.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  @PreDestroy
  void stop() {
    worker.shutdownNow();
    informer.ifPresent(SharedIndexInformer::stop);
  }

  /** Called when the loops are others, or their causes. */
  void onChange(Runnable action) {
    listeners.add(action);
  }

  /** The loops on these nodes; empty before the first look. */
  Optional<List<ExplainedLoop>> loopsOn(Set<String> nodes) {
    return loops.map(
        all ->
            all.stream().filter(e -> e.loop().nodes().stream().anyMatch(nodes::contains)).toList());
  }

  private final class Handler implements ResourceEventHandler<Pod> {
    @Override
    public void onAdd(Pod pod) {
      ledger.tell(pod, true);
    }

    @Override
    public void onUpdate(Pod old, Pod pod) {
      ledger.tell(pod, false);
    }

    /** Of a pod that is gone the store has no more than its uid. */
    @Override
    public void onDelete(Pod pod, boolean stateUnknown) {
      ledger.tellGone(pod.getMetadata().getUid());
    }
  }

  private void look() {
    if (!informer.map(SharedIndexInformer::hasSynced).orElse(false)) {
      return;
    }
    try {
      look(Instant.now());
    } catch (RuntimeException failed) {
      // an exception would end the worker; the next look is made of the same pods
      LOG.warn("rejected pods could not be looked at", failed);
    }
  }

  private void look(Instant now) {
    var fresh = ledger.takeIn(node -> cache.states().get(node).isPresent());
    if (fresh.isEmpty() && now.isBefore(nextLook)) {
      return;
    }
    nextLook = now.plus(AGAIN);
    ledger.forget(now);
    var pods = ledger.pods();
    var known = loops.orElse(List.of());
    var next =
        Loop.among(
                pods.stream().map(Rejected::rejection).toList(),
                known.stream().map(ExplainedLoop::loop).toList(),
                now)
            .stream()
            .map(loop -> explained(loop, known))
            .toList();
    var looping = next.stream().map(e -> e.loop().name()).toList();
    fresh.forEach(r -> story.rejected(r, looping.contains(r.subject()), worker));
    var isNews = loops.isEmpty() || !told(next).equals(told(known));
    loops = Optional.of(next);
    if (isNews) {
      listeners.forEach(Runnable::run);
    }
    cleanup.clean(pods);
  }

  /** A loop is explained, and told, again when there is something new to say of it. */
  private ExplainedLoop explained(Loop loop, List<ExplainedLoop> known) {
    var before = known.stream().filter(k -> k.loop().name().equals(loop.name())).findFirst();
    return before
        .filter(b -> told(b.loop()).equals(told(loop)))
        .map(b -> new ExplainedLoop(loop, b.cause()))
        .orElseGet(() -> story.looping(loop));
  }

  private static List<String> told(List<ExplainedLoop> loops) {
    return loops.stream().map(e -> told(e.loop()) + e.cause()).toList();
  }

  private static String told(Loop loop) {
    return "%s %s %d %s".formatted(loop.name(), loop.since(), loop.podsTold(), loop.nodes());
  }
}
