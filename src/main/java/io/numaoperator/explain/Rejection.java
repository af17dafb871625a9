package io.numaoperator.explain;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.topology.fit.PodRequest;
import io.numaoperator.topology.fit.PodRequests;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * That a kubelet did not admit a pod which was bound to its node, for want of what a NUMA manager
 * hands out. The pod is Failed and stays so; who controls it makes another one.
 *
 * @param pod its namespace/name
 * @param uid its uid
 * @param node whose kubelet it was
 * @param reason status.reason
 * @param message status.message
 * @param at when, to the second
 * @param request what it asked for
 * @param scheduler spec.schedulerName: who bound it
 * @param owner who makes it again; empty for a bare pod
 */
public record Rejection(
    String pod,
    String uid,
    String node,
    String reason,
    String message,
    Instant at,
    PodRequest request,
    String scheduler,
    Optional<Owner> owner) {

  /**
   * The reasons that say so: topologymanager (lifecycle of the Topology Manager), cpumanager
   * (full-pcpus-only), any manager's failed Allocate, and the node's sums, which a scheduler with
   * an old view exceeds (kubernetes v1.36.3, pkg/kubelet/lifecycle/predicate.go).
   */
  public static final Set<String> REASONS =
      Set.of(
          "TopologyAffinityError",
          "SMTAlignmentError",
          "UnexpectedAdmissionError",
          "EmptyPodSharedPoolError",
          "OutOfcpu",
          "OutOfmemory");

  /** Out of an extended resource or hugepages: OutOfnvidia.com/gpu. */
  private static final String OUT_OF = "OutOf";

  /** Empty for a pod that was not rejected in this way. */
  public static Optional<Rejection> of(Pod pod) {
    return Optional.ofNullable(pod.getStatus())
        .filter(status -> "Failed".equals(status.getPhase()))
        .filter(status -> status.getReason() != null && isReason(status.getReason()))
        .filter(status -> pod.getSpec().getNodeName() != null)
        .map(
            status ->
                new Rejection(
                    pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName(),
                    pod.getMetadata().getUid(),
                    pod.getSpec().getNodeName(),
                    status.getReason(),
                    Objects.requireNonNullElse(status.getMessage(), ""),
                    Instant.parse(
                        Objects.requireNonNullElse(
                            status.getStartTime(), pod.getMetadata().getCreationTimestamp())),
                    PodRequests.of(pod),
                    Objects.requireNonNullElse(
                        pod.getSpec().getSchedulerName(), "default-scheduler"),
                    Owner.of(pod)));
  }

  private static boolean isReason(String reason) {
    return REASONS.contains(reason)
        || (reason.startsWith(OUT_OF)
            && (reason.contains("/") || reason.startsWith(OUT_OF + "hugepages-")));
  }

  /**
   * Why, as far as it can be said by what is known of the node now.
   *
   * @param aware the scheduler that sees NUMA nodes; empty where there is none, or it is not known
   */
  public String cause(NodeFacts facts, Optional<String> aware) {
    var answer = NodeAnswer.of(request, facts);
    var why =
        switch (answer.outcome()) {
          case NotNow, Never -> answer.text();
          case Fits, FitsAcross -> message + "; by what is free there now it " + answer.sentence();
          case NotAligned, Unknown -> message;
        };
    return "%s rejected it (%s): %s%s"
        .formatted(
            node,
            reason,
            why,
            aware
                .filter(name -> !name.equals(scheduler))
                .map(
                    name ->
                        "; %s bound it, which does not see NUMA nodes: set spec.schedulerName: %s"
                            .formatted(scheduler, name))
                .orElse(""));
  }

  /** What the pod belongs to, for a person: its owner, or itself. */
  public String subject() {
    return owner.map(Owner::text).orElse("Pod " + pod);
  }
}
