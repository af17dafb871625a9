package io.numaoperator.topology.bandwidth;

import java.util.List;

/**
 * What a probe saw of a machine: how fast the CPUs of each zone read the memory of each zone.
 *
 * @param bytes of memory that was read, again and again
 * @param zones of the machine
 * @param pairs each zone's CPUs with each zone's memory
 */
public record Measured(long bytes, List<Zone> zones, List<Pair> pairs) {
  /** Begins the line of a probe's output that has this as JSON. */
  public static final String MARK = "numa-probe-result: ";

  public Measured {
    zones = List.copyOf(zones);
    pairs = List.copyOf(pairs);
  }

  /**
   * One zone.
   *
   * @param threads the CPUs that threads were pinned to, one each, in the kernel's list format;
   *     empty where the probe may use none
   * @param cacheBytes what its last-level caches hold; 0 where that is not known
   * @param busy which part of its CPUs' time others used just before, 0 to 1
   */
  public record Zone(int id, String threads, long cacheBytes, double busy) {}

  /**
   * The CPUs of a zone and the memory of a zone.
   *
   * @param rates in bytes per second, of all threads together, one for each repeat; empty where
   *     nothing was measured
   * @param problem why not; else empty
   */
  public record Pair(int cpuZone, int memoryZone, List<Double> rates, String problem) {
    public Pair {
      rates = List.copyOf(rates);
    }

    /** Of one that could not be measured. */
    public static Pair none(int cpuZone, int memoryZone, String problem) {
      return new Pair(cpuZone, memoryZone, List.of(), problem);
    }
  }
}
