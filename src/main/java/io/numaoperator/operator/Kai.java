package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.scheduler.KaiFacts;
import io.numaoperator.plan.scheduler.KaiFacts.Installation;
import io.numaoperator.plan.scheduler.KaiScheduler;
import io.numaoperator.readiness.KaiSightings;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jboss.logging.Logger;

/**
 * What there is of KAI Scheduler, watched from the first time that somebody wants it; until it is
 * installed it is looked for again and again.
 */
@ApplicationScoped
class Kai {
  private static final Logger LOG = Logger.getLogger(Kai.class);
  private static final String SCHEDULER = "kai-scheduler-";
  private static final String EXPORTER = "numa-placement-exporter";
  private static final Duration AGAIN = Duration.ofSeconds(30);

  private final KubernetesClient client;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** Pods of KAI in its namespace. */
  private final KeyedStore<Pod> pods;

  private Optional<Stores> stores = Optional.empty();
  private Installation installation = Installation.Absent;
  private Optional<Instant> topologyKind = Optional.empty();
  private Instant next = Instant.MIN;
  private Instant nextWatch = Instant.MIN;
  private boolean looked;

  private record Stores(
      Store<KaiConfig> configs, Store<SchedulingShard> shards, Store<KaiQueue> queues) {}

  @Inject
  Kai(KubernetesClient client) {
    this.client = client;
    this.pods =
        new KeyedStore<>(namespace -> client.pods().inNamespace(namespace).withLabel("app"));
  }

  @PreDestroy
  synchronized void close() {
    stores.ifPresent(
        s -> {
          s.configs().close();
          s.shards().close();
          s.queues().close();
        });
    pods.close();
  }

  /** It was installed, or one of its objects was changed. */
  void onChange(Runnable action) {
    listeners.add(action);
  }

  synchronized KaiFacts facts() {
    looked = true;
    if (installation != Installation.WithNuma && !Instant.now().isBefore(next)) {
      next = Instant.now().plus(AGAIN);
      installation = installation();
    }
    if (installation != Installation.WithNuma) {
      return new KaiFacts(installation, Optional.empty(), List.of(), List.of());
    }
    return stores()
        .map(
            s ->
                new KaiFacts(
                    installation,
                    s.configs().get(KaiConfig.NAME),
                    s.shards().list().toList(),
                    s.queues().list().toList()))
        .orElseGet(KaiFacts::absent);
  }

  /** Its objects in which there may be fields of ours. */
  synchronized Stream<HasMetadata> objects() {
    if (!looked) { // they may be of a policy that was changed before this process began
      facts();
    }
    return installation == Installation.WithNuma
        ? stores().stream().flatMap(s -> Stream.concat(s.configs().list(), s.shards().list()))
        : Stream.empty();
  }

  private Installation installation() {
    var crd = crd(KaiConfig.CRD);
    if (crd.isEmpty()) {
      return Installation.Absent;
    }
    boolean numa =
        crd.get().getSpec().getVersions().stream()
            .filter(version -> version.getName().equals(KaiConfig.VERSION))
            .flatMap(version -> Optional.ofNullable(version.getSchema()).stream())
            .map(schema -> schema.getOpenAPIV3Schema().getProperties().get("spec"))
            .anyMatch(
                spec -> spec != null && spec.getProperties().containsKey("numaPlacementExporter"));
    return numa ? Installation.WithNuma : Installation.WithoutNuma;
  }

  private Optional<CustomResourceDefinition> crd(String name) {
    return Optional.ofNullable(
        client.apiextensions().v1().customResourceDefinitions().withName(name).get());
  }

  private Optional<Stores> stores() {
    if (stores.isEmpty() && !Instant.now().isBefore(nextWatch)) {
      var opened = new ArrayList<Store<?>>();
      try {
        var found =
            new Stores(
                opened(KaiConfig.class, opened),
                opened(SchedulingShard.class, opened),
                opened(KaiQueue.class, opened));
        found.configs().onChange((old, config) -> true, config -> changed());
        found.shards().onChange((old, shard) -> true, shard -> changed());
        stores = Optional.of(found);
      } catch (KubernetesClientException e) {
        opened.forEach(Store::close);
        if (!Store.isUnavailable(e)) {
          throw e;
        }
        nextWatch = Instant.now().plus(AGAIN);
        LOG.infof("cannot watch KAI's objects: %s", e.getMessage());
      }
    }
    return stores;
  }

  private <T extends HasMetadata> Store<T> opened(Class<T> kind, List<Store<?>> opened) {
    var store = Store.ofOptional(client.resources(kind));
    opened.add(store);
    return store;
  }

  private void changed() {
    listeners.forEach(Runnable::run);
  }

  /**
   * @param shard name of the one that places the pods
   */
  synchronized KaiSightings sightings(String shard) {
    var facts = facts();
    var its =
        facts.shards().stream().filter(s -> s.getMetadata().getName().equals(shard)).findFirst();
    var running =
        pods.of(KaiScheduler.namespaceOf(facts)).list().filter(Sightings::isReady).toList();
    return new KaiSightings(
        facts.config().map(KaiReports::of),
        its.map(KaiReports::of),
        its.filter(KaiReports::plugsNumaIn).isPresent(),
        topologyKind(),
        running.stream()
            .filter(pod -> KaiReports.isOf(pod, SCHEDULER + shard))
            .flatMap(pod -> Sightings.started(pod).stream())
            .toList(),
        running.stream()
            .filter(pod -> KaiReports.isOf(pod, EXPORTER))
            .map(pod -> pod.getSpec().getNodeName())
            .collect(Collectors.toSet()));
  }

  private Instant topologyKind() {
    if (topologyKind.isEmpty()) {
      topologyKind =
          crd(NodeResourceTopology.CRD)
              .map(crd -> Instant.parse(crd.getMetadata().getCreationTimestamp()));
    }
    return topologyKind.orElse(Instant.MAX);
  }
}
