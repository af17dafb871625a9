package io.numaoperator.topology.fit;

import java.util.List;
import java.util.Optional;

/**
 * Who the kubelet's managers are asked for: the whole pod under scope pod, each container else.
 *
 * @param container its name; empty for the whole pod
 * @param needs what it wants of its own, in the kubelet's order: devices, CPUs, memory
 */
public record Claimant(Optional<String> container, List<Need> needs) {
  public Claimant {
    needs = List.copyOf(needs);
  }

  /**
   * All claimants of a pod, each as if it were the first; empty for a pod that gets nothing of its
   * own on this node.
   */
  public static List<Claimant> of(NodeFree node, PodRequest pod) {
    return Admission.claimants(node, pod);
  }
}
