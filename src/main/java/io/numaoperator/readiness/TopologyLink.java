package io.numaoperator.readiness;

import static io.numaoperator.readiness.Chain.when;
import static io.numaoperator.readiness.Waiting.listed;

import io.numaoperator.readiness.NodeEvidence.Topology;
import java.util.List;
import java.util.Optional;

/**
 * Whether what is published about a node agrees with its kubelet. Who publishes it does not matter:
 * that an updater's pod runs says nothing about what it writes.
 */
final class TopologyLink {
  private static final Chain<NodeEvidence> CHAIN =
      Chain.of(
          List.of(
              NodeReadiness::inventoryIsAwaited,
              NodeReadiness::agentIsSilent,
              TopologyLink::isNotJudged,
              TopologyLink::isMissing,
              TopologyLink::disagrees),
          e ->
              Verdict.yes(
                  "Published", "the NodeResourceTopology agrees with the kubelet's PodResources"));

  private TopologyLink() {}

  static Verdict judge(NodeEvidence evidence) {
    return CHAIN.judge(evidence);
  }

  private static Optional<Verdict> isNotJudged(NodeEvidence e) {
    return e.topology() instanceof Topology.NotJudged(var why)
        ? Optional.of(Verdict.unknown("NotJudged", why))
        : Optional.empty();
  }

  private static Optional<Verdict> isMissing(NodeEvidence e) {
    return when(
        e.topology() instanceof Topology.Missing,
        () -> Verdict.no("NotPublished", "there is no NodeResourceTopology for this node"));
  }

  private static Optional<Verdict> disagrees(NodeEvidence e) {
    return e.topology() instanceof Topology.Published(var differences) && !differences.isEmpty()
        ? Optional.of(
            Verdict.no(
                "Stale",
                "the NodeResourceTopology differs from the kubelet's PodResources: "
                    + listed(differences)))
        : Optional.empty();
  }
}
