package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * NodeResourceTopologyMatch inside a scheduler that somebody else runs: the operator writes down
 * what its owner has to configure, and touches nothing of it.
 */
public final class ExternalScheduler implements SchedulerProvider {
  /** ConfigMap with what to paste. */
  static final String CONFIG_MAP = "numa-scheduler-to-paste";

  static final String CONFIG_KEY = "profile.yaml";
  static final String RBAC_KEY = "rbac.yaml";
  private static final String PROVIDER = "external";

  private static final String README =
      """
      # The scheduler %s and NUMA
      The operator does not run this scheduler. For it to see zones, its owner

      1. builds it with, or takes an image that has, scheduler-plugins' NodeResourceTopologyMatch;
      2. merges profile.yaml into the profiles of its KubeSchedulerConfiguration;
      3. applies rbac.yaml with the scheduler's own ServiceAccount as subject;
      4. starts it after the NodeResourceTopology objects are there, and restarts it whenever a node
         gets its first one or a node's topology policy changes: it reads both at its start only;
      5. sets spec.scheduler.external.assumeAware to true.

      A way to see that the plugin works: a pod that fits no zone stays Pending with "cannot align pod"
      (or "cannot align container") in its condition PodScheduled.
      """;

  private static final String RBAC =
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: noderesourcetopology-reader
      rules:
      - apiGroups: [topology.node.k8s.io]
        resources: [noderesourcetopologies]
        verbs: [get, list, watch]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata:
        name: noderesourcetopology-reader
      roleRef:
        apiGroup: rbac.authorization.k8s.io
        kind: ClusterRole
        name: noderesourcetopology-reader
      subjects:
      - kind: ServiceAccount
        name: SERVICE-ACCOUNT-OF-THE-SCHEDULER
        namespace: ITS-NAMESPACE
      """;

  /** The name under which it schedules. */
  public static String nameOf(SchedulerPolicy setting) {
    return Optional.ofNullable(setting.external)
        .flatMap(external -> Optional.ofNullable(external.schedulerName))
        .orElse(setting.schedulerName);
  }

  /** Whether its owner says that it sees zones. */
  public static boolean isAssumedAware(SchedulerPolicy setting) {
    return setting.external != null && Boolean.TRUE.equals(setting.external.assumeAware);
  }

  /** What its owner has to do. */
  public static String todo(String namespace, SchedulerPolicy setting) {
    return "whether scheduler %s reads NodeResourceTopology objects cannot be seen from outside:"
            .formatted(nameOf(setting))
        + " configure it as ConfigMap %s/%s says, then set scheduler.external.assumeAware"
            .formatted(namespace, CONFIG_MAP);
  }

  @Override
  public Provision plan(Input input) {
    var name = nameOf(input.setting());
    var namespace = input.facts().namespace();
    var ownership = Ownership.of(Part.SCHEDULER, PROVIDER, input.policies());
    var plugin = NodeResourceTopologyMatch.settings(input.setting());
    return new Provision.Objects(
        PROVIDER,
        List.of(
            new ConfigMapBuilder()
                .withMetadata(ownership.metadata(namespace, CONFIG_MAP))
                .withData(
                    new TreeMap<>(
                        Map.of(
                            "README.md",
                            README.formatted(name),
                            CONFIG_KEY,
                            "profiles:\n" + SchedulerConfig.profile(input.facts(), name, plugin),
                            RBAC_KEY,
                            RBAC)))
                .build()),
        isAssumedAware(input.setting())
            ? List.of()
            : List.of(
                new Provision.Remark("AwaitingSchedulerOwner", todo(namespace, input.setting()))));
  }
}
