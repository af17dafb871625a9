package io.numaoperator.explain;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Amounts and lists, for a person. */
final class Numbers {
  private static final int LISTED = 8;

  private Numbers() {}

  /** For example "4 nvidia.com/gpu", "2 CPUs", "16Gi of memory". */
  static String amount(String resource, long amount) {
    return switch (resource) {
      case "cpu" -> amount + (amount == 1 ? " CPU" : " CPUs");
      case String r when isBytes(r) -> bytes(amount) + " of " + r;
      default -> amount + " " + resource;
    };
  }

  static String figure(String resource, long amount) {
    return isBytes(resource) ? bytes(amount) : Long.toString(amount);
  }

  private static boolean isBytes(String resource) {
    return resource.equals("memory") || resource.startsWith("hugepages-");
  }

  /** Rounded down, so that what is free is never said to be more than it is. */
  private static String bytes(long bytes) {
    long size = 1L << 40;
    for (var unit : List.of("Ti", "Gi", "Mi", "Ki")) {
      if (bytes >= size) {
        return bytes % size == 0
            ? bytes / size + unit
            : "%d.%d%s".formatted(bytes / size, bytes % size * 10 / size, unit);
      }
      size >>= 10;
    }
    return Long.toString(bytes);
  }

  /** "zone 0", "zones 0 and 1". */
  static String zones(Collection<Integer> zones) {
    var ids = zones.stream().sorted().map(String::valueOf).toList();
    return (ids.size() == 1 ? "zone " : "zones ") + and(ids);
  }

  static String and(List<String> items) {
    return items.size() < 2
        ? String.join("", items)
        : String.join(", ", items.subList(0, items.size() - 1)) + " and " + items.getLast();
  }

  /** At most 8, and how many more there are. */
  static String listed(List<String> items) {
    var shown = items.stream().limit(LISTED).collect(Collectors.joining(", "));
    return items.size() > LISTED ? shown + " and %d more".formatted(items.size() - LISTED) : shown;
  }
}
