package io.numaoperator.view;

import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.Bytes;
import io.numaoperator.view.NodeMap.Memory;
import java.util.Objects;
import java.util.OptionalLong;

/** What is known of a zone's memory. */
final class MemoryMap {
  private static final String MEMORY = "memory";

  private MemoryMap() {}

  static Memory of(NumaNodeStateStatus status, ZoneFacts facts, ZoneAmounts amounts) {
    var free = amounts.free(MEMORY);
    var forPods = amounts.forPods(MEMORY);
    return new Memory(
        Objects.requireNonNullElse(facts.memory, 0L),
        Objects.requireNonNullElse(facts.hugepages, 0L),
        reserved(status, facts.id),
        free,
        free.isPresent() && forPods.isPresent()
            ? OptionalLong.of(Math.max(0, forPods.getAsLong() - free.getAsLong()))
            : OptionalLong.empty());
  }

  private static OptionalLong reserved(NumaNodeStateStatus status, int zone) {
    if (status.effective == null || status.effective.settings == null) {
      return OptionalLong.empty();
    }
    for (var reservation : status.effective.settings.reservedMemoryOrEmpty()) {
      if (Objects.equals(reservation.numaNode, zone) && reservation.limits.containsKey(MEMORY)) {
        return Bytes.parse(reservation.limits.get(MEMORY));
      }
    }
    return OptionalLong.empty();
  }
}
