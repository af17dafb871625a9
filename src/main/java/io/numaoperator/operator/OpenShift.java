package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * What the Machine Config Operator has in this cluster. Elsewhere, or where config/rbac/
 * delivery_openshift.yaml was left out, there is nothing to watch.
 */
@ApplicationScoped
class OpenShift {
  private static final Logger LOG = Logger.getLogger(OpenShift.class);

  private final ClusterCache cache;
  private final Optional<Store<MachineConfigPool>> pools;
  private final Optional<Store<KubeletConfig>> configs;

  @Inject
  OpenShift(KubernetesClient client, ClusterCache cache) {
    this.cache = cache;
    boolean there = client.getApiGroup(KubeletConfig.GROUP) != null;
    this.pools = there ? watch(client, MachineConfigPool.class) : Optional.empty();
    this.configs = there ? watch(client, KubeletConfig.class) : Optional.empty();
  }

  private static <T extends HasMetadata> Optional<Store<T>> watch(
      KubernetesClient client, Class<T> kind) {
    try {
      return Optional.of(Store.ofOptional(client.resources(kind)));
    } catch (KubernetesClientException e) {
      if (!Store.isUnavailable(e)) {
        throw e;
      }
      LOG.infof("cannot watch %s: delivery OpenShift is not available", kind.getSimpleName());
      return Optional.empty();
    }
  }

  @PreDestroy
  void close() {
    pools.ifPresent(Store::close);
    configs.ifPresent(Store::close);
  }

  /** A pool went on, or somebody changed a KubeletConfig. */
  void onChange(Runnable action) {
    pools.ifPresent(store -> store.onChange((old, pool) -> true, pool -> action.run()));
    configs.ifPresent(store -> store.onChange((old, config) -> true, config -> action.run()));
  }

  OpenShiftFacts facts() {
    if (pools.isEmpty()) {
      return OpenShiftFacts.none();
    }
    return new OpenShiftFacts(
        pools.stream().flatMap(Store::list).toList(),
        configs.stream().flatMap(Store::list).toList(),
        cache
            .nodes()
            .list()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), Nodes::labels)));
  }
}
