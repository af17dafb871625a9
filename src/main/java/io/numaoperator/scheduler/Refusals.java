package io.numaoperator.scheduler;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which waiting pods were refused on which nodes, and whether one of them would be accepted by now.
 * Safe for use by several threads.
 */
final class Refusals {
  private final Map<String, Refused> pods = new HashMap<>();
  private final Set<String> changed = new HashSet<>();
  private Set<String> last = Set.of();

  /**
   * @param nodes where it was refused; empty for "nobody remembers", which means anywhere
   */
  private record Refused(PodView pod, Optional<Set<String>> nodes) {
    boolean on(String node) {
      return nodes.map(n -> n.contains(node)).orElse(true);
    }
  }

  /** A pod that waited when this process began. */
  synchronized void found(PodView pod) {
    pods.putIfAbsent(pod.uid(), new Refused(pod, Optional.empty()));
  }

  /**
   * That a pod was filtered.
   *
   * @param refusedOn the nodes that were refused; empty when another one suits
   */
  synchronized void filtered(PodView pod, Set<String> refusedOn) {
    if (refusedOn.isEmpty()) {
      pods.remove(pod.uid());
      return;
    }
    // many pods are refused on the same thousands of nodes
    if (!refusedOn.equals(last)) {
      last = Set.copyOf(refusedOn);
    }
    pods.put(pod.uid(), new Refused(pod, Optional.of(last)));
  }

  synchronized void gone(String uid) {
    pods.remove(uid);
  }

  /** That something is different on a node. */
  synchronized void changed(String node) {
    if (!pods.isEmpty()) {
      changed.add(node);
    }
  }

  /**
   * One of the changed nodes where a refused pod would be accepted. One is enough: any event makes
   * kube-scheduler look again at all pods that an extender refused.
   */
  synchronized Optional<String> worthAnotherLook(ClusterState state, Judge judge) {
    var nodes = Set.copyOf(changed);
    changed.clear();
    for (var node : nodes) {
      var view = state.node(node);
      var requests = new HashSet<>();
      for (var refused : pods.values()) {
        if (refused.on(node)
            && requests.add(refused.pod().request())
            && judge.judge(view, refused.pod()) instanceof Verdict.Suits) {
          return Optional.of(node);
        }
      }
    }
    return Optional.empty();
  }

  /** That kube-scheduler looks again: who is refused then will be told here again. */
  synchronized void told() {
    pods.clear();
  }
}
