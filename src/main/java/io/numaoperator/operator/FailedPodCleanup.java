package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.operator.RejectionLedger.Rejected;
import io.numaoperator.plan.SharedSettings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Deletes what rejection loops leave behind, where a policy asks for it (
 * spec.troubleshooting.cleanupFailedPods).
 */
@ApplicationScoped
class FailedPodCleanup {
  private static final Logger LOG = Logger.getLogger(FailedPodCleanup.class);

  /** To look at. */
  private static final int KEPT = 3;

  /** In one go; the rest is for the next look, 10 s later. */
  private static final int AT_ONCE = 100;

  private final KubernetesClient client;
  private final ClusterCache cache;

  @Inject
  FailedPodCleanup(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  void clean(Collection<Rejected> pods) {
    var policies =
        cache.livePolicies().stream()
            .filter(SharedSettings::enforces)
            .filter(p -> Boolean.TRUE.equals(p.getSpec().troubleshooting.cleanupFailedPods))
            .map(p -> p.getMetadata().getName())
            .collect(Collectors.toSet());
    if (policies.isEmpty()) {
      return;
    }
    var surplus = surplus(pods, node -> isOf(node, policies));
    for (var pod : surplus.subList(0, Math.min(AT_ONCE, surplus.size()))) {
      if (!delete(pod)) {
        return;
      }
    }
  }

  private boolean isOf(String node, Set<String> policies) {
    return cache.states().get(node).map(s -> policies.contains(s.getSpec().policy)).orElse(false);
  }

  /** Of each owner all but the newest 3. Pods without an owner are nobody's surplus. */
  static List<Rejected> surplus(Collection<Rejected> pods, Predicate<String> onNode) {
    return pods.stream()
        .filter(pod -> !pod.gone() && pod.rejection().owner().isPresent())
        .filter(pod -> onNode.test(pod.rejection().node()))
        .collect(Collectors.groupingBy(pod -> pod.rejection().subject()))
        .values()
        .stream()
        .flatMap(
            ofOwner ->
                ofOwner.stream()
                    .sorted(
                        Comparator.comparing((Rejected pod) -> pod.rejection().at())
                            .thenComparing(pod -> pod.rejection().pod())
                            .reversed())
                    .skip(KEPT))
        .sorted(Comparator.comparing(pod -> pod.rejection().at()))
        .toList();
  }

  /**
   * Only the very pod that was looked at.
   *
   * @return whether to go on
   */
  private boolean delete(Rejected pod) {
    var name = pod.rejection().pod().split("/", 2);
    try {
      client
          .pods()
          .inNamespace(name[0])
          .withName(name[1])
          .lockResourceVersion(pod.version())
          .delete();
      return true;
    } catch (KubernetesClientException e) {
      LOG.warnf("deleting failed pod %s: %s", pod.rejection().pod(), e.getMessage());
      return e.getCode() == HttpURLConnection.HTTP_CONFLICT;
    }
  }
}
