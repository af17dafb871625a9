package io.numaoperator.topology.bandwidth;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What a measurement means: local against remote memory, and what a misplaced pod loses.
 *
 * @param measured what it is about
 * @param pairs each with its figures, by zone of the CPUs, then of the memory
 * @param warnings why the figures may be off, or tell nothing, a sentence each
 */
public record BandwidthReport(Measured measured, List<Pair> pairs, List<String> warnings) {
  private static final double BUSY = 0.2;
  private static final double WIDE = 0.1;
  private static final int CACHES =
      4; // a buffer that is read in order hardly meets a cache of a quarter
  private static final double GIGA = 1e9;

  public BandwidthReport {
    pairs = List.copyOf(pairs);
    warnings = List.copyOf(warnings);
  }

  /**
   * The figures of a pair.
   *
   * @param problem why there are none; else empty
   */
  public record Pair(int cpuZone, int memoryZone, Optional<Figures> figures, String problem) {
    public boolean isLocal() {
      return cpuZone == memoryZone;
    }
  }

  /**
   * Over the repeats, in GB (10^9 bytes) per second.
   *
   * @param loss what is lost against the same CPUs with their own memory, as a part of that: 0.35
   *     is a third less, a negative one is faster. Empty where that was not measured
   * @param isSure whether each repeat was slower than each of the local ones
   */
  public record Figures(
      double median, double least, double most, Optional<Double> loss, boolean isSure) {
    /** How far the repeats are apart, as a part of their median. */
    public double spread() {
      return (most - least) / median;
    }
  }

  public static BandwidthReport of(Measured measured) {
    var pairs =
        measured.pairs().stream()
            .sorted(
                Comparator.comparingInt(Measured.Pair::cpuZone)
                    .thenComparingInt(Measured.Pair::memoryZone))
            .map(
                pair ->
                    new Pair(
                        pair.cpuZone(), pair.memoryZone(), figures(pair, measured), pair.problem()))
            .toList();
    return new BandwidthReport(measured, pairs, warnings(measured, pairs));
  }

  private static Optional<Figures> figures(Measured.Pair pair, Measured measured) {
    if (pair.rates().isEmpty()) {
      return Optional.empty();
    }
    var own = sorted(pair);
    var local =
        measured.pairs().stream()
            .filter(p -> p.cpuZone() == pair.cpuZone() && p.memoryZone() == pair.cpuZone())
            .filter(p -> pair.cpuZone() != pair.memoryZone() && !p.rates().isEmpty())
            .findFirst()
            .map(BandwidthReport::sorted);
    return Optional.of(
        new Figures(
            median(own) / GIGA,
            own.getFirst() / GIGA,
            own.getLast() / GIGA,
            local.map(l -> 1 - median(own) / median(l)),
            local.filter(l -> own.getLast() < l.getFirst()).isPresent()));
  }

  private static List<Double> sorted(Measured.Pair pair) {
    return pair.rates().stream().sorted().toList();
  }

  private static double median(List<Double> sorted) {
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  private static List<String> warnings(Measured measured, List<Pair> pairs) {
    var warnings = new ArrayList<String>();
    if (measured.zones().size() == 1) {
      warnings.add(
          "the machine has one NUMA node: all of its memory is local, and no pod can be misplaced");
    }
    for (var zone : measured.zones()) {
      if (zone.busy() > BUSY) {
        warnings.add(
            "the machine is busy: others used %.0f %% of the CPU time of zone %d just before; try again when it is idle"
                .formatted(100 * zone.busy(), zone.id()));
      }
      if (CACHES * zone.cacheBytes() > measured.bytes()) {
        warnings.add(
            "the caches of zone %d hold %d MiB, so that some of what was read came from them; try again with --memory %dMi"
                .formatted(zone.id(), zone.cacheBytes() >> 20, CACHES * (zone.cacheBytes() >> 20)));
      }
    }
    for (var pair : pairs) {
      pair.figures()
          .filter(f -> f.spread() > WIDE)
          .ifPresent(
              f ->
                  warnings.add(
                      "CPUs of zone %d with memory of zone %d: the repeats are %.0f %% apart, something else was using CPUs or memory"
                          .formatted(pair.cpuZone(), pair.memoryZone(), 100 * f.spread())));
    }
    return warnings;
  }

  /** Whether each pair was measured. */
  public boolean isWhole() {
    return pairs.stream().allMatch(pair -> pair.figures().isPresent());
  }

  /** The pair that is worst to be in, of those that are surely slower than local memory. */
  public Optional<Pair> worst() {
    return pairs.stream()
        .filter(pair -> pair.figures().filter(Figures::isSure).isPresent())
        .max(Comparator.comparingDouble(pair -> pair.figures().orElseThrow().loss().orElseThrow()));
  }
}
