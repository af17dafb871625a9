package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.rollout.Wait;
import java.util.Map;

/**
 * What every node of one pass is assessed with; looked up once a pass, not once a node.
 *
 * @param agentPods by the node that each runs on
 * @param publishing who publishes NodeResourceTopology objects
 * @param scheduler how the scheduler that the operator runs is
 * @param namespace the operator's
 * @param openShift what there is of OpenShift
 * @param devices what device plugins are to load, and what runs
 * @param waits what nodes wait for, by node
 */
record ClusterView(
    Map<String, Pod> agentPods,
    Publishing publishing,
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
        cache.shared().map(s -> Publishing.of(s.topologyUpdater())).orElseGet(Publishing::nobody),
        scheduler,
        namespace,
        openShift,
        devices,
        Map.of());
  }

  ClusterView waiting(Map<String, Wait> known) {
    return new ClusterView(agentPods, publishing, scheduler, namespace, openShift, devices, known);
  }
}
