package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletFragment.MemoryReservation;
import io.numaoperator.api.KubeletPolicy.MemoryManager;
import io.numaoperator.api.KubeletPolicy.ReservedMemory;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.kubelet.EvictionThreshold;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.Zone;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * memoryManagerPolicy, reservedMemory and the settings that it must equal to the byte:
 *
 * <pre>Σ reservedMemory = kubeReserved.memory + systemReserved.memory + evictionHard</pre>
 *
 * (cm/memorymanager/memory_manager.go, validateReservedMemory). Where the policy asks for an
 * amount, systemReserved gives way; else the node's own amounts are split. With policy None the
 * kubelet compares nothing, and the node's reservations are left alone.
 */
record MemoryPlan(MemoryManager policy, Machine machine, KubeletFragment settings) {
  /** The Memory Manager looks at all 2^n combinations of n zones. */
  private static final int MAX_ZONES = 16;

  static MemoryPlan of(MemoryManager policy, Machine machine, KubeletFragment settings) {
    return new MemoryPlan(policy, machine, settings);
  }

  void write(Draft draft) throws RefusedException {
    if (policy.policy == StaticOrNone.None) {
      draft.fragment().memoryManagerPolicy = "None";
      return;
    }
    if (machine.zoneCount() > MAX_ZONES) {
      throw new RefusedException(
          "TooManyZonesForMemoryManager",
          "The machine has %d NUMA nodes; memoryManager.policy Static looks at all their"
              + " combinations and is hopeless beyond %d. Set memoryManager.policy None for this"
              + " node's policy.",
          machine.zoneCount(),
          MAX_ZONES);
    }
    var now = NodeReservation.of(settings, machine.memoryTotal(), draft);
    var wanted = Objects.requireNonNullElseGet(policy.reserved, ReservedMemory::new);
    if (wanted.perNumaNode != null) {
      perNumaNode(draft, now, amount("perNumaNode", wanted.perNumaNode));
    } else if (wanted.total != null) {
      long total = amount("total", wanted.total);
      write(draft, now, withTotal(now, total), split(total));
    } else {
      ownReservations(draft, now);
    }
  }

  private void perNumaNode(Draft draft, NodeReservation now, long each) throws RefusedException {
    var zones = machine.zonesWithCpus();
    var shares = new TreeMap<Integer, Long>();
    zones.forEach(zone -> shares.put(zone.id(), each));
    long total =
        Bytes.sum(zones.stream().mapToLong(zone -> each).toArray())
            .orElseThrow(() -> beyondInt64("memoryManager.reserved.perNumaNode"));
    write(draft, now, withTotal(now, total), shares);
  }

  private void ownReservations(Draft draft, NodeReservation now) throws RefusedException {
    long total = now.total().orElseThrow(() -> beyondInt64(now.describe()));
    if (total == 0) {
      throw new RefusedException(
          "NothingReserved",
          "The node reserves no memory (%s), and memoryManager.policy Static needs some. Set"
              + " memoryManager.reserved.",
          now.describe());
    }
    write(draft, now, now, split(total));
  }

  private static NodeReservation withTotal(NodeReservation now, long total)
      throws RefusedException {
    long rest = now.withoutSystem().orElseThrow(() -> beyondInt64(now.describe()));
    if (rest > total) {
      throw new RefusedException(
          "ReservedMemoryTooSmall",
          "memoryManager.reserved comes to %s on this node, less than what its kubelet reserves"
              + " without systemReserved: kubeReserved %s + evictionHard %s = %s. Reserve at least"
              + " that much.",
          Bytes.describe(total),
          Bytes.describe(now.kube().orElse(0)),
          Bytes.describe(now.eviction()),
          Bytes.describe(rest));
    }
    return now.withSystem(total - rest);
  }

  private Map<Integer, Long> split(long total) throws RefusedException {
    var weights = new TreeMap<Integer, Long>();
    machine.zonesWithCpus().forEach(zone -> weights.put(zone.id(), zone.plainMemory()));
    if (weights.values().stream().allMatch(weight -> weight == 0)) {
      throw new RefusedException(
          "MemoryBeyondZone",
          "No NUMA node with CPUs has memory that is not taken by hugepages: %s cannot be reserved."
              + " Lower the number of hugepages.",
          Bytes.describe(total));
    }
    return MemorySplit.split(total, weights);
  }

  private void write(
      Draft draft, NodeReservation now, NodeReservation planned, Map<Integer, Long> shares)
      throws RefusedException {
    fits(planned, shares);
    var fragment = draft.fragment();
    fragment.memoryManagerPolicy = "Static";
    fragment.reservedMemory = reservations(shares);
    if (planned.kube().isPresent()) {
      fragment.kubeReserved = Map.of("memory", Bytes.format(planned.kube().getAsLong()));
    }
    fragment.systemReserved = Map.of("memory", Bytes.format(planned.system()));
    fragment.evictionHard = Map.of(EvictionThreshold.MEMORY_AVAILABLE, planned.evictionSetting());
    if (planned.system() != now.system()) {
      draft.note(
          "systemReserved[memory] goes from %s to %s, so that the sum is what"
              + " memoryManager.reserved asks for.",
          Bytes.describe(now.system()), Bytes.describe(planned.system()));
    }
  }

  /** The kubelet accepts no zero, and a zone without memory may have no share. */
  private static List<MemoryReservation> reservations(Map<Integer, Long> shares) {
    return shares.entrySet().stream()
        .filter(share -> share.getValue() > 0)
        .map(share -> new MemoryReservation(share.getKey(), Bytes.format(share.getValue())))
        .toList();
  }

  /**
   * The kubelet does not check a zone's share against the zone: the subtraction in its static
   * policy underflows, and it runs with a wrong amount.
   */
  private void fits(NodeReservation planned, Map<Integer, Long> shares) throws RefusedException {
    for (Zone zone : machine.zonesWithCpus()) {
      long share = shares.getOrDefault(zone.id(), 0L);
      if (share > zone.plainMemory()) {
        throw new RefusedException(
            "MemoryBeyondZone",
            "The system would keep %s of NUMA node %d, which has %s outside hugepages (%s in all, %s"
                + " as hugepages). Reserve less (memoryManager.reserved.total is split by size), or"
                + " lower the number of hugepages.",
            Bytes.describe(share),
            zone.id(),
            Bytes.describe(zone.plainMemory()),
            Bytes.describe(zone.memory()),
            Bytes.describe(zone.hugepages()));
      }
    }
    long total = planned.total().orElseThrow(() -> beyondInt64(planned.describe()));
    if (total > machine.memoryTotal()) {
      throw new RefusedException(
          "MemoryBeyondNode",
          "%s = %s is more than the node's memory, %s: the kubelet would not start. Reserve less.",
          planned.describe(),
          Bytes.describe(total),
          Bytes.describe(machine.memoryTotal()));
    }
  }

  private static long amount(String field, String text) throws RefusedException {
    var bytes = Bytes.parse(text);
    if (bytes.isEmpty() || bytes.getAsLong() == 0) {
      throw new RefusedException(
          "ReservedMemoryInvalid",
          "memoryManager.reserved.%s \"%s\" is not an amount of memory such as 4Gi.",
          field,
          text);
    }
    return bytes.getAsLong();
  }

  private static RefusedException beyondInt64(String what) {
    return new RefusedException(
        "ReservedMemoryInvalid", "%s comes to more than 8Ei. Reserve less.", what);
  }
}
