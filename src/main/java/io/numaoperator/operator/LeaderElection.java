package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * One replica reconciles; all of them serve the extender. A lease is held by the pod's name, so
 * that a restarted container need not wait for its own lease to run out. Who ends gives it back, so
 * that a successor need not wait either. That a former leader may still write for a moment is taken
 * care of where it matters: grants are fenced.
 */
@Singleton
class LeaderElection {
  private static final Logger LOG = Logger.getLogger(LeaderElection.class);
  private static final String LEASE = "numa-operator";

  /** What a lease that nobody holds says of its duration; the API server wants more than 0. */
  private static final int UNHELD_SECONDS = 1;

  private final KubernetesClient client;
  private final String identity;
  private final String namespace;
  private volatile boolean ending;

  @Inject
  LeaderElection(KubernetesClient client, OperatorSettings settings) {
    this.client = client;
    identity = settings.podName().orElseGet(() -> UUID.randomUUID().toString());
    namespace = settings.namespace();
  }

  /** In client-go's proportions: 15 s, 10 s, 2 s. */
  @Produces
  @Singleton
  LeaderElectionConfiguration configuration(
      OperatorSettings settings,
      Instance<RestorationLoop> restoration,
      Instance<RejectedPods> rejected,
      Instance<FleetMetrics> metrics,
      Instance<RefitEvents> refits) {
    var lease = settings.leaseDuration();
    return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(LEASE)
        .withLeaseNamespace(namespace)
        .withLeaseDuration(lease)
        .withRenewDeadline(lease.multipliedBy(2).dividedBy(3))
        .withRetryPeriod(lease.multipliedBy(2).dividedBy(15))
        .withIdentity(identity)
        .withLeaderCallbacks(
            new LeaderCallbacks(
                () -> {
                  restoration.get().start();
                  rejected.get().start();
                  metrics.get().start();
                  refits.get().start();
                },
                this::stopLeading,
                leader -> {}))
        .build();
  }

  /**
   * Who lost the lease ends, and is started again as a follower: JOSDK's reconcilers would go on
   * beside those of the new leader, and nothing would ever make this one lead again.
   */
  private void stopLeading() {
    if (ending) {
      giveBack();
    } else {
      LOG.warn("the lease is lost: this process ends");
      Quarkus.asyncExit(1);
    }
  }

  /**
   * JOSDK has ended its reconcilers by now, and would leave the lease to run out. Not by fabric8's
   * LeaseLock, which patches: a holder of null would be none that changes.
   */
  private void giveBack() {
    try {
      var lease = client.leases().inNamespace(namespace).withName(LEASE).get();
      if (lease != null && identity.equals(lease.getSpec().getHolderIdentity())) {
        lease.getSpec().setHolderIdentity(null);
        lease.getSpec().setLeaseDurationSeconds(UNHELD_SECONDS);
        client.resource(lease).update();
      }
    } catch (KubernetesClientException e) {
      LOG.warnf("a successor waits until the lease has run out: %s", e.getMessage());
    }
  }

  /** Before JOSDK stops. */
  void end(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) ShutdownEvent event) {
    ending = true;
  }
}
