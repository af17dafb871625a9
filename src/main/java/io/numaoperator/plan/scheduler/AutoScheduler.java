package io.numaoperator.plan.scheduler;

import io.numaoperator.plan.Provision;

/**
 * The preferred scheduler where a released image fits the cluster's version, else the other. Any
 * other refusal stands: the other scheduler would meet the same obstacle.
 */
record AutoScheduler(SchedulerProvider preferred, SchedulerProvider otherwise)
    implements SchedulerProvider {
  @Override
  public Provision plan(Input input) {
    return switch (preferred.plan(input)) {
      case Provision.Refused refused when refused.reason().equals(SchedulerRelease.NONE_FITS) ->
          otherwise.plan(input);
      case Provision provision -> provision;
    };
  }
}
