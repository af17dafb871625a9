package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.NodeTopology;
import io.numaoperator.topology.fit.PodRequest;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Decides on one node.
 *
 * @param unknownNodes what to do with a node that has no NodeResourceTopology
 * @param fits what a kubelet would say
 */
record Judge(UnknownNodes unknownNodes, FitModel fits) {

  /** What to do with a node that has no NodeResourceTopology. */
  enum UnknownNodes {
    Allow,
    Deny
  }

  Verdict judge(NodeView node, PodView pod) {
    if (takesNothing(pod.request())) {
      return new Verdict.Indifferent();
    }
    if (node.topology().isEmpty()) {
      return unknown(node);
    }
    if (node.hasPredecessor(pod)) {
      return new Verdict.NotNow("a former pod of this name is not gone from the node yet");
    }
    return switch (onTopOf(node, pod)) {
      // only who does not fit now can be one who never will
      case Verdict.NotNow no ->
          fits.of(node.topology().get().free().empty(), pod.request())
                  instanceof Fit.DoesNotFit never
              ? new Verdict.Never("even when empty: " + never.message())
              : no;
      case Verdict verdict -> verdict;
    };
  }

  /** No exclusive CPU, no pinned memory, no device, on whatever node. */
  private static boolean takesNothing(PodRequest request) {
    return (!request.guaranteed() || request.podLevelResources())
        && request.containers().stream().allMatch(c -> c.devices().isEmpty());
  }

  private Verdict unknown(NodeView node) {
    if (node.unreadable().isPresent()) {
      return new Verdict.Never(
          "its NodeResourceTopology cannot be used: " + node.unreadable().get());
    }
    return switch (unknownNodes) {
      case Allow -> new Verdict.Indifferent();
      case Deny -> new Verdict.Never("it has no NodeResourceTopology");
    };
  }

  /**
   * The kubelet admits pods as they are bound, or by age when several reach it at once: the pod,
   * and all on their way before it, must be admitted either way. Then what others were evicted for
   * is kept, as kube-scheduler keeps it of the node's sums (RunFilterPluginsWithNominatedPods).
   */
  private Verdict onTopOf(NodeView node, PodView pod) {
    var free = node.topology().orElseThrow().free();
    var before = node.onTheWay().stream().filter(p -> !p.uid().equals(pod.uid())).toList();
    var verdict = admit(free, append(before, pod), pod);
    if (verdict instanceof Verdict.Suits && !before.isEmpty()) {
      var byAge = append(before, pod).stream().sorted(PodView.BY_AGE).toList();
      verdict = worse(verdict, admit(free, byAge, pod));
    }
    return verdict instanceof Verdict.Suits suits ? beside(node.nominated(), pod, suits) : verdict;
  }

  private static Verdict worse(Verdict one, Verdict other) {
    return other instanceof Verdict.Suits ? one : other;
  }

  private Verdict beside(List<PodView> nominated, PodView pod, Verdict.Suits suits) {
    var left = suits.before();
    for (var other : nominated) {
      if (other.priority() >= pod.priority()
          && !other.uid().equals(pod.uid())
          && fits.of(left, other.request()) instanceof Fit.Fits beside) {
        left = beside.after();
        if (fits.of(left, pod.request()) instanceof Fit.DoesNotFit no) {
          return new Verdict.NotNow(
              "%s (kept for pod %s, for which others were evicted)"
                  .formatted(no.message(), other.fullName()));
        }
      }
    }
    return suits;
  }

  private Verdict admit(NodeFree free, List<PodView> order, PodView pod) {
    Verdict verdict = new Verdict.Indifferent();
    var left = free;
    for (var next : order) {
      switch (fits.of(left, next.request())) {
        case Fit.Fits there -> {
          if (next.equals(pod)) {
            verdict = new Verdict.Suits(there, left);
          }
          left = there.after();
        }
        case Fit.DoesNotFit no when next.equals(pod) -> {
          return new Verdict.NotNow(no.message() + onTheWay(order.indexOf(next)));
        }
        case Fit.DoesNotFit _ -> {
          return new Verdict.NotNow(
              "pod %s is on its way there and its zone is not known yet"
                  .formatted(next.fullName()));
        }
        case Fit.NotAligned _ -> {}
      }
    }
    return verdict;
  }

  private static String onTheWay(int pods) {
    return pods == 0 ? "" : " (less %d %s on the way)".formatted(pods, pods == 1 ? "pod" : "pods");
  }

  private static List<PodView> append(List<PodView> pods, PodView pod) {
    return Stream.concat(pods.stream(), Stream.of(pod)).toList();
  }

  /**
   * Whether the pod would be admitted with these pods gone. A pod whose zone is not known, or that
   * has several, frees nothing that could be counted on.
   */
  boolean suitsWithout(NodeView node, PodView pod, Collection<String> victims) {
    if (node.topology().isEmpty()) {
      return !(judge(node, pod) instanceof Verdict.Never);
    }
    var topology = node.topology().get();
    var free = topology.free();
    for (var victim : node.pods()) {
      var zones =
          topology.accounted().map(a -> a.zones().get(victim.mark())).stream()
              .flatMap(Collection::stream)
              .toList();
      if (victims.contains(victim.uid()) && zones.size() == 1) {
        free = free.without(victim.request(), zones.getFirst());
      }
    }
    var after = node.without(Set.copyOf(victims), new NodeTopology(free, topology.accounted()));
    return switch (judge(after, pod)) {
      case Verdict.Suits _, Verdict.Indifferent _ -> true;
      case Verdict.NotNow _, Verdict.Never _ -> false;
    };
  }
}
