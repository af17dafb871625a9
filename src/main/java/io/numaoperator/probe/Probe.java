package io.numaoperator.probe;

import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.bandwidth.Measured;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Measures each pair of zones.
 *
 * @param bytes of memory, of one zone at a time
 * @param repeats of each pair
 * @param nanos how long each of them takes
 * @param threads at most, for each zone
 */
record Probe(long bytes, int repeats, long nanos, int threads) {
  /** Pages that lie elsewhere, and what the kernel joined with the mapping. */
  private static final double MOST = 0.95;

  private static final int WARM_UP = 5;

  /**
   * @param usable the CPUs that this process may run on
   * @param times tells what the CPUs have done so far
   * @param progress a line for each step
   */
  Measured run(List<Zones.Zone> zones, CpuSet usable, Times times, Consumer<String> progress)
      throws IOException, InterruptedException {
    var crews = new TreeMap<Integer, Crew>();
    for (var zone : zones) {
      var cpus = zone.oneOfEachCore(usable, threads);
      if (!cpus.isEmpty()) {
        crews.put(zone.id(), new Crew(cpus));
      }
    }
    progress.accept("looking how busy the machine is");
    var before = times.now();
    Thread.sleep(1000);
    var after = times.now();
    for (var crew : crews.values().stream().limit(1).toList()) {
      warmUp(crew);
    }
    var pairs = new ArrayList<Measured.Pair>();
    for (var zone : zones) {
      progress.accept("memory of zone " + zone.id());
      pairs.addAll(withMemoryOf(zone, zones, crews));
    }
    return new Measured(
        bytes,
        zones.stream()
            .map(
                zone ->
                    new Measured.Zone(
                        zone.id(),
                        crews.containsKey(zone.id()) ? crews.get(zone.id()).cpus().format() : "",
                        zone.cacheBytes(),
                        after.busySince(before, zone.cpus())))
            .toList(),
        pairs);
  }

  /** Has the code compiled before anything is measured. */
  private void warmUp(Crew crew) throws IOException, InterruptedException {
    try (var buffer = new Buffer(bytes)) {
      buffer.touch(crew);
      buffer.read(crew, WARM_UP * nanos);
    }
  }

  /** Where the times come from. */
  interface Times {
    CpuTimes now() throws IOException;
  }

  private List<Measured.Pair> withMemoryOf(
      Zones.Zone memory, List<Zones.Zone> zones, Map<Integer, Crew> crews)
      throws IOException, InterruptedException {
    if (!crews.containsKey(memory.id())) {
      return none(memory, zones, noCrew(memory) + ", and only they can put memory there");
    }
    try (var buffer = new Buffer(bytes)) {
      buffer.touch(crews.get(memory.id()));
      var misplaced = misplaced(buffer, memory);
      if (!misplaced.isEmpty()) {
        return none(memory, zones, misplaced);
      }
      var rates = rates(buffer, crews);
      var moved = misplaced(buffer, memory);
      return moved.isEmpty()
          ? zones.stream().map(zone -> pair(zone, memory, rates)).toList()
          : none(memory, zones, "the kernel moved it meanwhile (kernel.numa_balancing): " + moved);
    }
  }

  /** One round of all crews after the other, so that what disturbs does not meet one of them. */
  private Map<Integer, List<Double>> rates(Buffer buffer, Map<Integer, Crew> crews)
      throws IOException, InterruptedException {
    var rates = new TreeMap<Integer, List<Double>>();
    for (int round = 0; round <= repeats; round++) {
      for (var crew : crews.entrySet()) {
        double rate = buffer.read(crew.getValue(), nanos);
        if (round > 0) { // in the first one caches and page tables are another crew's
          rates.computeIfAbsent(crew.getKey(), id -> new ArrayList<>()).add(rate);
        }
      }
    }
    return rates;
  }

  /** Why the memory is not where it should be; empty when it is, or the kernel does not tell. */
  private static String misplaced(Buffer buffer, Zones.Zone zone) throws IOException {
    var share = buffer.shareOn(zone.id());
    return share.isEmpty() || share.getAsDouble() >= MOST
        ? ""
        : "the kernel has %.0f %% of the memory on zone %d, which may be full"
            .formatted(100 * share.getAsDouble(), zone.id());
  }

  private static Measured.Pair pair(
      Zones.Zone cpus, Zones.Zone memory, Map<Integer, List<Double>> rates) {
    return rates.containsKey(cpus.id())
        ? new Measured.Pair(cpus.id(), memory.id(), rates.get(cpus.id()), "")
        : Measured.Pair.none(cpus.id(), memory.id(), noCrew(cpus));
  }

  private static String noCrew(Zones.Zone zone) {
    return zone.cpus().isEmpty()
        ? "zone %d has no CPUs".formatted(zone.id())
        : "zone %d has no CPUs that a pod without its own may use".formatted(zone.id());
  }

  private static List<Measured.Pair> none(
      Zones.Zone memory, List<Zones.Zone> zones, String problem) {
    return zones.stream().map(zone -> Measured.Pair.none(zone.id(), memory.id(), problem)).toList();
  }
}
