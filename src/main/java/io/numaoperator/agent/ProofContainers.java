package io.numaoperator.agent;

import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import java.util.ArrayList;
import java.util.Set;

/** Pure: proof pods are told, and nobody's workload. */
final class ProofContainers {
  private ProofContainers() {}

  /**
   * Takes the containers of these pods out of all numbers and lists but their own. What is
   * separated already stays so: the same report may be published again.
   *
   * @param pods namespace/name
   */
  static void separate(Containers containers, Set<String> pods) {
    var theirs = containers.placed.stream().filter(c -> pods.contains(c.pod)).toList();
    if (theirs.isEmpty()) {
      return;
    }
    theirs.forEach(container -> uncount(containers, container));
    containers.placed = containers.placed.stream().filter(c -> !pods.contains(c.pod)).toList();
    var proofs = new ArrayList<PlacedContainer>();
    if (containers.proofs != null) {
      proofs.addAll(containers.proofs);
    }
    proofs.addAll(theirs);
    containers.proofs = proofs;
  }

  private static void uncount(Containers containers, PlacedContainer container) {
    switch (container.placement) {
      case Aligned -> containers.aligned--;
      case CrossNUMA -> containers.crossNuma--;
      case NotPinned -> containers.notPinned--;
      case Unknown -> containers.unknown = oneLess(containers.unknown);
      case Unsupported -> containers.unsupported = oneLess(containers.unsupported);
    }
  }

  /** Absent when there are none. */
  private static Integer oneLess(Integer count) {
    return count == null || count <= 1 ? null : count - 1;
  }
}
