package io.numaoperator.kubelet;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The fields of KubeletConfiguration that the operator may set, in the order of the drop-in file.
 * Nothing outside this list is ever written: a free KubeletConfiguration is root on the node.
 */
public enum ManagedField {
  CPU_MANAGER_POLICY("cpuManagerPolicy", "cpu-manager-policy"),
  CPU_MANAGER_POLICY_OPTIONS("cpuManagerPolicyOptions", "cpu-manager-policy-options"),
  RESERVED_SYSTEM_CPUS("reservedSystemCPUs", "reserved-cpus"),
  MEMORY_MANAGER_POLICY("memoryManagerPolicy", "memory-manager-policy"),
  RESERVED_MEMORY("reservedMemory", "reserved-memory"),
  TOPOLOGY_MANAGER_POLICY("topologyManagerPolicy", "topology-manager-policy"),
  TOPOLOGY_MANAGER_SCOPE("topologyManagerScope", "topology-manager-scope"),
  TOPOLOGY_MANAGER_POLICY_OPTIONS(
      "topologyManagerPolicyOptions", "topology-manager-policy-options"),
  KUBE_RESERVED("kubeReserved", "kube-reserved"),
  SYSTEM_RESERVED("systemReserved", "system-reserved"),
  EVICTION_HARD("evictionHard", "eviction-hard"),
  KUBE_RESERVED_CGROUP("kubeReservedCgroup", "kube-reserved-cgroup"),
  SYSTEM_RESERVED_CGROUP("systemReservedCgroup", "system-reserved-cgroup"),
  ENFORCE_NODE_ALLOCATABLE("enforceNodeAllocatable", "enforce-node-allocatable");

  /**
   * A deprecated flag without a field. It takes evictionHard out of the sum that reservedMemory
   * must equal (cmd/kubelet/app/server.go), so {@link #setByFlags} reports it, by this name.
   */
  public static final String IGNORE_EVICTION_FLAG = "experimental-allocatable-ignore-eviction";

  private final String fieldName;
  private final String flag;

  ManagedField(String fieldName, String flag) {
    this.fieldName = fieldName;
    this.flag = flag;
  }

  /** Its name in KubeletConfiguration. */
  public String fieldName() {
    return fieldName;
  }

  /** The field of that name in KubeletConfiguration; empty when the operator does not manage it. */
  public static Optional<ManagedField> named(String fieldName) {
    for (var field : values()) {
      if (field.fieldName.equals(fieldName)) {
        return Optional.of(field);
      }
    }
    return Optional.empty();
  }

  /**
   * The managed fields that a kubelet's command line sets, by their names in KubeletConfiguration:
   * a flag wins over every file. This is the content of {@code inventory.kubelet.managedByFlag}.
   *
   * @param commandLine the arguments, with or without the program itself
   */
  public static List<String> setByFlags(List<String> commandLine) {
    var names = new ArrayList<String>();
    for (var field : values()) {
      if (commandLine.stream().anyMatch(argument -> isFlag(argument, field.flag))) {
        names.add(field.fieldName);
      }
    }
    if (commandLine.stream()
        .anyMatch(
            argument -> isFlag(argument, IGNORE_EVICTION_FLAG) && !argument.endsWith("=false"))) {
      names.add(IGNORE_EVICTION_FLAG);
    }
    return names;
  }

  /** The kubelet takes underscores for dashes in flag names (component-base, WordSepNormalize). */
  private static boolean isFlag(String argument, String flag) {
    int equals = argument.indexOf('=');
    var name = equals < 0 ? argument : argument.substring(0, equals);
    return name.startsWith("--") && name.substring(2).replace('_', '-').equals(flag);
  }
}
