package io.numaoperator.plan.updater;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Provision;
import java.util.List;

/** One way to have NodeResourceTopology objects published. */
public interface TopologyUpdaterProvider {
  /** Whether the operator's agent publishes, and so needs the permission. */
  boolean publishedByAgent();

  /** What to apply for it. */
  Provision plan(Input input);

  /**
   * What it is planned from.
   *
   * @param policies all policies, whose nodes it has to cover
   * @param setting the one that holds ({@link io.numaoperator.plan.SharedSettings})
   */
  record Input(ClusterFacts facts, List<NumaPolicy> policies, TopologyUpdaterPolicy setting) {
    public Input {
      policies = List.copyOf(policies);
    }
  }
}
