package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.plan.delivery.OpenShiftFacts;
import io.numaoperator.rollout.Wait;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What every node of one pass is assessed with; looked up once a pass, not once a node.
 *
 * @param agentPods the agent pod of a node
 * @param agentTemplate what agents are made from now; empty when that is not known yet
 * @param publishing who publishes NodeResourceTopology objects
 * @param scheduler how the scheduler that the operator runs is
 * @param namespace the operator's
 * @param openShift what there is of OpenShift
 * @param devices what device plugins are to load, and what runs
 * @param plans what was found of nodes before
 * @param waits what nodes wait for, by node
 */
record ClusterView(
    Function<String, Optional<Pod>> agentPods,
    String agentTemplate,
    Publishing publishing,
    SchedulerState scheduler,
    String namespace,
    OpenShiftFacts openShift,
    DeviceView devices,
    Map<String, Wait> waits,
    Plans plans) {

  static ClusterView of(
      ClusterCache cache,
      String agentTemplate,
      SchedulerState scheduler,
      String namespace,
      OpenShiftFacts openShift,
      DeviceView devices,
      Plans plans) {
    return new ClusterView(
        cache::agentPod,
        agentTemplate,
        cache.shared().map(s -> Publishing.of(s.topologyUpdater())).orElseGet(Publishing::nobody),
        scheduler,
        namespace,
        openShift,
        devices,
        Map.of(),
        plans);
  }

  /**
   * The nodes for which this one may say something else than a former one; empty when it says the
   * same. Of schedulers, OpenShift, pods and waits others tell.
   */
  Optional<Predicate<String>> differsFrom(ClusterView former) {
    return agentTemplate.equals(former.agentTemplate) && publishing.equals(former.publishing)
        ? devices.differsFrom(former.devices)
        : Optional.of(node -> true);
  }

  ClusterView waiting(Map<String, Wait> known) {
    return new ClusterView(
        agentPods,
        agentTemplate,
        publishing,
        scheduler,
        namespace,
        openShift,
        devices,
        known,
        plans);
  }
}
