package io.numaoperator.explain;

import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.NodeTopology;
import java.util.List;
import java.util.Optional;

/**
 * What is known of a node when something about it is explained.
 *
 * @param node its name
 * @param zones what it has and has free, by zone
 * @param holders the containers that hold something of their own there
 * @param holdersLeftOut how many more there are than the node's agent lists
 */
public record NodeFacts(String node, Zones zones, List<Holder> holders, int holdersLeftOut) {
  public NodeFacts {
    holders = List.copyOf(holders);
  }

  /** What its NodeResourceTopology says. */
  public sealed interface Zones {
    /** Free resources and the kubelet's rules. Pods that are on their way there are not counted. */
    record Known(NodeFree free) implements Zones {}

    /** Nothing that could be used, for this reason. */
    record Unknown(String why) implements Zones {}
  }

  /**
   * From the objects.
   *
   * @param state the node's NumaNodeState; without one it is not known who holds what
   * @param topology the node's NodeResourceTopology, of whatever updater
   */
  public static NodeFacts of(
      String node, Optional<NumaNodeState> state, Optional<NodeResourceTopology> topology) {
    var status = state.flatMap(s -> Optional.ofNullable(s.getStatus()));
    return new NodeFacts(
        node,
        topology
            .map(NodeFacts::zones)
            .orElseGet(() -> new Zones.Unknown("it has no NodeResourceTopology")),
        status.map(NodeFacts::holders).orElse(List.of()),
        status
            .flatMap(s -> Optional.ofNullable(s.containers))
            .flatMap(c -> Optional.ofNullable(c.placedLeftOut))
            .orElse(0));
  }

  private static Zones zones(NodeResourceTopology topology) {
    try {
      return new Zones.Known(NodeTopology.of(topology).free());
    } catch (IllegalArgumentException | ArithmeticException problem) {
      return new Zones.Unknown("its NodeResourceTopology cannot be used: " + problem.getMessage());
    }
  }

  private static List<Holder> holders(NumaNodeStateStatus status) {
    var inventory = Optional.ofNullable(status.inventory);
    return Optional.ofNullable(status.containers).stream()
        .flatMap(c -> c.placed.stream())
        .map(c -> Holder.of(c, inventory.orElseGet(NumaNodeStateStatus.Inventory::new)))
        .toList();
  }
}
