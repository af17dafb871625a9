package io.numaoperator.agent;

import io.numaoperator.agent.PodResources.Container;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The pods that have not ended: pure. What the managers' files hold for others is free: the kubelet
 * drops it before it admits the next pod (removeStaleState of the CPU and Memory Managers,
 * UpdateAllocatedDevices), and until then nothing may make it write the files.
 *
 * @param uids of these pods
 */
record LivingPods(Set<String> uids) {
  /** Holds a directory {@code NAMESPACE_NAME_UID} a pod (kuberuntime, BuildPodLogsDirectory). */
  static final String LOGS = "/var/log/pods";

  /** Below the kubelet's root directory: holds a directory {@code UID} a pod. */
  static final String DIRECTORIES = "pods";

  /**
   * @param containers of living pods, by PodResources, which does not know uids
   * @param logs the names in {@link #LOGS}: uid → namespace and name
   * @param directories the names in {@link #DIRECTORIES}: a pod that was just admitted has no logs
   */
  static LivingPods of(
      Collection<Container> containers, Collection<String> logs, Collection<String> directories) {
    var living =
        containers.stream().map(c -> c.namespace() + "_" + c.pod()).collect(Collectors.toSet());
    var uids = new TreeSet<>(directories);
    for (var log : logs) {
      int uid = log.lastIndexOf('_') + 1;
      if (uid > 0 && !living.contains(log.substring(0, uid - 1))) {
        uids.remove(log.substring(uid));
      }
    }
    return new LivingPods(uids);
  }

  boolean contains(String uid) {
    return uids.contains(uid);
  }
}
