package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.kubelet.EvictionThreshold;
import io.numaoperator.topology.Bytes;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * What a node reserves of its memory outside pods, in bytes: the right side of the kubelet's
 * equation (cm/node_container_manager_linux.go, GetNodeAllocatableReservation).
 *
 * @param kube kubeReserved.memory; empty when the node has none
 * @param system systemReserved.memory
 * @param eviction the hard threshold memory.available as an absolute amount; 0 when it is off
 * @param evictionSetting how to write the threshold: a percentage would break the sum at a reboot
 *     that changes MemTotal
 */
record NodeReservation(OptionalLong kube, long system, long eviction, String evictionSetting) {
  /**
   * The kubelet's default where --config sets no evictionHard. A node without it (k3s has no
   * --config) would let pods take the memory that the operator splits over the zones.
   */
  private static final long DEFAULT_EVICTION = 100 * Bytes.MI;

  static NodeReservation of(KubeletFragment settings, long capacity, Draft draft)
      throws RefusedException {
    var kube = amount("kubeReserved", settings.kubeReserved);
    var system = amount("systemReserved", settings.systemReserved);
    var threshold =
        settings.evictionHard == null
            ? null
            : settings.evictionHard.get(EvictionThreshold.MEMORY_AVAILABLE);
    if (threshold == null) {
      draft.note(
          "The node has no evictionHard[memory.available]: the kubelet's default of %s is set.",
          Bytes.format(DEFAULT_EVICTION));
      threshold = Bytes.format(DEFAULT_EVICTION);
    }
    long eviction =
        EvictionThreshold.bytes(threshold, capacity)
            .orElseThrow(unreadable("evictionHard[memory.available]", threshold));
    if (threshold.endsWith("%") && eviction > 0) {
      draft.note(
          "evictionHard[memory.available] %s is set as the absolute amount that it is now, %s: the"
              + " reservations must stay equal to the byte when the machine's memory changes.",
          threshold, Bytes.describe(eviction));
    }
    return new NodeReservation(
        kube,
        system.orElse(0),
        eviction,
        eviction == 0 ? EvictionThreshold.OFF : Bytes.format(eviction));
  }

  private static OptionalLong amount(String field, Map<String, String> reserved)
      throws RefusedException {
    var text = reserved == null ? null : reserved.get("memory");
    if (text == null) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(Bytes.parse(text).orElseThrow(unreadable(field + "[memory]", text)));
  }

  private static Supplier<RefusedException> unreadable(String field, String value) {
    return () ->
        new RefusedException(
            "KubeletSettingUnreadable",
            "The kubelet's %s is \"%s\", which is not a whole number of bytes; reservedMemory could"
                + " not equal it. Correct it in the kubelet's own configuration.",
            field,
            value);
  }

  /** Without systemReserved: what the rest takes of a total. */
  OptionalLong withoutSystem() {
    return Bytes.sum(kube.orElse(0), eviction);
  }

  /** All of it; empty beyond int64. */
  OptionalLong total() {
    return Bytes.sum(kube.orElse(0), system, eviction);
  }

  NodeReservation withSystem(long bytes) {
    return new NodeReservation(kube, bytes, eviction, evictionSetting);
  }

  /** For messages. */
  String describe() {
    return "kubeReserved %s + systemReserved %s + evictionHard %s"
        .formatted(
            Bytes.describe(kube.orElse(0)), Bytes.describe(system), Bytes.describe(eviction));
  }
}
