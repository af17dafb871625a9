package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.NodeTopology;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is known of a node at one moment.
 *
 * @param topology what its NodeResourceTopology says; empty when it has none
 * @param unreadable why that cannot be used, if so; topology is then empty
 * @param pods bound to it and not ended
 * @param decided what this scheduler decided to bind to it of late, bound by now or not, in the
 *     order of the decisions
 * @param recent uids of those of the pods that were bound so lately that an updater which does not
 *     tell whom it accounts for may not have seen them; not used with one that tells
 * @param nominated waiting pods for which others were evicted here
 */
record NodeView(
    String name,
    Optional<NodeTopology> topology,
    Optional<String> unreadable,
    List<PodView> pods,
    List<PodView> decided,
    Set<String> recent,
    List<PodView> nominated) {
  NodeView {
    pods = List.copyOf(pods);
    decided = List.copyOf(decided);
    recent = Set.copyOf(recent);
    nominated = List.copyOf(nominated);
  }

  /** The pods that will hold something there which the topology does not count, as they come. */
  List<PodView> onTheWay() {
    var known = decided.stream().map(PodView::uid).collect(Collectors.toSet());
    return Stream.concat(
            pods.stream().filter(p -> !known.contains(p.uid())).sorted(PodView.BY_BINDING),
            decided.stream())
        .filter(pod -> !accounted(pod))
        .toList();
  }

  private boolean accounted(PodView pod) {
    return topology
        .flatMap(NodeTopology::accounted)
        .map(accounted -> accounted.contains(pod.mark()))
        .orElseGet(() -> pod.node().isPresent() && !recent.contains(pod.uid()));
  }

  /**
   * Whether a pod of this name that is no longer is still accounted for: until it is not, its
   * successor could not be told from it.
   */
  boolean hasPredecessor(PodView pod) {
    return topology.flatMap(NodeTopology::accounted).stream()
            .anyMatch(accounted -> accounted.contains(pod.mark()))
        && pods.stream().noneMatch(other -> other.uid().equals(pod.uid()));
  }

  /** The same node with other numbers and without these pods. */
  NodeView without(Set<String> gone, NodeTopology other) {
    var uids = new HashSet<>(gone);
    return new NodeView(
        name,
        Optional.of(other),
        Optional.empty(),
        pods.stream().filter(pod -> !uids.contains(pod.uid())).toList(),
        decided.stream().filter(pod -> !uids.contains(pod.uid())).toList(),
        recent,
        nominated);
  }
}
