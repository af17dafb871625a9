package io.numaoperator.plan.scheduler;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Provision;
import java.util.List;

/** One scheduler that the operator can run. */
public interface SchedulerProvider {
  /** What to apply for it. */
  Provision plan(Input input);

  /**
   * What it is planned from.
   *
   * @param policies all policies
   * @param setting the one that holds ({@link io.numaoperator.plan.SharedSettings})
   * @param seen what was looked up for it
   */
  record Input(
      ClusterFacts facts, List<NumaPolicy> policies, SchedulerPolicy setting, SchedulerFacts seen) {
    public Input {
      policies = List.copyOf(policies);
    }
  }
}
