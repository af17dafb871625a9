package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;

/** What the operator does about pods that kubelets reject. */
public class TroubleshootingPolicy {
  @Default("false")
  @JsonPropertyDescription(
      "Delete the failed pods that a rejection loop leaves behind: of pods that a kubelet of this"
          + " policy's nodes rejected (TopologyAffinityError, SMTAlignmentError,"
          + " UnexpectedAdmissionError, OutOfcpu and the like) and that a controller has, the newest"
          + " 3 of each owner stay. No other pod is touched. It needs the permission in"
          + " config/cleanup-failed-pods. Default false: they stay, as Kubernetes leaves them.")
  public Boolean cleanupFailedPods = false;
}
