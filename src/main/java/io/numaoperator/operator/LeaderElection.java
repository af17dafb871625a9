package io.numaoperator.operator;

import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * One replica reconciles; all of them serve the extender. A lease is held by the pod's name, so
 * that a restarted container need not wait for its own lease to run out. That a former leader may
 * still write for a moment is taken care of where it matters: grants are fenced.
 */
@Singleton
class LeaderElection {
  private static final String LEASE = "numa-operator";

  /** In client-go's proportions: 15 s, 10 s, 2 s. */
  @Produces
  @Singleton
  LeaderElectionConfiguration configuration(
      OperatorSettings settings, Instance<RestorationLoop> restoration) {
    var lease = settings.leaseDuration();
    return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(LEASE)
        .withLeaseNamespace(settings.namespace())
        .withLeaseDuration(lease)
        .withRenewDeadline(lease.multipliedBy(2).dividedBy(3))
        .withRetryPeriod(lease.multipliedBy(2).dividedBy(15))
        .withIdentity(settings.podName().orElse(""))
        .withLeaderCallbacks(
            new LeaderCallbacks(
                () -> restoration.get().start(), () -> restoration.get().stop(), leader -> {}))
        .build();
  }
}
