package io.numaoperator.scheduler;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;

/** Whether a pod can go to a node. */
sealed interface Verdict {
  /** Its kubelet does not align the pod, or nothing is known of the node and that is accepted. */
  record Indifferent() implements Verdict {}

  /**
   * Its kubelet will admit it.
   *
   * @param before what was free for it
   */
  record Suits(Fit.Fits fit, NodeFree before) implements Verdict {}

  /** Not now; it would if others went. */
  record NotNow(String message) implements Verdict {}

  /** Not even if all others went. */
  record Never(String message) implements Verdict {}
}
