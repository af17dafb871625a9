package io.numaoperator.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Whether a kubelet runs with what was wanted. The kubelet drops what it does not understand in a
 * drop-in without a word, so only its own account of its configuration counts.
 */
public final class ConfigComparison {
  /** One managed setting that is not as wanted; the message is for a person. */
  public record Difference(ManagedField field, String message) {}

  private final List<Difference> differences = new ArrayList<>();

  private ConfigComparison() {}

  /**
   * Where a running kubelet differs from the fragment, each for a person; empty when it does not.
   *
   * @param configz the {@code kubeletconfig} object of /configz
   */
  public static List<String> mismatches(KubeletFragment fragment, JsonNode configz) {
    return mismatches(fragment, KubeletSettings.of(configz));
  }

  /**
   * The same for settings that were read before ({@code status.effective.settings}): when empty,
   * the node is already right and must not be touched.
   *
   * <p>What the fragment leaves out is not compared. Of maps that merge, only its keys are. Amounts
   * and cpusets are compared by value; an empty text equals an absent one.
   */
  public static List<String> mismatches(KubeletFragment fragment, KubeletFragment settings) {
    return differences(fragment, settings).stream().map(Difference::message).toList();
  }

  /** The same, with the field that each is about. */
  public static List<Difference> differences(KubeletFragment fragment, KubeletFragment settings) {
    var comparison = new ConfigComparison();
    for (var field : ManagedField.values()) {
      comparison.compare(field, fragment, settings);
    }
    return List.copyOf(comparison.differences);
  }

  private void compare(ManagedField field, KubeletFragment wanted, KubeletFragment is) {
    switch (field) {
      case CPU_MANAGER_POLICY -> text(field, wanted.cpuManagerPolicy, is.cpuManagerPolicy);
      case CPU_MANAGER_POLICY_OPTIONS -> cpuOptions(wanted, is);
      case RESERVED_SYSTEM_CPUS -> cpus(wanted.reservedSystemCPUs, is.reservedSystemCPUs);
      case MEMORY_MANAGER_POLICY -> text(field, wanted.memoryManagerPolicy, is.memoryManagerPolicy);
      case RESERVED_MEMORY -> reservedMemory(wanted, is);
      case TOPOLOGY_MANAGER_POLICY ->
          text(field, wanted.topologyManagerPolicy, is.topologyManagerPolicy);
      case TOPOLOGY_MANAGER_SCOPE ->
          text(field, wanted.topologyManagerScope, is.topologyManagerScope);
      case TOPOLOGY_MANAGER_POLICY_OPTIONS ->
          keys(field, wanted.topologyManagerPolicyOptions, is.topologyManagerPolicyOptions);
      case KUBE_RESERVED -> keys(field, wanted.kubeReserved, is.kubeReserved);
      case SYSTEM_RESERVED -> keys(field, wanted.systemReserved, is.systemReserved);
      case EVICTION_HARD -> keys(field, wanted.evictionHard, is.evictionHard);
      case KUBE_RESERVED_CGROUP -> text(field, wanted.kubeReservedCgroup, is.kubeReservedCgroup);
      case SYSTEM_RESERVED_CGROUP ->
          text(field, wanted.systemReservedCgroup, is.systemReservedCgroup);
      case ENFORCE_NODE_ALLOCATABLE -> enforced(wanted, is);
    }
  }

  private void text(ManagedField field, String wanted, String is) {
    if (wanted != null) {
      differ(
          field,
          field.fieldName(),
          KubeletSettings.orDefault(field, wanted),
          KubeletSettings.orDefault(field, is));
    }
  }

  private void cpuOptions(KubeletFragment wanted, KubeletFragment is) {
    if (Objects.equals(wanted.cpuManagerPolicy, "none")) {
      differ(
          ManagedField.CPU_MANAGER_POLICY_OPTIONS,
          "cpuManagerPolicyOptions",
          Map.of(),
          orEmpty(is.cpuManagerPolicyOptions));
    }
    keys(
        ManagedField.CPU_MANAGER_POLICY_OPTIONS,
        wanted.cpuManagerPolicyOptions,
        is.cpuManagerPolicyOptions);
  }

  private void cpus(String wanted, String is) {
    if (wanted != null) {
      differ(
          ManagedField.RESERVED_SYSTEM_CPUS,
          "reservedSystemCPUs",
          canonical(wanted),
          canonical(is));
    }
  }

  static String canonical(String cpus) {
    return cpus == null ? "" : CpuSet.tryParse(cpus).map(CpuSet::format).orElse(cpus);
  }

  private void reservedMemory(KubeletFragment wanted, KubeletFragment is) {
    if (wanted.reservedMemory != null) {
      differ(ManagedField.RESERVED_MEMORY, "reservedMemory", byZone(wanted), byZone(is));
    }
  }

  /** Zone and resource → amount; the order of the list means nothing. */
  static Map<String, String> byZone(KubeletFragment settings) {
    var amounts = new TreeMap<String, String>();
    for (var reservation : settings.reservedMemoryOrEmpty()) {
      orEmpty(reservation.limits)
          .forEach((key, value) -> amounts.put(reservation.numaNode + ":" + key, amount(value)));
    }
    return amounts;
  }

  private void keys(ManagedField field, Map<String, String> wanted, Map<String, String> is) {
    new TreeMap<>(orEmpty(wanted))
        .forEach(
            (key, value) -> {
              if (!rewrittenByKubelet(field, key)) {
                differ(
                    field,
                    "%s[%s]".formatted(field.fieldName(), key),
                    amount(value),
                    amount(orEmpty(is).get(key)));
              }
            });
  }

  /**
   * With reservedSystemCPUs the kubelet deletes kubeReserved.cpu and sets systemReserved.cpu itself
   * (cmd/kubelet/app/server.go, run), and configz shows it or not, depending on whether the map was
   * there before.
   */
  static boolean rewrittenByKubelet(ManagedField field, String key) {
    return key.equals("cpu")
        && (field == ManagedField.KUBE_RESERVED || field == ManagedField.SYSTEM_RESERVED);
  }

  private void enforced(KubeletFragment wanted, KubeletFragment is) {
    if (wanted.enforceNodeAllocatable != null) {
      differ(
          ManagedField.ENFORCE_NODE_ALLOCATABLE,
          "enforceNodeAllocatable",
          new HashSet<>(wanted.enforceNodeAllocatable),
          is.enforceNodeAllocatable == null ? null : new HashSet<>(is.enforceNodeAllocatable));
    }
  }

  private static String amount(String value) {
    if (value == null) {
      return "";
    }
    var bytes = Bytes.parse(value);
    return bytes.isPresent() ? Bytes.format(bytes.getAsLong()) : value;
  }

  private void differ(ManagedField field, String what, Object wanted, Object is) {
    if (!Objects.equals(wanted, is)) {
      differences.add(
          new Difference(field, "%s is %s, wanted %s".formatted(what, shown(is), shown(wanted))));
    }
  }

  private static String shown(Object value) {
    return value == null || value.equals("") ? "not set" : value.toString();
  }

  private static Map<String, String> orEmpty(Map<String, String> map) {
    return map == null ? Map.of() : map;
  }
}
