package io.numaoperator.operator;

import io.numaoperator.api.NumaNodeStateSpec.DesiredTopology;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.rollout.Durations;
import java.util.Optional;

/**
 * Who publishes NodeResourceTopology objects.
 *
 * @param byAgent the agents do
 * @param lagSeconds how late somebody else may be
 */
record Publishing(boolean byAgent, int lagSeconds) {
  /** For a look at the node and a write, beside the interval between two looks. */
  private static final int SLACK_SECONDS = 15;

  static Publishing nobody() {
    return new Publishing(false, 0);
  }

  static Publishing of(TopologyUpdaterPolicy setting) {
    return TopologyUpdaterProviders.of(setting.provider).publishedByAgent()
        ? new Publishing(true, 0)
        : new Publishing(
            false, (int) Durations.parse(setting.interval).toSeconds() + SLACK_SECONDS);
  }

  DesiredTopology desired() {
    return desired(byAgent);
  }

  /**
   * The same where nothing may be changed: an agent that publishes goes on, for those who read it,
   * and none begins.
   *
   * @param former what the node's agent was told before
   */
  DesiredTopology observed(Optional<DesiredTopology> former) {
    return former.filter(topology -> topology.publish).orElseGet(() -> desired(false));
  }

  private DesiredTopology desired(boolean publish) {
    var desired = new DesiredTopology();
    desired.publish = publish;
    desired.lagSeconds = byAgent ? null : lagSeconds;
    return desired;
  }
}
