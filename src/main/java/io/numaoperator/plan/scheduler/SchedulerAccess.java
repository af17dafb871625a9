package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.plan.Access;
import java.util.List;

/** What a kube-scheduler beside the cluster's own may do. */
record SchedulerAccess(Access access) {
  private static final String NAME = NodeResourceTopologyMatch.NAME;

  HasMetadata serviceAccount() {
    return access.serviceAccount();
  }

  /** For a plugin that watches them itself. */
  List<HasMetadata> topologyReader() {
    return List.of(
        access.clusterRole(
            NAME,
            List.of(
                Access.rule(
                    "topology.node.k8s.io",
                    List.of("noderesourcetopologies"),
                    "get",
                    "list",
                    "watch"))),
        access.clusterRoleBinding(NAME, NAME));
  }

  /** What every kube-scheduler needs, with a Lease of its own. */
  List<HasMetadata> kubeScheduler() {
    return List.of(
        // the API server's own roles follow the cluster's version
        access.clusterRoleBinding(NAME + "-kube-scheduler", "system:kube-scheduler"),
        access.clusterRoleBinding(NAME + "-volume-scheduler", "system:volume-scheduler"),
        // system:kube-scheduler allows a Lease named kube-scheduler only
        access.role(
            NAME,
            List.of(
                Access.rule("coordination.k8s.io", List.of("leases"), "create"),
                Access.rule("coordination.k8s.io", List.of("leases"), "get", "update")
                    .edit()
                    .withResourceNames(SchedulerConfig.LEASE)
                    .build())),
        access.roleBinding(NAME, NAME));
  }
}
