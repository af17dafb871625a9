package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.SchedulerPolicy.Provider;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.plan.scheduler.ExternalScheduler;
import io.numaoperator.plan.scheduler.KaiScheduler;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.readiness.KaiSightings;
import io.numaoperator.readiness.SchedulerSightings;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * How the scheduler in force is. What is in force was planned last; what is seen of it is looked at
 * every few seconds, since a leader that goes silent makes no event.
 */
@ApplicationScoped
class Schedulers {
  private static final Logger LOG = Logger.getLogger(Schedulers.class);
  private static final long SECONDS = 3;
  private static final String NOT_SEEN_BY_KAI =
      "KAI's placement exporter is not ready on this node (scheduler.kai.exporterNodeSelector), or"
          + " there is no NodeResourceTopology of it";

  private final ClusterCache cache;
  private final ManagedObjects objects;
  private final OperatorSettings settings;
  private final BuiltInExtender extender;
  private final SchedulerPods pods;
  private final Kai kai;
  private final AtomicReference<Optional<InForce>> inForce =
      new AtomicReference<>(Optional.empty());
  private final AtomicReference<SchedulerState> last =
      new AtomicReference<>(new SchedulerState.None());
  private final List<Consumer<Predicate<String>>> listeners = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService watch =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().name("schedulers").factory());

  /** What was planned last, from what. */
  private record InForce(Provision plan, SchedulerProvider.Input input) {}

  @Inject
  Schedulers(
      KubernetesClient client,
      ClusterCache cache,
      ManagedObjects objects,
      OperatorSettings settings,
      BuiltInExtender extender,
      Kai kai) {
    this.kai = kai;
    this.cache = cache;
    this.objects = objects;
    this.settings = settings;
    this.extender = extender;
    this.pods = new SchedulerPods(client, settings.namespace());
    extender.onChange(this::lookNow);
    objects.onChange(this::lookNow); // a replica of the BuiltIn one may have become available
    var unused = watch.scheduleWithFixedDelay(this::look, SECONDS, SECONDS, TimeUnit.SECONDS);
  }

  @PreDestroy
  void close() {
    watch.shutdownNow();
    pods.close();
  }

  /**
   * @param action called when its state became another one, with the nodes that this concerns: a
   *     new cluster's nodes are read one after the other, and each of thousands would be judged
   *     anew for each
   */
  void onChange(Consumer<Predicate<String>> action) {
    listeners.add(action);
  }

  void inForce(Provision plan, SchedulerProvider.Input input) {
    inForce.set(Optional.of(new InForce(plan, input)));
    compare();
  }

  /** Whether the extender may have decisions that it goes on with; also while nothing is known. */
  boolean mayBeBuiltIn() {
    return inForce
        .get()
        .map(
            planned ->
                !(planned.plan() instanceof Provision.Objects objectsOfIt)
                    || BuiltInScheduler.isMadeBy(objectsOfIt))
        .orElse(true);
  }

  /** As it was last seen. */
  SchedulerState state() {
    return builtIn().orElseGet(last::get);
  }

  /** Whoever tells of a change is not held up by it. */
  private void lookNow() {
    if (!watch.isShutdown()) {
      watch.execute(this::look);
    }
  }

  private void look() {
    try {
      compare();
      lookForKai();
    } catch (RuntimeException failed) {
      // an exception would end the watch
      LOG.warn("the scheduler could not be looked at", failed);
    }
  }

  /** What was planned without KAI is planned anew when it is installed, which no event tells. */
  private void lookForKai() {
    inForce
        .get()
        .filter(planned -> planned.input().setting().provider == Provider.KAI)
        .filter(planned -> !planned.input().seen().kai().equals(kai.facts()))
        .filter(planned -> planned.plan() instanceof Provision.Refused)
        .ifPresent(planned -> listeners.forEach(listener -> listener.accept(node -> true)));
  }

  private void compare() {
    var now = builtIn().orElseGet(this::judge);
    var former = last.getAndSet(now);
    if (!now.equals(former)) {
      var concerned = now.differsFrom(former);
      listeners.forEach(listener -> listener.accept(concerned));
    }
  }

  private SchedulerState judge() {
    var planned = inForce.get();
    if (planned.isEmpty() || !(planned.get().plan() instanceof Provision.Objects plan)) {
      return new SchedulerState.None();
    }
    return switch (plan.provider()) {
      case "noderesourcetopologymatch" -> match(plan, planned.get().input());
      case "external" -> external(planned.get().input());
      case "kai" -> kai(planned.get().input());
      default -> new SchedulerState.None();
    };
  }

  /** Empty while the extender does not serve. */
  private Optional<SchedulerState> builtIn() {
    return extender.status().map(serving -> SchedulerState.of(deployment(), serving));
  }

  /** The scheduler that asks the extender was made, and goes on asking. */
  boolean isBuiltInThere() {
    return deployment().filter(BuiltInScheduler::isMadeBy).isPresent();
  }

  private Optional<Deployment> deployment() {
    return objects.find(Deployment.class, settings.namespace(), BuiltInScheduler.DEPLOYMENT);
  }

  private SchedulerState match(Provision.Objects plan, SchedulerProvider.Input input) {
    var sightings =
        new SchedulerSightings(
            Sightings.wanted(plan),
            deployment().flatMap(Sightings::deployed),
            pods.lease().flatMap(Sightings::hold),
            pods.replicas().flatMap(pod -> Sightings.replica(pod).stream()).toList(),
            pods.unattended(input.setting().schedulerName),
            Instant.now());
    return sightings
        .fault()
        .<SchedulerState>map(SchedulerState.Down::new)
        .orElseGet(() -> new SchedulerState.Live(read(sightings), Map.of()));
  }

  private Set<String> read(SchedulerSightings sightings) {
    return cache
        .topologies()
        .list()
        .filter(
            topology ->
                sightings.hasRead(
                    latest(
                        Instant.parse(topology.getMetadata().getCreationTimestamp()),
                        kubeletChanged(topology.getMetadata().getName()))))
        .map(topology -> topology.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  private Optional<Instant> kubeletChanged(String node) {
    return cache.states().get(node).flatMap(Sightings::kubeletChanged);
  }

  private static Instant latest(Instant made, Optional<Instant> changed) {
    return changed.filter(made::isBefore).orElse(made);
  }

  private SchedulerState kai(SchedulerProvider.Input input) {
    var sightings = kai.sightings(KaiScheduler.settings(input.setting()).shard);
    if (sightings.fault().isPresent()) {
      return new SchedulerState.Down(sightings.fault().get());
    }
    return sightings
        .doubt()
        .<SchedulerState>map(SchedulerState.Unjudged::new)
        .orElseGet(() -> new SchedulerState.Live(seenBy(sightings), Map.of(), NOT_SEEN_BY_KAI));
  }

  private Set<String> seenBy(KaiSightings sightings) {
    return cache
        .topologies()
        .list()
        .map(topology -> topology.getMetadata().getName())
        .filter(sightings.exporterNodes()::contains)
        .collect(Collectors.toSet());
  }

  private SchedulerState external(SchedulerProvider.Input input) {
    var name = ExternalScheduler.nameOf(input.setting());
    var idle =
        pods.unattended(name)
            .flatMap(pod -> SchedulerSightings.inattention(pod, Instant.now()))
            .map(why -> "scheduler " + name + ": " + why);
    if (idle.isPresent()) {
      return new SchedulerState.Down(idle.get());
    }
    return ExternalScheduler.isAssumedAware(input.setting())
        ? new SchedulerState.Assumed(name)
        : new SchedulerState.Unjudged(
            ExternalScheduler.todo(settings.namespace(), input.setting()));
  }
}
