package io.numaoperator.preflight;

import static io.numaoperator.preflight.Start.orEmpty;

import io.numaoperator.api.KubeletFragment.MemoryReservation;
import io.numaoperator.kubelet.EvictionThreshold;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.Zone;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** What the kubelet's memory manager and its node allocatable would exit on, or get wrong. */
final class MemoryChecks {
  static final List<Function<Start, Optional<Refused>>> ALL =
      List.of(
          MemoryChecks::amountsAreReadable,
          MemoryChecks::zonesExist,
          MemoryChecks::zonesAreLargeEnough,
          MemoryChecks::somethingIsReserved,
          MemoryChecks::sumsAreEqual,
          MemoryChecks::theNodeIsLargeEnough);

  private MemoryChecks() {}

  private static Optional<Refused> amountsAreReadable(Start start) {
    return Checks.refuseIf(
        demanded(start).isEmpty() || reserved(start).isEmpty(),
        "KubeletSettingUnreadable",
        "kubeReserved, systemReserved, evictionHard or reservedMemory would hold an amount of memory"
            + " that is not a whole number of bytes. Correct it in the kubelet's own configuration.");
  }

  /** cm/memorymanager/memory_manager.go, validateReservedMemory. */
  private static Optional<Refused> zonesExist(Start start) {
    return reservations(start).stream()
        .filter(reservation -> zone(start, reservation).isEmpty())
        .findFirst()
        .map(
            reservation ->
                new Refused(
                    "MemoryZoneUnknown",
                    "reservedMemory names NUMA node %d, which this machine does not have. Correct it in the kubelet's own configuration."
                        .formatted(reservation.numaNode)));
  }

  /** The kubelet does not check it: the subtraction in its static policy underflows. */
  private static Optional<Refused> zonesAreLargeEnough(Start start) {
    return reservations(start).stream()
        .filter(reservation -> start.memoryStatic())
        .filter(
            reservation ->
                amount(reservation) > zone(start, reservation).orElseThrow().plainMemory())
        .findFirst()
        .map(
            reservation ->
                new Refused(
                    "MemoryBeyondZone",
                    "reservedMemory keeps %s of NUMA node %d, which has %s outside hugepages. Reserve less."
                        .formatted(
                            Bytes.describe(amount(reservation)),
                            reservation.numaNode,
                            Bytes.describe(zone(start, reservation).orElseThrow().plainMemory()))));
  }

  /** cm/memorymanager/policy_static.go, NewPolicyStatic. */
  private static Optional<Refused> somethingIsReserved(Start start) {
    return Checks.refuseIf(
        start.memoryStatic() && demanded(start).orElse(0) == 0 && reserved(start).orElse(0) == 0,
        "NothingReserved",
        "memoryManagerPolicy Static would have no memory reserved. Set memoryManager.reserved.");
  }

  /** cm/memorymanager/memory_manager.go, validateReservedMemory: equal to the byte. */
  private static Optional<Refused> sumsAreEqual(Start start) {
    return Checks.refuseIf(
        start.memoryStatic() && !reserved(start).equals(demanded(start)),
        "ReservedMemoryUnequal",
        "reservedMemory would come to %s, and kubeReserved + systemReserved + evictionHard to %s: the"
            + " kubelet starts only when they are equal to the byte. Another file of the kubelet sets"
            + " one of them; take it out.",
        Bytes.describe(reserved(start).orElse(0)),
        Bytes.describe(demanded(start).orElse(0)));
  }

  /** cm/node_container_manager_linux.go, validateNodeAllocatable. */
  private static Optional<Refused> theNodeIsLargeEnough(Start start) {
    long capacity = start.machine().memoryTotal();
    return Checks.refuseIf(
        demanded(start).orElse(0) > capacity,
        "MemoryBeyondNode",
        "kubeReserved + systemReserved + evictionHard would come to %s, more than the node's memory,"
            + " %s: the kubelet would not start. Reserve less.",
        Bytes.describe(demanded(start).orElse(0)),
        Bytes.describe(capacity));
  }

  private static List<MemoryReservation> reservations(Start start) {
    return start.settings().reservedMemoryOrEmpty();
  }

  private static Optional<Zone> zone(Start start, MemoryReservation reservation) {
    return start.machine().zones().stream()
        .filter(zone -> zone.id() == reservation.numaNode)
        .findFirst();
  }

  private static long amount(MemoryReservation reservation) {
    return Bytes.parse(orEmpty(reservation.limits).getOrDefault("memory", "0")).orElse(-1);
  }

  private static OptionalLong reserved(Start start) {
    var amounts = reservations(start).stream().mapToLong(MemoryChecks::amount).toArray();
    return Arrays.stream(amounts).anyMatch(amount -> amount < 0)
        ? OptionalLong.empty()
        : Bytes.sum(amounts);
  }

  /** Empty when one of them is not a whole number of bytes. */
  private static OptionalLong demanded(Start start) {
    var settings = start.settings();
    var kube = memory(settings.kubeReserved);
    var system = memory(settings.systemReserved);
    var eviction =
        EvictionThreshold.bytes(
            orEmpty(settings.evictionHard)
                .getOrDefault(EvictionThreshold.MEMORY_AVAILABLE, EvictionThreshold.OFF),
            start.machine().memoryTotal());
    return kube.isEmpty() || system.isEmpty() || eviction.isEmpty()
        ? OptionalLong.empty()
        : Bytes.sum(kube.getAsLong(), system.getAsLong(), eviction.getAsLong());
  }

  private static OptionalLong memory(Map<String, String> reserved) {
    return Bytes.parse(orEmpty(reserved).getOrDefault("memory", "0"));
  }
}
