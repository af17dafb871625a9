package io.numaoperator.plan.scheduler;

import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    """
            .formatted(LEASE, facts.namespace())
        + profile(facts, setting.schedulerName, plugin);
  }

  /** One entry of profiles: what makes a scheduler see zones. */
  static String profile(
      ClusterFacts facts, String schedulerName, SchedulerPolicy.NodeResourceTopologyMatch plugin) {
    return """
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
            # weights only: all that a pod requests is scored, what is not named with weight 1
            resources:
    %s
          cacheResyncPeriodSeconds: %d
          cache:
            # All would hold back a node for each DaemonSet pod of the default scheduler, until its
            # fingerprint matches; only pods with exclusive CPUs or devices change what is free
            foreignPodsDetect: %s
            # by what the node's object says of its fingerprint; NFD's covers all pods
            resyncMethod: %s
            # %s
            informerMode: %s
            # the watcher behind All spins a core once its watch closes (scheduler-plugins#973):
            # restart the scheduler when a node's topology policy changes
            resyncScope: OnlyResources
    """
        .formatted(
            schedulerName,
            plugin.scoringStrategy.type.name(),
            weights(plugin.scoringStrategy),
            plugin.cacheResyncPeriodSeconds,
            plugin.cache.foreignPodsDetect.name(),
            plugin.cache.resyncMethod.name(),
            informerReason(facts, plugin),
            informerMode(facts, plugin));
  }

  private static String weights(SchedulerPolicy.ScoringStrategy strategy) {
    var lines =
        strategy.resources.isEmpty()
            ? Stream.of("cpu", "memory").map(name -> weight(name, 1))
            : strategy.resources.stream().map(r -> weight(r.name, r.weight));
    return lines.collect(Collectors.joining("\n"));
  }

  private static String weight(String name, int weight) {
    return "        - name: %s\n          weight: %d".formatted(name, weight);
  }

  /**
   * The pods whose fingerprint the scheduler expects must be those that the kubelet lists. From
   * 1.34 its PodResources API leaves terminated pods out, as Shared does (running pods only);
   * before, it lists them, as Dedicated does (podprovider.go).
   */
  private static String informerMode(
      ClusterFacts facts, SchedulerPolicy.NodeResourceTopologyMatch plugin) {
    return switch (plugin.cache.informerMode) {
      case Auto -> kubeletListsActivePodsOnly(facts) ? "Shared" : "Dedicated";
      case Shared, Dedicated -> plugin.cache.informerMode.name();
    };
  }

  private static String informerReason(
      ClusterFacts facts, SchedulerPolicy.NodeResourceTopologyMatch plugin) {
    return switch (informerMode(facts, plugin)) {
      case "Shared" -> "counts running pods only, as kubelets of 1.34 and newer do";
      default -> "counts terminated pods too, as kubelets before 1.34 do";
    };
  }

  private static boolean kubeletListsActivePodsOnly(ClusterFacts facts) {
    return facts.oldestKubelet().atLeast(34);
  }
}
