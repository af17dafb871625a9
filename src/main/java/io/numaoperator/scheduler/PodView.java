package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.topology.AccountedPods;
import io.numaoperator.topology.fit.PodRequest;
import io.numaoperator.topology.fit.PodRequests;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;

/**
 * What is kept of a pod.
 *
 * @param node where it is bound; empty while it waits
 * @param created when; ties are broken by uid
 * @param bound when it was bound, to the second; empty while it waits
 * @param version its resourceVersion as a number: among pods of a node that are not admitted yet,
 *     the order of their bindings
 * @param terminal whether it has ended or was rejected, and holds nothing any more
 */
record PodView(
    String uid,
    String namespace,
    String name,
    String scheduler,
    int priority,
    PodRequest request,
    Optional<String> node,
    Optional<String> nominatedNode,
    Instant created,
    Optional<Instant> bound,
    long version,
    boolean terminal) {

  /** The order in which a kubelet sees new pods. */
  static final Comparator<PodView> BY_BINDING =
      Comparator.comparing((PodView pod) -> pod.bound().orElse(Instant.MAX))
          .thenComparingLong(PodView::version)
          .thenComparing(PodView::uid);

  /** The order in which it sees them when several come at once (kubelet.go, HandlePodAdditions). */
  static final Comparator<PodView> BY_AGE =
      Comparator.comparing(PodView::created).thenComparing(PodView::uid);

  static PodView of(Pod pod) {
    var meta = pod.getMetadata();
    var status = Optional.ofNullable(pod.getStatus());
    var created =
        Optional.ofNullable(meta.getCreationTimestamp()).map(Instant::parse).orElse(Instant.MAX);
    return new PodView(
        meta.getUid(),
        meta.getNamespace(),
        meta.getName(),
        Objects.requireNonNullElse(pod.getSpec().getSchedulerName(), "default-scheduler"),
        Objects.requireNonNullElse(pod.getSpec().getPriority(), 0),
        PodRequests.of(pod),
        Optional.ofNullable(pod.getSpec().getNodeName()).filter(name -> !name.isEmpty()),
        status.map(s -> s.getNominatedNodeName()).filter(name -> !name.isEmpty()),
        created,
        status.stream()
            .flatMap(s -> s.getConditions().stream())
            .filter(c -> "PodScheduled".equals(c.getType()) && "True".equals(c.getStatus()))
            .map(c -> c.getLastTransitionTime())
            .filter(Objects::nonNull)
            .map(Instant::parse)
            .findFirst(),
        number(meta.getResourceVersion()),
        status.map(s -> s.getPhase()).filter(PodView::ended).isPresent());
  }

  private static boolean ended(String phase) {
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  /** A resourceVersion; 0 where it is not a number. */
  static long number(String version) {
    try {
      return Long.parseLong(version);
    } catch (NumberFormatException opaque) {
      return 0;
    }
  }

  PodView boundTo(String where, Instant at) {
    return new PodView(
        uid,
        namespace,
        name,
        scheduler,
        priority,
        request,
        Optional.of(where),
        Optional.empty(),
        created,
        Optional.of(at),
        version,
        terminal);
  }

  String mark() {
    return AccountedPods.mark(namespace, name);
  }

  String fullName() {
    return namespace + "/" + name;
  }
}
