package io.numaoperator.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What a fragment may say at all. The agent refuses anything else, whoever asks for it, so that
 * whoever may write a NumaNodeState can move CPUs and memory between pods and system, and no more.
 */
public final class FragmentRules {
  private static final String MEMORY = "memory";
  private static final Set<String> BOOLEAN = Set.of("true", "false");
  private static final Set<String> TOPOLOGY_POLICIES =
      Set.of("none", "best-effort", "restricted", "single-numa-node");

  private final KubeletFragment fragment;
  private final List<String> violations = new ArrayList<>();

  private FragmentRules(KubeletFragment fragment) {
    this.fragment = fragment;
  }

  /** What is wrong with it, each for a person; empty when nothing is. */
  public static List<String> violations(KubeletFragment fragment) {
    var rules = new FragmentRules(fragment);
    rules.cpus();
    rules.memory();
    rules.topology();
    rules.cgroups();
    return List.copyOf(rules.violations);
  }

  private void cpus() {
    oneOf("cpuManagerPolicy", fragment.cpuManagerPolicy, Set.of("none", "static"));
    for (var option : entries(fragment.cpuManagerPolicyOptions)) {
      var known = KubeletOption.named(option.getKey()).filter(KubeletOption::isCpuOption);
      check(
          known.isPresent() && BOOLEAN.contains(option.getValue()),
          "cpuManagerPolicyOptions[%s]",
          option.getKey());
    }
    check(
        entries(fragment.cpuManagerPolicyOptions).isEmpty()
            || Objects.equals(fragment.cpuManagerPolicy, "static"),
        "cpuManagerPolicyOptions need cpuManagerPolicy static");
    check(
        fragment.reservedSystemCPUs == null
            || CpuSet.tryParse(fragment.reservedSystemCPUs).filter(c -> !c.isEmpty()).isPresent(),
        "reservedSystemCPUs");
  }

  private void memory() {
    oneOf("memoryManagerPolicy", fragment.memoryManagerPolicy, Set.of("None", "Static"));
    var zones = new HashSet<Integer>();
    boolean readable = true;
    for (var reservation : fragment.reservedMemoryOrEmpty()) {
      boolean valid =
          reservation != null
              && reservation.numaNode != null
              && reservation.numaNode >= 0
              && reservation.limits != null
              && reservation.limits.keySet().equals(Set.of(MEMORY))
              && Bytes.parse(reservation.limits.get(MEMORY)).orElse(0) > 0
              && zones.add(reservation.numaNode);
      check(valid, "reservedMemory");
      readable &= valid;
    }
    readable &= onlyMemory("kubeReserved", fragment.kubeReserved);
    readable &= onlyMemory("systemReserved", fragment.systemReserved);
    for (var threshold : entries(fragment.evictionHard)) {
      boolean valid =
          threshold.getKey().equals(EvictionThreshold.MEMORY_AVAILABLE)
              && !threshold.getValue().equals("100%")
              // with capacity 0, any other percentage is 0 bytes too: none but "off" is absolute
              && (threshold.getValue().equals(EvictionThreshold.OFF)
                  || EvictionThreshold.bytes(threshold.getValue(), 0).orElse(0) > 0);
      check(valid, "evictionHard[%s]", threshold.getKey());
      readable &= valid;
    }
    if (readable && Objects.equals(fragment.memoryManagerPolicy, "Static")) {
      sum();
    }
  }

  /** Otherwise the kubelet exits (cm/memorymanager/memory_manager.go, validateReservedMemory). */
  private void sum() {
    var reserved =
        Bytes.sum(
            fragment.reservedMemoryOrEmpty().stream()
                .mapToLong(r -> Bytes.parse(r.limits.get(MEMORY)).orElseThrow())
                .toArray());
    var demanded =
        Bytes.sum(
            bytes(fragment.kubeReserved, MEMORY),
            bytes(fragment.systemReserved, MEMORY),
            bytes(fragment.evictionHard, EvictionThreshold.MEMORY_AVAILABLE));
    check(
        reserved.isPresent() && reserved.equals(demanded) && reserved.getAsLong() > 0,
        "reservedMemory is not kubeReserved + systemReserved + evictionHard");
  }

  private static long bytes(Map<String, String> amounts, String key) {
    return amounts == null || !amounts.containsKey(key)
        ? 0
        : EvictionThreshold.bytes(amounts.get(key), 0).orElse(0);
  }

  private void topology() {
    oneOf("topologyManagerPolicy", fragment.topologyManagerPolicy, TOPOLOGY_POLICIES);
    oneOf("topologyManagerScope", fragment.topologyManagerScope, Set.of("container", "pod"));
    for (var option : entries(fragment.topologyManagerPolicyOptions)) {
      var known = KubeletOption.named(option.getKey()).filter(o -> !o.isCpuOption());
      boolean valid =
          known.isPresent()
              && (known.get() == KubeletOption.MAX_ALLOWABLE_NUMA_NODES
                  ? option.getValue().matches("[89]|[1-5][0-9]|6[0-4]")
                  : BOOLEAN.contains(option.getValue()));
      check(valid, "topologyManagerPolicyOptions[%s]", option.getKey());
    }
  }

  private void cgroups() {
    oneOf("kubeReservedCgroup", fragment.kubeReservedCgroup, Set.of(""));
    oneOf("systemReservedCgroup", fragment.systemReservedCgroup, Set.of(""));
    var enforced = fragment.enforceNodeAllocatable;
    check(
        enforced == null || enforced.equals(List.of("pods")) || enforced.equals(List.of("none")),
        "enforceNodeAllocatable");
  }

  private boolean onlyMemory(String field, Map<String, String> reserved) {
    boolean valid =
        entries(reserved).stream()
            .allMatch(e -> e.getKey().equals(MEMORY) && Bytes.parse(e.getValue()).isPresent());
    check(valid, "%s", field);
    return valid;
  }

  private void oneOf(String field, String value, Set<String> allowed) {
    check(value == null || allowed.contains(value), "%s", field);
  }

  private void check(boolean valid, String what, Object... arguments) {
    if (!valid) {
      violations.add("not allowed: " + what.formatted(arguments));
    }
  }

  private static Set<Map.Entry<String, String>> entries(Map<String, String> map) {
    return map == null ? Set.of() : map.entrySet();
  }
}
