package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.rollout.Wait;
import java.util.Map;

/**
 * What every node of one pass is assessed with; looked up once a pass, not once a node.
 *
 * @param agentPods by the node that each runs on
 * @param agentPublishes whether the agents publish NodeResourceTopology objects
 * @param scheduler how the scheduler that the operator runs is
 * @param waits what nodes wait for, by node
 */
record ClusterView(
    Map<String, Pod> agentPods,
    boolean agentPublishes,
    SchedulerState scheduler,
    Map<String, Wait> waits) {

  static ClusterView of(ClusterCache cache, SchedulerState scheduler, Map<String, Wait> waits) {
    return new ClusterView(
        cache.agentPodsByNode(),
        cache
            .shared()
            .map(s -> TopologyUpdaterProviders.of(s.topologyUpdater().provider).publishedByAgent())
            .orElse(false),
        scheduler,
        waits);
  }
}
