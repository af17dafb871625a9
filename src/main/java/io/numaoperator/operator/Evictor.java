package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PreconditionsBuilder;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.Client;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Evicts pods by the Eviction API, which keeps their PodDisruptionBudgets. It deletes none. */
@ApplicationScoped
class Evictor {
  /** How long a refused eviction is left alone, as kubectl drain does. */
  private static final Duration RETRY = Duration.ofSeconds(5);

  /** What is older than this is of a pod that nobody asks for any more. */
  private static final Duration FORGET = Duration.ofMinutes(1);

  private static final int NO_ANSWER = 0;

  private final Client client;
  private final Map<String, Refusal> refusals = new ConcurrentHashMap<>();

  /** What the API server said of a pod, and when. */
  private record Refusal(String uid, Instant at, String why) {}

  /** A refusal is an answer: the client must not ask again on its own, for minutes. */
  @Inject
  Evictor(KubernetesClient client) {
    this.client =
        client.newClient(new RequestConfigBuilder().withRequestRetryBackoffLimit(0).build());
  }

  /**
   * Asks for each pod once; one that was refused a moment ago is not asked for.
   *
   * @param grace instead of the pod's own grace period
   * @return what stands in the way, by pod
   */
  Map<String, String> evict(List<Pod> pods, Optional<Duration> grace) {
    var now = Instant.now();
    refusals.values().removeIf(refusal -> refusal.at().isBefore(now.minus(FORGET)));
    var refused = new HashMap<String, String>();
    for (var pod : pods) {
      var name = Residents.name(pod);
      recent(pod, now)
          .or(() -> ask(pod, grace).map(why -> remember(pod, now, why)))
          .ifPresent(why -> refused.put(name, why));
    }
    return refused;
  }

  private Optional<String> recent(Pod pod, Instant now) {
    return Optional.ofNullable(refusals.get(Residents.name(pod)))
        .filter(refusal -> refusal.uid().equals(pod.getMetadata().getUid()))
        .filter(refusal -> refusal.at().isAfter(now.minus(RETRY)))
        .map(Refusal::why);
  }

  private String remember(Pod pod, Instant now, String why) {
    refusals.put(Residents.name(pod), new Refusal(pod.getMetadata().getUid(), now, why));
    return why;
  }

  /** Why it was refused. */
  private Optional<String> ask(Pod pod, Optional<Duration> grace) {
    var meta = pod.getMetadata();
    var options =
        new DeleteOptionsBuilder()
            .withPreconditions(new PreconditionsBuilder().withUid(meta.getUid()).build());
    grace.ifPresent(g -> options.withGracePeriodSeconds(g.toSeconds()));
    var eviction =
        new EvictionBuilder()
            .withNewMetadata()
            .withNamespace(meta.getNamespace())
            .withName(meta.getName())
            .endMetadata()
            .withDeleteOptions(options.build())
            .build();
    var path =
        "/api/v1/namespaces/%s/pods/%s/eviction".formatted(meta.getNamespace(), meta.getName());
    try {
      client.raw(path, "POST", eviction);
      return Optional.empty();
    } catch (KubernetesClientException e) {
      return refusal(e);
    }
  }

  /**
   * What an answer says about this pod alone, also a webhook's (400, 422) or one that is late
   * (503): the pods of other nodes go on. Who gets no answer, or is not let in, is not refused.
   */
  static Optional<String> refusal(KubernetesClientException e) {
    return switch (e.getCode()) {
      // gone, or another pod of the same name: neither is ours to evict
      case HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT -> Optional.empty();
      case NO_ANSWER, HttpURLConnection.HTTP_UNAUTHORIZED -> throw e;
      default -> Optional.of(answer(e));
    };
  }

  /**
   * In the API server's words. The budget's name is in a cause ({@code registry/core/pod/storage/
   * eviction.go}); a pod that two budgets select is an internal error there, with a message.
   */
  private static String answer(KubernetesClientException e) {
    var status = Optional.ofNullable(e.getStatus());
    var causes =
        status
            .flatMap(s -> Optional.ofNullable(s.getDetails()))
            .map(details -> details.getCauses())
            .orElse(List.of());
    return causes.isEmpty()
        ? status
            .flatMap(s -> Optional.ofNullable(s.getMessage()))
            .orElseGet(() -> "HTTP " + e.getCode() + ": " + e.getMessage())
        : causes.stream().map(StatusCause::getMessage).collect(Collectors.joining("; "));
  }
}
