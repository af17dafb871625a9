package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.rollout.Wait;
import java.util.Map;

/**
 * What every node of one pass is assessed with; looked up once a pass, not once a node.
 *
 * @param agentPods by the node that each runs on
 * @param agentPublishes whether the agents publish NodeResourceTopology objects
 * @param scheduler how the scheduler that the operator runs is
 * @param namespace the operator's
 * @param openShift what there is of OpenShift
 * @param devices what device plugins are to load, and what runs
 * @param waits what nodes wait for, by node
 */
record ClusterView(
    Map<String, Pod> agentPods,
    boolean agentPublishes,
    SchedulerState scheduler,
    String namespace,
    OpenShiftFacts openShift,
    DeviceView devices,
    Map<String, Wait> waits) {

  static ClusterView of(
      ClusterCache cache,
      SchedulerState scheduler,
      String namespace,
      OpenShiftFacts openShift,
      DeviceView devices) {
    return new ClusterView(
        cache.agentPodsByNode(),
        cache
            .shared()
            .map(s -> TopologyUpdaterProviders.of(s.topologyUpdater().provider).publishedByAgent())
            .orElse(false),
        scheduler,
        namespace,
        openShift,
        devices,
        Map.of());
  }

  ClusterView waiting(Map<String, Wait> known) {
    return new ClusterView(
        agentPods, agentPublishes, scheduler, namespace, openShift, devices, known);
  }
}
