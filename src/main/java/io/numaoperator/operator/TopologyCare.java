package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.plan.updater.UpdaterRestart;
import io.numaoperator.readiness.NodeReadiness;
import io.numaoperator.scheduler.SchedulerExtender;
import io.numaoperator.topology.AccountedPods;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * What has to be done about NodeResourceTopology objects besides having them published. Nothing of
 * it holds up a policy: what fails is tried again at the next change.
 */
@ApplicationScoped
class TopologyCare {
  private static final Logger LOG = Logger.getLogger(TopologyCare.class);
  private final KubernetesClient client;
  private final ClusterCache cache;
  private final OperatorSettings settings;
  private final KeyedStore<Pod> updaters;

  @Inject
  TopologyCare(KubernetesClient client, ClusterCache cache, OperatorSettings settings) {
    this.client = client;
    this.cache = cache;
    this.settings = settings;
    this.updaters =
        new KeyedStore<>(
            namespace ->
                client
                    .pods()
                    .inNamespace(namespace)
                    .withLabels(TopologyUpdaterProviders.nfdPods()));
  }

  @PreDestroy
  void close() {
    updaters.close();
  }

  /**
   * @param builtInScheduler whether the operator's extender decides, or may
   */
  void proceed(TopologyUpdaterPolicy.Provider provider, boolean builtInScheduler) {
    try {
      cache.topologies().list().filter(this::isLeftOver).forEach(this::remove);
      if (TopologyUpdaterProviders.of(provider).publishedByAgent()) {
        cache.topologies().list().filter(this::isOurNfds).forEach(this::disown);
      } else {
        forget(AccountedPods.ANNOTATION); // a note about numbers that are others' now
      }
      if (!builtInScheduler) {
        forget(SchedulerExtender.DECISIONS_ANNOTATION);
      }
      if (provider == TopologyUpdaterPolicy.Provider.NFD) {
        restartUpdaters();
      }
    } catch (KubernetesClientException refused) {
      LOG.warnf("NodeResourceTopology objects: %s", refused.getMessage());
    }
  }

  /**
   * The node is gone, and our own NFD updater published it: that makes its Namespace the owner, so
   * no garbage collector takes it. This is what nfd-gc is for, which would take those of other
   * updaters too.
   */
  private boolean isLeftOver(NodeResourceTopology topology) {
    return cache.nodes().get(topology.getMetadata().getName()).isEmpty() && isOurNfds(topology);
  }

  private boolean isOurNfds(NodeResourceTopology topology) {
    return topology.getMetadata().getOwnerReferences().stream().anyMatch(this::isOurNamespace);
  }

  private boolean isOurNamespace(OwnerReference owner) {
    return owner.getKind().equals("Namespace") && owner.getName().equals(settings.namespace());
  }

  /** The agents publish them now: what NFD's updater left in them goes. */
  private void disown(NodeResourceTopology topology) {
    var owners =
        topology.getMetadata().getOwnerReferences().stream()
            .filter(owner -> !isOurNamespace(owner))
            .toList();
    var patch =
        Serialization.asJson(
            Map.of(
                "metadata",
                Map.of(
                    "resourceVersion",
                    topology.getMetadata().getResourceVersion(),
                    "ownerReferences",
                    owners)));
    cache
        .topologies()
        .wrote(client.resource(topology).patch(PatchContext.of(PatchType.JSON_MERGE), patch));
  }

  private void remove(NodeResourceTopology topology) {
    LOG.infof("NodeResourceTopology %s: its node is gone", topology.getMetadata().getName());
    client.resource(topology).delete();
  }

  private void forget(String annotation) {
    var without = "{\"metadata\":{\"annotations\":{\"%s\":null}}}".formatted(annotation);
    cache
        .topologies()
        .list()
        .filter(topology -> has(topology, annotation))
        .map(
            topology ->
                client.resource(topology).patch(PatchContext.of(PatchType.JSON_MERGE), without))
        .forEach(cache.topologies()::wrote);
  }

  private static boolean has(NodeResourceTopology topology, String annotation) {
    return Objects.requireNonNullElse(
            topology.getMetadata().getAnnotations(), Map.<String, String>of())
        .containsKey(annotation);
  }

  private void restartUpdaters() {
    for (var pod : updaters.of(settings.namespace()).list().toList()) {
      var node = Optional.ofNullable(pod.getSpec().getNodeName()).orElse("");
      cache
          .states()
          .get(node)
          .flatMap(state -> why(pod, state))
          .ifPresent(
              why -> {
                LOG.infof("restarting %s on %s: %s", pod.getMetadata().getName(), node, why);
                client.resource(pod).delete();
              });
    }
  }

  private static Optional<String> why(Pod pod, NumaNodeState state) {
    return pod.getMetadata().getDeletionTimestamp() != null
        ? Optional.empty()
        : Sightings.started(pod)
            .flatMap(
                started ->
                    UpdaterRestart.why(
                        started, Sightings.kubeletChanged(state), staleSince(state)));
  }

  private static Optional<Instant> staleSince(NumaNodeState state) {
    return NodeAssessment.conditions(state).stream()
        .filter(c -> c.type.equals(NodeReadiness.TOPOLOGY))
        .filter(c -> c.status == Condition.Status.False && c.reason.equals("Stale"))
        .map(c -> Instant.parse(c.lastTransitionTime))
        .findFirst();
  }
}
