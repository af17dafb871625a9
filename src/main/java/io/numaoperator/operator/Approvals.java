package io.numaoperator.operator;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.api.NumaPolicyStatus.Approved;
import io.numaoperator.rollout.Approval;
import io.numaoperator.rollout.Approval.Noted;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The approval of a plan, read from and written to a policy. */
final class Approvals {
  private Approvals() {}

  /**
   * @param nodePlans the plans that the policy's nodes have now
   */
  static Approval of(NumaPolicy policy, Collection<String> nodePlans) {
    return Approval.of(
        Optional.ofNullable(policy.getSpec().approvedPlan), noted(policy), nodePlans);
  }

  /** For who sees one node only: by what the policy's status says. */
  static Approval recorded(NumaPolicy policy) {
    var approval = of(policy, List.of());
    return new Approval(
        approval.demanded(),
        status(policy).flatMap(s -> Optional.ofNullable(s.plan)).map(p -> p.hash),
        approval.nodePlans());
  }

  /** Whether nodes have to be judged anew. */
  static boolean differ(NumaPolicy old, NumaPolicy policy) {
    return !Objects.equals(recorded(old), recorded(policy));
  }

  static Optional<Approved> wire(Approval approval) {
    return approval
        .noted()
        .map(
            noted -> {
              var approved = new Approved();
              approved.plan = noted.plan();
              approved.nodePlans = noted.nodePlans();
              return approved;
            });
  }

  private static Optional<Noted> noted(NumaPolicy policy) {
    return status(policy)
        .flatMap(s -> Optional.ofNullable(s.approved))
        .map(a -> new Noted(a.plan, a.nodePlans));
  }

  private static Optional<NumaPolicyStatus> status(NumaPolicy policy) {
    return Optional.ofNullable(policy.getStatus());
  }
}
