package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.numaoperator.api.Names;
import io.numaoperator.api.nvidia.ClusterPolicy;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jboss.logging.Logger;

/**
 * The GPU Operator's ClusterPolicies, where it is installed and config/gpu-operator lets us see
 * them. Looked for again with each plan: it may be installed after us.
 */
@ApplicationScoped
class GpuOperator {
  private static final Logger LOG = Logger.getLogger(GpuOperator.class);

  private final KubernetesClient client;
  private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
  private Optional<Store<ClusterPolicy>> policies = Optional.empty();

  @Inject
  GpuOperator(KubernetesClient client) {
    this.client = client;
  }

  @PreDestroy
  synchronized void close() {
    policies.ifPresent(Store::close);
  }

  void onChange(Runnable action) {
    listeners.add(action);
  }

  /**
   * @param wanted some policy wants it: only then its absence is asked for again and again
   */
  synchronized List<ClusterPolicy> clusterPolicies(boolean wanted) {
    if (policies.isEmpty() && wanted) {
      policies = watch();
    }
    return policies.map(store -> store.list().toList()).orElse(List.of());
  }

  private Optional<Store<ClusterPolicy>> watch() {
    try {
      var store = Store.ofOptional(client.resources(ClusterPolicy.class));
      store.onChange(GpuOperator::differ, policy -> listeners.forEach(Runnable::run));
      return Optional.of(store);
    } catch (KubernetesClientException e) {
      if (!Store.isUnavailable(e)) {
        throw e;
      }
      LOG.debugf("cannot watch ClusterPolicies: %s", e.getMessage());
      return Optional.empty();
    }
  }

  private static boolean differ(ClusterPolicy old, ClusterPolicy policy) {
    return !Objects.equals(old.getMetadata().getGeneration(), policy.getMetadata().getGeneration());
  }

  /** Exactly these fields: what we applied before and is not in it any more goes. */
  void apply(ClusterPolicy fields) {
    var written =
        client
            .resource(fields)
            .patch(
                new PatchContext.Builder()
                    .withPatchType(PatchType.SERVER_SIDE_APPLY)
                    .withFieldManager(Names.OPERATOR_FIELD_MANAGER)
                    .withForce(false)
                    .build());
    synchronized (this) {
      policies.ifPresent(store -> store.wrote(written));
    }
  }
}
