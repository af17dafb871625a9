package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.Names;
import io.numaoperator.plan.ContentHash;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jboss.logging.Logger;

/**
 * Writes Events. One is named by what it tells: told again, by a restarted operator say, it is the
 * same object, and new to nobody. Events are for people; nothing is decided on them, and one that
 * cannot be written holds nothing up.
 */
@ApplicationScoped
class Events {
  private static final Logger LOG = Logger.getLogger(Events.class);
  private static final String CLUSTER = "default"; // of the Events of cluster-scoped objects
  private static final int LONGEST_NAME = 200;
  private static final int LONGEST_MESSAGE = 1024;

  private final KubernetesClient client;

  @Inject
  Events(KubernetesClient client) {
    this.client = client;
  }

  /** Of an object that was read; the same as the other one. */
  boolean tell(HasMetadata about, String key, boolean warning, String reason, String message) {
    var reference =
        new ObjectReferenceBuilder()
            .withApiVersion(about.getApiVersion())
            .withKind(about.getKind())
            .withNamespace(about.getMetadata().getNamespace())
            .withName(about.getMetadata().getName())
            .withUid(about.getMetadata().getUid())
            .build();
    return tell(reference, key, warning, reason, message);
  }

  /**
   * @param about with kind, name and uid, and namespace if it has one
   * @param key what makes this Event another one than those told before of the same object
   * @return whether it was new
   */
  boolean tell(ObjectReference about, String key, boolean warning, String reason, String message) {
    try {
      var event = event(about, key, warning, reason, message);
      client.v1().events().inNamespace(event.getMetadata().getNamespace()).resource(event).create();
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        LOG.warnf(
            "event %s of %s %s: %s", reason, about.getKind(), about.getName(), e.getMessage());
      }
      return false;
    }
  }

  private static Event event(
      ObjectReference about, String key, boolean warning, String reason, String message) {
    var now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    var start = about.getName().substring(0, Math.min(LONGEST_NAME, about.getName().length()));
    return new EventBuilder()
        .withNewMetadata()
        .withNamespace(Optional.ofNullable(about.getNamespace()).orElse(CLUSTER))
        .withName(start + "." + ContentHash.of(about.getUid() + " " + key))
        .endMetadata()
        .withInvolvedObject(about)
        .withType(warning ? "Warning" : "Normal")
        .withReason(reason)
        .withMessage(Texts.shortened(message, LONGEST_MESSAGE))
        .withFirstTimestamp(now)
        .withLastTimestamp(now)
        .withCount(1)
        .withNewSource()
        .withComponent(Names.OPERATOR_FIELD_MANAGER)
        .endSource()
        .build();
  }
}
