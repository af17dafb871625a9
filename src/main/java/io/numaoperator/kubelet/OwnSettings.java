package io.numaoperator.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.topology.CpuSet;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The node's own settings: what its kubelet would run with if nothing of the operator's were on the
 * node. A plan is made from these and not from what runs, so that it does not depend on what was
 * planned before.
 */
public final class OwnSettings {
  private OwnSettings() {}

  /**
   * Takes the operator's values out of what a kubelet runs with. What we wrote, into a drop-in or
   * into the main file, is replaced by what the node's own files say; all else is the running
   * kubelet's word, since it knows more than files do (flags, what a distribution passes inside its
   * own process).
   *
   * @param running as /configz shows them, or as its files say it
   * @param files what the node's files without ours come to ({@link ConfigFiles}), in the same form
   * @param ours what we wrote; where that is the main file, all of it
   * @param byFlag the fields that the command line sets, which wins over both
   */
  public static KubeletFragment without(
      KubeletFragment running,
      KubeletFragment files,
      KubeletFragment ours,
      Collection<String> byFlag) {
    return new Taken(running, files, ours, byFlag).settings();
  }

  /**
   * What a kubelet shows that runs with a drop-in over its own settings, as RFC 7386 merges them.
   */
  public static KubeletFragment with(KubeletFragment own, KubeletFragment dropIn) {
    var shown = written(own, dropIn);
    countReservedCpus(shown);
    return shown;
  }

  /**
   * What the files of such a kubelet say then. A kubelet that is judged by its files is compared
   * with this: what it makes of them at its start is never seen.
   */
  public static KubeletFragment written(KubeletFragment own, KubeletFragment dropIn) {
    var merged = new KubeletFragment();
    merged.cpuManagerPolicy = or(dropIn.cpuManagerPolicy, own.cpuManagerPolicy);
    merged.cpuManagerPolicyOptions =
        "none".equals(dropIn.cpuManagerPolicy) // the file says null then (DropIn)
            ? null
            : over(own.cpuManagerPolicyOptions, dropIn.cpuManagerPolicyOptions);
    merged.reservedSystemCPUs = or(dropIn.reservedSystemCPUs, own.reservedSystemCPUs);
    merged.memoryManagerPolicy = or(dropIn.memoryManagerPolicy, own.memoryManagerPolicy);
    merged.reservedMemory = or(dropIn.reservedMemory, own.reservedMemory);
    merged.topologyManagerPolicy = or(dropIn.topologyManagerPolicy, own.topologyManagerPolicy);
    merged.topologyManagerScope = or(dropIn.topologyManagerScope, own.topologyManagerScope);
    merged.topologyManagerPolicyOptions =
        over(own.topologyManagerPolicyOptions, dropIn.topologyManagerPolicyOptions);
    merged.kubeReserved = over(own.kubeReserved, dropIn.kubeReserved);
    merged.systemReserved = over(own.systemReserved, dropIn.systemReserved);
    merged.evictionHard = over(own.evictionHard, dropIn.evictionHard);
    merged.kubeReservedCgroup = or(dropIn.kubeReservedCgroup, own.kubeReservedCgroup);
    merged.systemReservedCgroup = or(dropIn.systemReservedCgroup, own.systemReservedCgroup);
    merged.enforceNodeAllocatable = or(dropIn.enforceNodeAllocatable, own.enforceNodeAllocatable);
    return merged;
  }

  /**
   * As the kubelet does at its start (cmd/kubelet/app/server.go, run): with reservedSystemCPUs it
   * drops kubeReserved.cpu and sets systemReserved.cpu. /configz shows the latter only where the
   * map was there before, since a new one is no longer the one that /configz was given.
   */
  static void countReservedCpus(KubeletFragment settings) {
    var cpus = ConfigComparison.canonical(settings.reservedSystemCPUs);
    if (cpus.isEmpty()) {
      return;
    }
    if (settings.kubeReserved != null) {
      settings.kubeReserved = new TreeMap<>(settings.kubeReserved);
      settings.kubeReserved.remove("cpu");
    }
    if (settings.systemReserved != null && !settings.systemReserved.isEmpty()) {
      settings.systemReserved = new TreeMap<>(settings.systemReserved);
      CpuSet.tryParse(cpus)
          .ifPresent(set -> settings.systemReserved.put("cpu", Integer.toString(set.size())));
    }
  }

