package io.numaoperator.operator;

import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.ShutdownEvent;
import jakarta.annotation.Priority;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.interceptor.Interceptor;
import org.jboss.logging.Logger;

/**
 * One replica reconciles; all of them serve the extender. A lease is held by the pod's name, so
 * that a restarted container need not wait for its own lease to run out. That a former leader may
 * still write for a moment is taken care of where it matters: grants are fenced.
 */
@Singleton
class LeaderElection {
  private static final Logger LOG = Logger.getLogger(LeaderElection.class);
  private static final String LEASE = "numa-operator";

  private volatile boolean ending;

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
        .withLeaseNamespace(settings.namespace())
        .withLeaseDuration(lease)
        .withRenewDeadline(lease.multipliedBy(2).dividedBy(3))
        .withRetryPeriod(lease.multipliedBy(2).dividedBy(15))
        .withIdentity(settings.podName().orElse(""))
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
    if (!ending) {
      LOG.warn("the lease is lost: this process ends");
      Quarkus.asyncExit(1);
    }
  }

  /** Before JOSDK's own, which gives the lease back. */
  void end(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) ShutdownEvent event) {
    ending = true;
  }
}
