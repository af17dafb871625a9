package io.numaoperator.topology.fit;

import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;

/** Says in numbers why a request fits no zone. */
final class Shortage {
  /** Zones in a message: an event has 1024 characters, for all nodes together. */
  private static final int ZONES_TOLD = 8;

  private Shortage() {}

  static String explain(NodeFree node, List<Need> needs) {
    var zones = node.zones().stream().map(ZoneFree::id).toList();
    int most = needs.stream().mapToInt(Need::fewestZones).max().orElse(1);
    int least = needs.stream().mapToInt(Need::fewestZones).min().orElse(1);
    if (most == 1) {
      return perZone(zones, needs);
    }
    if (node.rules().policy() == KubeletRules.Policy.SingleNumaNode || most != least) {
      var widest = needs.stream().filter(need -> need.fewestZones() == most).findFirst().get();
      return node.rules().policy() == KubeletRules.Policy.SingleNumaNode
          ? "no zone is large enough for %s".formatted(amount(widest))
          : "%s take %d zones, and %s take %d"
              .formatted(
                  amount(widest),
                  most,
                  amount(needs.stream().filter(n -> n.fewestZones() == least).findFirst().get()),
                  least);
    }
    return "no %d zones together have %s free: "
            .formatted(most, String.join(" and ", needs.stream().map(Shortage::amount).toList()))
        + perZone(zones, needs);
  }

  /** After a manager refused: what the zones have, where none has enough. */
  static String detail(NodeFree node, List<Need> needs) {
    boolean nowhere =
        node.zones().stream()
            .allMatch(zone -> needs.stream().anyMatch(n -> n.freeOn(zone.id()) < n.amount()));
    return nowhere ? ": " + perZone(node.zones().stream().map(ZoneFree::id).toList(), needs) : "";
  }

  private static String perZone(List<Integer> zones, List<Need> needs) {
    var text = new StringJoiner(", ");
    var said = Optional.<Need>empty();
    for (int zone : zones.subList(0, Math.min(zones.size(), ZONES_TOLD))) {
      var lacking = needs.stream().filter(need -> need.freeOn(zone) < need.amount()).findFirst();
      if (lacking.isPresent()) {
        var need = lacking.get();
        var free = figure(need.resource(), need.freeOn(zone));
        text.add(
            said.equals(lacking)
                ? "zone %d has %s".formatted(zone, free)
                : "zone %d has %s of %s free".formatted(zone, free, amount(need)));
        said = lacking;
      } else {
        needs.stream()
            .filter(need -> need.elsewhere().containsKey(zone))
            .findFirst()
            .ifPresent(need -> text.add("zone %d: %s".formatted(zone, need.elsewhere().get(zone))));
      }
    }
    if (zones.size() > ZONES_TOLD) {
      text.add("and %d more zones".formatted(zones.size() - ZONES_TOLD));
    }
    return text.toString();
  }

  private static String amount(Need need) {
    return figure(need.resource(), need.amount()) + " " + need.resource();
  }

  private static String figure(String resource, long amount) {
    return resource.equals("memory") || resource.startsWith("hugepages-")
        ? bytes(amount)
        : Long.toString(amount);
  }

  /** Rounded down, so that what is free is never said to be more than it is. */
  private static String bytes(long bytes) {
    var units = List.of("Ti", "Gi", "Mi", "Ki");
    long size = 1L << 40;
    for (var unit : units) {
      if (bytes >= size) {
        return bytes % size == 0
            ? bytes / size + unit
            : "%d.%d%s".formatted(bytes / size, bytes % size * 10 / size, unit);
      }
      size >>= 10;
    }
    return Long.toString(bytes);
  }
}
