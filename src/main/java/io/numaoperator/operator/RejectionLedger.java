package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.explain.Loop;
import io.numaoperator.explain.Rejection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/**
 * The pods that were rejected, as a watch told of them. What it tells is taken in later, and in its
 * order: a pod may be gone before anybody looked at it. One thread tells, one takes in and reads.
 */
final class RejectionLedger {
  private final Queue<Change> changes = new ConcurrentLinkedQueue<>();
  private final Map<String, Rejected> pods = new HashMap<>();

  /**
   * A rejected pod.
   *
   * @param version its resourceVersion
   * @param gone whether it was deleted, or is on its way out; it still counts for the loop that it
   *     was part of
   */
  record Rejected(Rejection rejection, String version, boolean gone) {
    private Rejected asGone() {
      return new Rejected(rejection, version, true);
    }

    private boolean isOver(Instant now) {
      return gone && rejection.at().isBefore(now.minus(Loop.WINDOW));
    }
  }

  private sealed interface Change {
    record Seen(Rejected pod, boolean isNew) implements Change {}

    record Gone(String uid) implements Change {}
  }

  /** Pods that were not rejected are passed over. */
  void tell(Pod pod, boolean isNew) {
    var meta = pod.getMetadata();
    Rejection.of(pod)
        .map(r -> new Rejected(r, meta.getResourceVersion(), meta.getDeletionTimestamp() != null))
        .ifPresent(rejected -> changes.add(new Change.Seen(rejected, isNew)));
  }

  void tellGone(String uid) {
    changes.add(new Change.Gone(uid));
  }

  /**
   * Takes in what was told.
   *
   * @param isOurs whether a node's pods are kept
   * @return the rejections that are new
   */
  List<Rejection> takeIn(Predicate<String> isOurs) {
    var fresh = new ArrayList<Rejection>();
    for (var change = changes.poll(); change != null; change = changes.poll()) {
      switch (change) {
        case Change.Gone(var uid) -> pods.computeIfPresent(uid, (u, pod) -> pod.asGone());
        case Change.Seen(var pod, var isNew) -> {
          if (isOurs.test(pod.rejection().node())) {
            pods.put(pod.rejection().uid(), pod);
            if (isNew) {
              fresh.add(pod.rejection());
            }
          }
        }
      }
    }
    return fresh;
  }

  /** Those that are gone and count for no loop any more are forgotten. */
  void forget(Instant now) {
    pods.values().removeIf(pod -> pod.isOver(now));
  }

  Collection<Rejected> pods() {
    return List.copyOf(pods.values());
  }
}
