package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.SchedulerPolicy.UnknownNodes;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.scheduler.ExtenderCertificates;
import io.numaoperator.scheduler.KubernetesSecretStore;
import io.numaoperator.scheduler.SchedulerExtender;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The extender of the BuiltIn scheduler inside this process: it serves while the policies want that
 * scheduler, with certificates that are made and renewed here. Every replica does, whether it leads
 * or not: kube-scheduler asks the one that the Service gives it.
 */
@ApplicationScoped
class BuiltInExtender {
  private static final Duration CERTIFICATE_CHECK = Duration.ofHours(12);

  private final KubernetesClient client;
  private final int port;
  private final ExtenderCertificates certificates;
  private final AtomicReference<SchedulerExtender.Settings> settings =
      new AtomicReference<>(new SchedulerExtender.Settings(Set.of(), false));
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private Optional<SchedulerExtender> running = Optional.empty();
  private Instant nextCheck = Instant.MIN;
  private boolean forgotten;

  @Inject
  BuiltInExtender(KubernetesClient client, OperatorSettings operator) {
    this.client = client;
    this.port = operator.extenderPort();
    this.certificates =
        new ExtenderCertificates(
            new KubernetesSecretStore(client, operator.namespace()),
            BuiltInScheduler.CLIENT_SECRET,
            BuiltInScheduler.host(operator.namespace()),
            Clock.systemUTC());
  }

  /**
   * Serves with these settings; to be called often.
   *
   * @throws IOException if the port is taken
   * @throws GeneralSecurityException if there can be no certificates
   */
  synchronized void serve(SchedulerPolicy policy) throws IOException, GeneralSecurityException {
    settings.set(
        new SchedulerExtender.Settings(
            Set.of(policy.schedulerName), policy.unknownNodes == UnknownNodes.Allow));
    if (!Instant.now().isBefore(nextCheck)) {
      forgotten = false;
      certificates.ensure();
      nextCheck = Instant.now().plus(CERTIFICATE_CHECK);
    }
    if (running.isEmpty()) {
      running =
          Optional.of(
              SchedulerExtender.start(
                  client,
                  settings::get,
                  certificates::material,
                  new InetSocketAddress(port),
                  Clock.systemUTC(),
                  () -> listeners.forEach(Runnable::run)));
    }
  }

  /** Nobody wants it any more. */
  @PreDestroy
  synchronized void stop() {
    running.ifPresent(SchedulerExtender::close);
    running = Optional.empty();
    nextCheck = Instant.MIN; // another replica may take the certificates away meanwhile
  }

  /** No scheduler is left that would ask: the certificates go. To be called by the leader. */
  synchronized void forget() {
    if (running.isEmpty() && !forgotten) {
      try {
        certificates.forget();
      } catch (KubernetesClientException e) {
        if (!Store.isUnavailable(e)) {
          throw e;
        }
        // without the role for the BuiltIn scheduler nobody has made any
      }
      forgotten = true;
    }
  }

  /**
   * @param action called when it has read other nodes, or there are other pods of other schedulers
   */
  void onChange(Runnable action) {
    listeners.add(action);
  }

  /** How it is; empty while it does not serve. */
  synchronized Optional<SchedulerExtender.Status> status() {
    return running.map(SchedulerExtender::status);
  }
}