  private static <T> T or(T first, T second) {
    return first == null ? second : first;
  }

  private static Map<String, String> over(Map<String, String> own, Map<String, String> dropIn) {
    if (own == null || dropIn == null) {
      return own == null ? dropIn : own;
    }
    var merged = new TreeMap<>(own);
    merged.putAll(dropIn);
    return merged;
  }

  /** Field by field; of maps that merge, key by key. */
  private record Taken(
      KubeletFragment running,
      KubeletFragment files,
      KubeletFragment ours,
      Collection<String> byFlag) {
    KubeletFragment settings() {
      var own = new KubeletFragment();
      own.cpuManagerPolicy = one(ManagedField.CPU_MANAGER_POLICY, s -> s.cpuManagerPolicy);
      own.cpuManagerPolicyOptions =
          "none".equals(ours.cpuManagerPolicy)
              ? files.cpuManagerPolicyOptions
              : keys(ManagedField.CPU_MANAGER_POLICY_OPTIONS, s -> s.cpuManagerPolicyOptions);
      own.reservedSystemCPUs = one(ManagedField.RESERVED_SYSTEM_CPUS, s -> s.reservedSystemCPUs);
      own.memoryManagerPolicy = one(ManagedField.MEMORY_MANAGER_POLICY, s -> s.memoryManagerPolicy);
      own.reservedMemory = one(ManagedField.RESERVED_MEMORY, s -> s.reservedMemory);
      own.topologyManagerPolicy =
          one(ManagedField.TOPOLOGY_MANAGER_POLICY, s -> s.topologyManagerPolicy);
      own.topologyManagerScope =
          one(ManagedField.TOPOLOGY_MANAGER_SCOPE, s -> s.topologyManagerScope);
      own.topologyManagerPolicyOptions =
          keys(ManagedField.TOPOLOGY_MANAGER_POLICY_OPTIONS, s -> s.topologyManagerPolicyOptions);
      own.kubeReserved = reserved(ManagedField.KUBE_RESERVED, s -> s.kubeReserved);
      own.systemReserved = reserved(ManagedField.SYSTEM_RESERVED, s -> s.systemReserved);
      own.evictionHard = keys(ManagedField.EVICTION_HARD, s -> s.evictionHard);
      own.kubeReservedCgroup = one(ManagedField.KUBE_RESERVED_CGROUP, s -> s.kubeReservedCgroup);
      own.systemReservedCgroup =
          one(ManagedField.SYSTEM_RESERVED_CGROUP, s -> s.systemReservedCgroup);
      own.enforceNodeAllocatable =
          one(ManagedField.ENFORCE_NODE_ALLOCATABLE, s -> s.enforceNodeAllocatable);
      return own;
    }

    private <T> T one(ManagedField field, Function<KubeletFragment, T> value) {
      return value.apply(ours) == null || byFlag.contains(field.fieldName())
          ? value.apply(running)
          : value.apply(files);
    }

    private Map<String, String> keys(
        ManagedField field, Function<KubeletFragment, Map<String, String>> map) {
      if (map.apply(ours) == null || byFlag.contains(field.fieldName())) {
        return map.apply(running);
      }
      var own = copy(map.apply(running));
      map.apply(ours).keySet().forEach(key -> put(own, key, map.apply(files)));
      return own.isEmpty() ? null : own;
    }

    /** With their cpu, which the kubelet itself rewrote because of our reservedSystemCPUs. */
    private Map<String, String> reserved(
        ManagedField field, Function<KubeletFragment, Map<String, String>> map) {
      var found = keys(field, map);
      if (ours.reservedSystemCPUs == null) {
        return found;
      }
      var own = copy(found);
      put(own, "cpu", map.apply(files));
      return own.isEmpty() ? null : own;
    }

    private static void put(Map<String, String> map, String key, Map<String, String> from) {
      var value = from == null ? null : from.get(key);
      if (value == null) {
        map.remove(key);
      } else {
        map.put(key, value);
      }
    }

    private static Map<String, String> copy(Map<String, String> map) {
      return map == null ? new TreeMap<>() : new TreeMap<>(map);
    }
  }
}
