package io.numaoperator.topology.fit;

import java.util.Optional;
import java.util.Set;

/**
 * The Topology Manager's choice for a container.
 *
 * @param mask the zones; empty for "no opinion"
 */
record Affinity(Optional<Long> mask, boolean preferred) {
  /** What a container has under policy none: the zero value of the kubelet's TopologyHint. */
  static final Affinity NONE = new Affinity(Optional.empty(), false);

  Set<Integer> zones() {
    return mask.map(Masks::zones).orElse(Set.of());
  }
}
