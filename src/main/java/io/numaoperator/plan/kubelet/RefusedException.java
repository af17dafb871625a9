package io.numaoperator.plan.kubelet;

/** A refusal on its way up to {@link KubeletPlanner}; it never leaves this package. */
@SuppressWarnings("serial") // it is never serialised
final class RefusedException extends Exception {
  final KubeletPlan.Refused refused;

  RefusedException(String reason, String message, Object... arguments) {
    super(reason, null, false, false);
    this.refused = new KubeletPlan.Refused(reason, message.formatted(arguments));
  }
}
