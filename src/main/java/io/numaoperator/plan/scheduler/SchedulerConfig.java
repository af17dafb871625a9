package io.numaoperator.plan.scheduler;

import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;

/**
 * The KubeSchedulerConfiguration. It is decoded strictly: a field that the oldest release in {@link
 * SchedulerRelease} does not know stops its start (checked against apis/config/v1/types.go of
 * v0.32.7, v0.33.5 and v0.34.7; preemptionMode came later). The cache's enums are not validated at
 * all: a misspelled one silently means another mode.
 */
final class SchedulerConfig {
  /** Name of the Lease by which one of the replicas leads. */
  static final String LEASE = "numa-scheduler";

  private SchedulerConfig() {}

  static String yaml(
      ClusterFacts facts,
      SchedulerPolicy setting,
      SchedulerPolicy.NodeResourceTopologyMatch plugin) {
    return """
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      # with one replica too: an update runs two for a moment, and two ledgers would overbook a zone
      leaderElect: true
      resourceLock: leases
      resourceName: %s
      resourceNamespace: %s
    profiles:
    - schedulerName: "%s"
      plugins:
        multiPoint:
          enabled:
          - name: NodeResourceTopologyMatch
      pluginConfig:
      - name: NodeResourceTopologyMatch
        args:
          apiVersion: kubescheduler.config.k8s.io/v1
          kind: NodeResourceTopologyMatchArgs
          scoringStrategy:
            type: %s
            # weights only: all that a pod requests is scored, devices with weight 1
            resources:
            - name: cpu
              weight: 1
            - name: memory
              weight: 1
          cacheResyncPeriodSeconds: %d
          cache:
            # All would hold back a node for each DaemonSet pod of the default scheduler, until its
            # fingerprint matches; only pods with exclusive CPUs or devices change what is free
            foreignPodsDetect: OnlyExclusiveResources
            # by what the node's object says of its fingerprint; NFD's covers all pods
            resyncMethod: Autodetect
            # %s
            informerMode: %s
            # the watcher behind All spins a core once its watch closes (scheduler-plugins#973); the
            # operator restarts this scheduler when a node's topology policy changes
            resyncScope: OnlyResources
    """
        .formatted(
            LEASE,
            facts.namespace(),
            setting.schedulerName,
            plugin.scoring.name(),
            plugin.cacheResyncPeriodSeconds,
            informerReason(facts),
            informerMode(facts));
  }

  /**
   * The pods whose fingerprint the scheduler expects must be those that the kubelet lists. From
   * 1.34 its PodResources API leaves terminated pods out, as Shared does (running pods only);
   * before, it lists them, as Dedicated does (podprovider.go).
   */
  private static String informerMode(ClusterFacts facts) {
    return kubeletListsActivePodsOnly(facts) ? "Shared" : "Dedicated";
  }

  private static String informerReason(ClusterFacts facts) {
    return kubeletListsActivePodsOnly(facts)
        ? "counts running pods only, as kubelets of 1.34 and newer do"
        : "counts terminated pods too, as kubelets before 1.34 do";
  }

  private static boolean kubeletListsActivePodsOnly(ClusterFacts facts) {
    return facts.oldestKubelet().atLeast(34);
  }
}
