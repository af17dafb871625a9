package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jboss.logging.Logger;

/**
 * Counts the Events by which HAMi tells that it moved an allocation to the kubelet's GPU, or could
 * not, by the node of their pod. Without config/hami it may not see them, and counts nothing.
 */
@ApplicationScoped
class RefitEvents {
  private static final Logger LOG = Logger.getLogger(RefitEvents.class);
  private static final List<String> REASONS = List.of("NumaRefitSucceed", "NumaRefitFailed");

  private final KubernetesClient client;
  private final Meters meters;
  private final List<Store<Event>> events = new CopyOnWriteArrayList<>();

  @Inject
  RefitEvents(KubernetesClient client, Meters meters) {
    this.client = client;
    this.meters = meters;
  }

  /**
   * Called once, when this replica begins to lead. Nothing is reconciled before that call returns,
   * and to find a few of all Events takes the API server a while: it is not waited for.
   */
  void start() {
    Thread.ofVirtual().name("refit-events").start(() -> REASONS.forEach(this::watch));
  }

  private void watch(String reason) {
    try {
      var store =
          Store.ofOptional(client.v1().events().inAnyNamespace().withField("reason", reason));
      events.add(store);
      store.onChange(
          (old, event) -> times(old) < times(event),
          event -> {
            if (store.get(Store.key(event)).isPresent()) { // else it has expired
              count(event);
            }
          });
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        LOG.debugf("Events %s are not counted: not allowed to watch them", reason);
      } else {
        LOG.warnf("Events %s are not counted: %s", reason, e.getMessage());
      }
    }
  }

  @PreDestroy
  void close() {
    events.forEach(Store::close);
  }

  /** A repeated Event is the same object with another count. */
  private static int times(Event event) {
    return Objects.requireNonNullElse(event.getCount(), 1);
  }

  private void count(Event event) {
    meters.refitted(node(event).orElse("unknown"), event.getReason());
  }

  /** Anybody writes Events, and of what an Event concerns the API server asks for no name. */
  private Optional<String> node(Event event) {
    var object = event.getInvolvedObject();
    if (object == null
        || !"Pod".equals(object.getKind())
        || object.getNamespace() == null
        || object.getName() == null) {
      return Optional.empty();
    }
    Pod pod = client.pods().inNamespace(object.getNamespace()).withName(object.getName()).get();
    return Optional.ofNullable(pod).map(p -> p.getSpec().getNodeName());
  }
}
