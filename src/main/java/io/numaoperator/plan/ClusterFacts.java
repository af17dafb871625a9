package io.numaoperator.plan;

import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What a plan has to know of the cluster.
 *
 * @param namespace the operator's own; what it creates lives there
 * @param operatorImage the operator's image, which is the agent's as well
 * @param server version of the API server
 * @param oldestKubelet version of the oldest kubelet among the nodes that the policies select; the
 *     server's where there are none
 * @param vgpuResourcesAllocatable whether HAMi's nvidia.com/gpumem and nvidia.com/gpucores are in
 *     the allocatable of its nodes (HAMi's mockDevicePlugin; off by default)
 * @param release Kubernetes' own release that the API server is built from
 * @param rancher which of k3s and rke2 run the kubelets of nodes that the policies select
 * @param validatingAdmissionPolicies whether the API server serves ValidatingAdmissionPolicy v1
 */
public record ClusterFacts(
    String namespace,
    String operatorImage,
    ClusterVersion server,
    ClusterVersion oldestKubelet,
    boolean vgpuResourcesAllocatable,
    KubernetesRelease release,
    SortedSet<String> rancher,
    boolean validatingAdmissionPolicies) {

  /** The minor version since which an API server has ValidatingAdmissionPolicy v1. */
  private static final int VALIDATING_ADMISSION_POLICIES = 30;

  public ClusterFacts {
    rancher = Collections.unmodifiableSortedSet(new TreeSet<>(rancher));
  }

  /** What an API server of this version serves unless it is told otherwise. */
  public ClusterFacts(
      String namespace,
      String operatorImage,
      ClusterVersion server,
      ClusterVersion oldestKubelet,
      boolean vgpuResourcesAllocatable,
      KubernetesRelease release,
      SortedSet<String> rancher) {
    this(
        namespace,
        operatorImage,
        server,
        oldestKubelet,
        vgpuResourcesAllocatable,
        release,
        rancher,
        server.atLeast(VALIDATING_ADMISSION_POLICIES));
  }

  /** Without k3s and RKE2. */
  public ClusterFacts(
      String namespace,
      String operatorImage,
      ClusterVersion server,
      ClusterVersion oldestKubelet,
      boolean vgpuResourcesAllocatable,
      KubernetesRelease release) {
    this(
        namespace,
        operatorImage,
        server,
        oldestKubelet,
        vgpuResourcesAllocatable,
        release,
        Collections.emptySortedSet());
  }

  /** Where only the minor version is known: its first release. */
  public ClusterFacts(
      String namespace,
      String operatorImage,
      ClusterVersion server,
      ClusterVersion oldestKubelet,
      boolean vgpuResourcesAllocatable) {
    this(
        namespace,
        operatorImage,
        server,
        oldestKubelet,
        vgpuResourcesAllocatable,
        KubernetesRelease.firstOf(server));
  }
}
