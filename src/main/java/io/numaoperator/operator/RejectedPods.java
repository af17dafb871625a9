package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.numaoperator.api.ListPage;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.explain.Loop;
import io.numaoperator.explain.Rejection;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
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
  private final Map<String, Rejected> pods = new HashMap<>();
  private final ConcurrentLinkedQueue<Change> changes = new ConcurrentLinkedQueue<>();
  private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService worker =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofVirtual().name("rejected-pods").factory());
  private volatile Optional<SharedIndexInformer<Pod>> informer = Optional.empty();
  private volatile Optional<List<ExplainedLoop>> loops = Optional.empty();
  private Instant nextLook = Instant.MIN;

  /** What the watch said of a pod. */
  private record Change(Rejected pod, boolean isNew) {}

  /**
   * A rejected pod.
   *
   * @param version its resourceVersion
   * @param gone whether it was deleted; it still counts for the loop that it was part of
   */
  record Rejected(Rejection rejection, String version, boolean gone) {
    private boolean isOver(Instant now) {
      return gone && rejection.at().isBefore(now.minus(Loop.WINDOW));
    }
  }

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
      put(pod, true);
    }

    @Override
    public void onUpdate(Pod old, Pod pod) {
      put(pod, false);
    }

    private void put(Pod pod, boolean isNew) {
      Rejection.of(pod)
          .map(r -> new Rejected(r, pod.getMetadata().getResourceVersion(), false))
          .ifPresent(rejected -> changes.add(new Change(rejected, isNew)));
    }

    /** Of a pod that is gone the store has no more than its uid. */
    @Override
    public void onDelete(Pod pod, boolean stateUnknown) {
      var uid = pod.getMetadata().getUid();
      worker.execute(
          () ->
              pods.computeIfPresent(uid, (u, r) -> new Rejected(r.rejection(), r.version(), true)));
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
    var fresh = new ArrayList<Rejection>();
    for (var change = changes.poll(); change != null; change = changes.poll()) {
      var rejection = change.pod().rejection();
      if (cache.states().get(rejection.node()).isPresent()) {
        pods.put(rejection.uid(), change.pod());
        if (change.isNew()) {
          fresh.add(rejection);
        }
      }
    }
    if (fresh.isEmpty() && now.isBefore(nextLook)) {
      return;
    }
    nextLook = now.plus(AGAIN);
    pods.values().removeIf(rejected -> rejected.isOver(now));
    var known = loops.orElse(List.of());
    var next =
        Loop.among(
                pods.values().stream().map(Rejected::rejection).toList(),
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
    cleanup.clean(List.copyOf(pods.values()));
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
