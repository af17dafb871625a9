package io.numaoperator.plan.scheduler;

import io.numaoperator.api.Names;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.ContentHash;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Changes when a scheduler with a cache has to be restarted.
 *
 * <p>NodeResourceTopologyMatch lists the objects once, at its start: a node whose object comes
 * later passes its filter unseen (scheduler-plugins#967). And since its attribute watcher spins a
 * core once its watch closes (#973), it is off, and a node's changed policy or scope needs a
 * restart too. What changes with every pod, zones and fingerprint, is no part of the revision.
 */
public final class TopologyRevision {
  /** Annotation of the scheduler's pods: the revision that they started from. */
  public static final String ANNOTATION = Names.GROUP + "/topology-revision";

  private TopologyRevision() {}

  /** Of all the objects that there are, in any order; empty when there is none. */
  public static Optional<String> ofAny(List<NodeResourceTopology> topologies) {
    return topologies.isEmpty() ? Optional.empty() : Optional.of(of(topologies));
  }

  /** Of these objects, in any order. */
  public static String of(List<NodeResourceTopology> topologies) {
    return ContentHash.of(
        topologies.stream()
            .map(TopologyRevision::line)
            .collect(Collectors.toCollection(TreeSet::new))
            .toString());
  }

  private static String line(NodeResourceTopology topology) {
    return String.join(
        " ",
        topology.getMetadata().getName(),
        // one that was deleted and made anew is a first one again
        Optional.ofNullable(topology.getMetadata().getUid()).orElse("-"),
        attribute(topology, NodeResourceTopology.POLICY_ATTRIBUTE),
        attribute(topology, NodeResourceTopology.SCOPE_ATTRIBUTE),
        attribute(topology, NodeResourceTopology.MAX_NUMA_NODES_ATTRIBUTE));
  }

  private static String attribute(NodeResourceTopology topology, String name) {
    if (topology.attributes == null) {
      return "-";
    }
    return topology.attributes.stream()
        .filter(attribute -> name.equals(attribute.name) && attribute.value != null)
        .map(attribute -> attribute.value)
        .findFirst()
        .orElse("-");
  }
}
