package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.ReducedStateItemStore;
import io.numaoperator.api.ListPage;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.scheduler.tls.MutualTls;
import io.numaoperator.topology.fit.Fit;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * The extender, running: watches pods and NodeResourceTopology objects, and answers kube-scheduler.
 * Every replica may serve; what they decide is kept consistent by the API server.
 */
public final class SchedulerExtender implements AutoCloseable {
  /** Annotation of a NodeResourceTopology: what was decided for its node and is not bound yet. */
  public static final String DECISIONS_ANNOTATION = Decisions.ANNOTATION;

  private static final Logger LOG = Logger.getLogger(SchedulerExtender.class);
  private static final Duration GATE = Duration.ofMillis(250);
  private static final Duration WAKE_INTERVAL = Duration.ofMillis(500);
  private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);

  /** Nodes that kube-scheduler asks about at a time, some with pods on the way; 2 kB each. */
  private static final int FITS_KEPT = 4_000;

  private final ClusterState state;
  private final Refusals refusals = new Refusals();
  private final ExtenderApi api;
  private final FitModel fits = new FitMemo(Fit::of, FITS_KEPT);
  private final Supplier<Settings> settings;
  private final SharedIndexInformer<Pod> pods;
  private final SharedIndexInformer<NodeResourceTopology> topologies;
  private final ExtenderServer server;
  private final ScheduledExecutorService timer;
  private final AtomicReference<Optional<Instant>> lastAsked =
      new AtomicReference<>(Optional.empty());
  private final Set<String> suspects = new HashSet<>();
  private final Runnable changed;
  private Optional<Told> told = Optional.empty();
  private final AtomicReference<Optional<Seen>> seen = new AtomicReference<>(Optional.empty());

  /** What of its status others act on, as it was when they were last told. */
  private record Told(Set<String> nodes, Map<String, Integer> foreignPods) {}

  /**
   * What all nodes and pods together say. It is asked for at each look at each node, and goes
   * through all of them.
   *
   * @param changes of the state when it was counted
   * @param at when it was counted, by System.nanoTime
   */
  private record Seen(Told told, Set<String> schedulerNames, long changes, long at) {}

  /**
   * What the policies say.
   *
   * @param schedulerNames spec.schedulerName of the pods that come here
   * @param allowUnknownNodes whether a node without NodeResourceTopology may take pods that need
   *     alignment
   */
  public record Settings(Set<String> schedulerNames, boolean allowUnknownNodes) {
    public Settings {
      schedulerNames = Set.copyOf(schedulerNames);
    }
  }

  /**
   * How it is.
   *
   * @param synced whether pods and topologies have been read; before, it answers 503
   * @param lastAsked when kube-scheduler last asked
   * @param nodes the nodes whose NodeResourceTopology it has read and can use
   * @param foreignPods node → how many pods with devices there were bound by another scheduler
   */
  public record Status(
      boolean synced,
      Optional<Instant> lastAsked,
      Set<String> nodes,
      Map<String, Integer> foreignPods) {}

  private SchedulerExtender(
      KubernetesClient client,
      Supplier<Settings> settings,
      Supplier<MutualTls.Material> tls,
      InetSocketAddress address,
      Clock clock,
      Runnable changed)
      throws IOException, GeneralSecurityException {
    this.settings = settings;
    this.changed = changed;
    state = new ClusterState(clock);
    api = new KubernetesExtenderApi(client);
    var binder = new Binder(api, state, this::judge, clock);
    var extender = new Extender(state, this::judge, binder, new CycleGate(GATE), refusals);
    pods = podInformer(client);
    topologies = topologyInformer(client);
    timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofVirtual().name("numa-extender-timer").factory());
    server =
        new ExtenderServer(
            address,
            MutualTls.context(tls),
            extender,
            client.getKubernetesSerialization(),
            this::synced,
            verb -> lastAsked.set(Optional.of(clock.instant())));
  }

  /**
   * Starts it; it answers once its caches are filled.
   *
   * @param tls asked for at each handshake
   * @param address where to listen
   * @param changed called when nodes or foreignPods of its status are others, twice a second at
   *     most
   * @throws IOException if the port is taken
   * @throws GeneralSecurityException if the JDK has no TLS
   */
  public static SchedulerExtender start(
      KubernetesClient client,
      Supplier<Settings> settings,
      Supplier<MutualTls.Material> tls,
      InetSocketAddress address,
      Clock clock,
      Runnable changed)
      throws IOException, GeneralSecurityException {
    var running = new SchedulerExtender(client, settings, tls, address, clock, changed);
    var unusedPods = running.pods.start();
    var unusedTopologies = running.topologies.start();
    // neither throws, so that both go on until the timer is shut down
    var unusedWake =
        running.timer.scheduleWithFixedDelay(
            running::look, 0, WAKE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    var unusedSweep =
        running.timer.scheduleWithFixedDelay(
            running::sweep,
            SWEEP_INTERVAL.toMillis(),
            SWEEP_INTERVAL.toMillis(),
            TimeUnit.MILLISECONDS);
    return running;
  }

  public int port() {
    return server.port();
  }

  /** Nodes and foreign pods are as they were half a second ago at most. */
  public Status status() {
    var now = seen();
    return new Status(synced(), lastAsked.get(), now.nodes(), now.foreignPods());
  }

  private Told seen() {
    var names = settings.get().schedulerNames();
    long changes = state.changes();
    var known = seen.get().filter(s -> s.schedulerNames().equals(names));
    if (known.filter(s -> s.changes() == changes || isFresh(s)).isPresent()) {
      return known.get().told();
    }
    var now = new Told(Set.copyOf(state.usableNodes()), Map.copyOf(state.foreignPods(names)));
    seen.set(Optional.of(new Seen(now, names, changes, System.nanoTime())));
    return now;
  }

  private static boolean isFresh(Seen seen) {
    return System.nanoTime() - seen.at() < WAKE_INTERVAL.toNanos();
  }

  private Judge judge() {
    return new Judge(
        settings.get().allowUnknownNodes() ? UnknownNodes.Allow : UnknownNodes.Deny, fits);
  }

  private boolean synced() {
    return pods.hasSynced() && topologies.hasSynced();
  }

  private SharedIndexInformer<Pod> podInformer(KubernetesClient client) {
    return client
        .pods()
        .inAnyNamespace()
        // a pod that ends leaves the list, which its watch shows as a deletion
        .withoutField("status.phase", "Succeeded")
        .withoutField("status.phase", "Failed")
        .withLimit(ListPage.SIZE)
        .runnableInformer(0)
        .removeNamespaceIndex()
        // what is needed of a pod is in the state
        .itemStore(
            new ReducedStateItemStore<>(
                ReducedStateItemStore.UID_KEY_STATE,
                Pod.class,
                client.getKubernetesSerialization(),
                "metadata.namespace",
                "metadata.name",
                "spec.nodeName"))
        .addEventHandler(
            new ResourceEventHandler<>() {
              @Override
              public void onAdd(Pod pod) {
                put(pod);
                if (refusedBefore(pod)) {
                  refusals.found(PodView.of(pod));
                }
              }

              @Override
              public void onUpdate(Pod old, Pod pod) {
                put(pod);
              }

              @Override
              public void onDelete(Pod pod, boolean stateUnknown) {
                var uid = pod.getMetadata().getUid();
                state.pod(uid).flatMap(PodView::node).ifPresent(refusals::changed);
                state.remove(uid);
                refusals.gone(uid);
              }
            });
  }

  /** A pod that kube-scheduler found no node for, perhaps after asking our predecessor. */
  private boolean refusedBefore(Pod pod) {
    return settings.get().schedulerNames().contains(pod.getSpec().getSchedulerName())
        && pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(c -> "PodScheduled".equals(c.getType()) && "False".equals(c.getStatus()));
  }

  private void put(Pod pod) {
    state.put(pod);
    if (pod.getSpec().getNodeName() != null) {
      refusals.gone(pod.getMetadata().getUid());
    }
  }

  private SharedIndexInformer<NodeResourceTopology> topologyInformer(KubernetesClient client) {
    return client
        .resources(NodeResourceTopology.class)
        .withLimit(ListPage.SIZE)
        .runnableInformer(0)
        // what is needed of it is in the state
        .itemStore(
            new ReducedStateItemStore<>(
                ReducedStateItemStore.NAME_KEY_STATE,
                NodeResourceTopology.class,
                client.getKubernetesSerialization()))
        .addEventHandler(
            new ResourceEventHandler<>() {
              @Override
              public void onAdd(NodeResourceTopology object) {
                put(object);
              }

              @Override
              public void onUpdate(NodeResourceTopology old, NodeResourceTopology object) {
                put(object);
              }

              @Override
              public void onDelete(NodeResourceTopology object, boolean stateUnknown) {
                state.remove(object);
                refusals.changed(object.getMetadata().getName());
              }

              private void put(NodeResourceTopology object) {
                state.put(object);
                refusals.changed(object.getMetadata().getName());
              }
            });
  }

  private void look() {
    if (!synced()) {
      return;
    }
    try {
      tell();
      wake();
    } catch (RuntimeException failed) {
      // an exception would end the timer; the next change of any node tries again
      LOG.warn("waiting pods could not be brought to kube-scheduler's attention", failed);
    }
  }

  private void tell() {
    var now = seen();
    if (told.filter(now::equals).isEmpty()) {
      told = Optional.of(now);
      changed.run();
    }
  }

  private void wake() {
    refusals
        .worthAnotherLook(state, judge())
        .ifPresent(
            node -> {
              api.wake(node, state.topologyVersion(node));
              refusals.told();
            });
  }

  /**
   * Forgets what the watches do not have: what was read or bound by us, and deleted before that was
   * noted. Twice missed is missing.
   */
  private void sweep() {
    if (!synced()) {
      // what is not read yet is not missing
      suspects.clear();
      return;
    }
    var known =
        Stream.concat(pods.getStore().list().stream(), topologies.getStore().list().stream())
            .map(SchedulerExtender::key)
            .collect(Collectors.toSet());
    var missing = new HashSet<>(state.uids());
    missing.addAll(state.nodesWithTopology());
    missing.removeAll(known);
    missing.stream()
        .filter(suspects::contains)
        .forEach(
            key -> {
              state.remove(key);
              state.removeTopology(key);
            });
    suspects.clear();
    suspects.addAll(missing);
  }

  /** A pod's uid, a topology's name: no node is called like a uid. */
  private static String key(HasMetadata object) {
    return object instanceof Pod ? object.getMetadata().getUid() : object.getMetadata().getName();
  }

  @Override
  public void close() {
    timer.shutdownNow();
    server.close();
    List.of(pods, topologies).forEach(SharedIndexInformer::stop);
  }
}
