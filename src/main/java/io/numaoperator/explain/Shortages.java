package io.numaoperator.explain;

import io.numaoperator.topology.fit.Claimant;
import io.numaoperator.topology.fit.Need;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Finds the request that no zone can serve, and says it in numbers. */
final class Shortages {
  private Shortages() {}

  /**
   * @param claimant who cannot be served
   * @param missing the need that no zone has enough of; when each has a zone but none has all, all
   *     of them
   * @param width in how many zones they must be
   * @param zones all of the node
   */
  record Shortage(Claimant claimant, List<Need> missing, int width, List<Integer> zones) {

    Set<String> resources() {
      return missing.stream().map(Need::resource).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * "needs 4 nvidia.com/gpu in one zone; zone 0 has 2 free, zone 1 has 2 free; 4 free in all".
     */
    String now() {
      return needs() + "; " + (missing.size() > 1 ? jointly() : each()) + sums();
    }

    /** Of an empty node. */
    String never() {
      return needs()
          + "; even when the node is empty "
          + (missing.size() > 1 ? jointly() : each())
          + ": this node can never admit it";
    }

    private String needs() {
      var amounts = missing.stream().map(n -> Numbers.amount(n.resource(), n.amount())).toList();
      return claimant.container().map(name -> "container " + name + " ").orElse("")
          + "needs "
          + Numbers.and(amounts)
          + (width == 1 ? " in one zone" : " in %d zones".formatted(width));
    }

    private String each() {
      var need = missing.getFirst();
      return Numbers.listed(
          zones.stream().map(z -> "zone %d has %s free".formatted(z, free(need, z))).toList());
    }

    /** What each zone lacks; a zone that lacks nothing is kept from it by something else. */
    private String jointly() {
      var parts = new ArrayList<String>();
      for (int zone : zones) {
        var lacking =
            missing.stream()
                .filter(n -> n.freeOn(zone) < n.amount())
                .map(
                    n ->
                        Numbers.figure(n.resource(), n.freeOn(zone))
                            + " of "
                            + Numbers.amount(n.resource(), n.amount()))
                .toList();
        if (!lacking.isEmpty()) {
          parts.add("zone %d has %s free".formatted(zone, Numbers.and(lacking)));
        }
        missing.stream()
            .filter(n -> n.freeOn(zone) >= n.amount() && n.elsewhere().containsKey(zone))
            .map(n -> n.elsewhere().get(zone))
            .findFirst()
            .ifPresent(why -> parts.add("zone %d cannot serve it: %s".formatted(zone, why)));
      }
      return Numbers.listed(parts);
    }

    private String sums() {
      return missing.size() > 1
          ? ""
          : "; %s free in all"
              .formatted(
                  Numbers.figure(
                      missing.getFirst().resource(),
                      zones.stream().mapToLong(missing.getFirst()::freeOn).sum()));
    }

    private static String free(Need need, int zone) {
      return Numbers.figure(need.resource(), need.freeOn(zone));
    }
  }

  /**
   * Empty when it is no plain shortage: the sum over the pod's containers, memory that was given
   * out together, whole cores, requests of unlike widths.
   *
   * @param single whether the kubelet looks at single zones only
   */
  static Optional<Shortage> of(List<Claimant> claimants, List<Integer> zones, boolean single) {
    return claimants.stream().flatMap(claimant -> of(claimant, zones, single).stream()).findFirst();
  }

  private static Optional<Shortage> of(Claimant claimant, List<Integer> zones, boolean single) {
    var lacking =
        claimant.needs().stream().filter(n -> lacks(n, width(n, single), zones)).findFirst();
    if (lacking.isPresent()) {
      int width = width(lacking.get(), single);
      return Optional.of(new Shortage(claimant, List.of(lacking.get()), width, zones));
    }
    boolean narrow = claimant.needs().stream().allMatch(n -> width(n, single) == 1);
    boolean served =
        zones.stream()
            .anyMatch(zone -> claimant.needs().stream().allMatch(n -> n.isServedBy(zone)));
    return narrow && !served && !claimant.needs().isEmpty()
        ? Optional.of(new Shortage(claimant, claimant.needs(), 1, zones))
        : Optional.empty();
  }

  private static int width(Need need, boolean single) {
    return single ? 1 : need.fewestZones();
  }

  private static boolean lacks(Need need, int width, List<Integer> zones) {
    return zones.stream()
            .mapToLong(need::freeOn)
            .boxed()
            .sorted(Comparator.reverseOrder())
            .limit(width)
            .mapToLong(Long::longValue)
            .sum()
        < need.amount();
  }
}
