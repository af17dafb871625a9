package io.numaoperator.probe;

import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The machine's NUMA nodes as a container sees them.
 *
 * @param system /sys/devices/system
 */
record Zones(Path system) {
  private static final Pattern NODE = Pattern.compile("node(\\d+)");
  private static final Pattern SIZE = Pattern.compile("(\\d+)K");
  private static final int KI = 10;

  /**
   * One of them.
   *
   * @param cpus that are online
   * @param cores the same CPUs, those of a core together
   * @param cacheBytes of its last-level caches; 0 where that is not known
   */
  record Zone(int id, CpuSet cpus, List<CpuSet> cores, long cacheBytes) {
    /** One CPU of each core, of those that may be used. */
    CpuSet oneOfEachCore(CpuSet usable, int most) {
      return CpuSet.of(
          cores.stream()
              .map(core -> core.intersect(usable))
              .filter(core -> !core.isEmpty())
              .mapToInt(CpuSet::lowest)
              .sorted()
              .limit(most));
    }
  }

  /** By id. */
  List<Zone> read() throws IOException {
    var ids = new TreeSet<Integer>();
    try (var entries = Files.newDirectoryStream(system.resolve("node"))) {
      for (var entry : entries) {
        var match = NODE.matcher(entry.getFileName().toString());
        if (match.matches()) {
          ids.add(Integer.valueOf(match.group(1)));
        }
      }
    }
    var online = cpus("cpu/online");
    var zones = new ArrayList<Zone>();
    for (int id : ids) {
      var cpus = cpus("node/node%d/cpulist".formatted(id)).intersect(online);
      zones.add(new Zone(id, cpus, cores(cpus), caches(cpus)));
    }
    return zones;
  }

  private List<CpuSet> cores(CpuSet cpus) throws IOException {
    var cores = new ArrayList<CpuSet>();
    var left = cpus;
    while (!left.isEmpty()) {
      var core =
          cpus("cpu/cpu%d/topology/thread_siblings_list".formatted(left.lowest()))
              .union(CpuSet.of(left.lowest()))
              .intersect(cpus);
      cores.add(core);
      left = left.minus(core);
    }
    return cores;
  }

  /** Of the third level; each is counted once, whoever shares it. */
  private long caches(CpuSet cpus) throws IOException {
    var sizes = new HashMap<CpuSet, Long>();
    for (int cpu : cpus.stream().toArray()) {
      var cache = "cpu/cpu%d/cache/index3/".formatted(cpu);
      if (Files.isReadable(system.resolve(cache + "size"))) {
        var size = SIZE.matcher(text(cache + "size"));
        if (size.matches()) {
          sizes.put(cpus(cache + "shared_cpu_list"), Long.parseLong(size.group(1)) << KI);
        }
      }
    }
    return sizes.values().stream().mapToLong(Long::longValue).sum();
  }

  private CpuSet cpus(String file) throws IOException {
    try {
      return CpuSet.parse(text(file));
    } catch (IllegalArgumentException e) {
      throw new IOException(system.resolve(file) + ": " + e.getMessage(), e);
    }
  }

  private String text(String file) throws IOException {
    return Files.readString(system.resolve(file)).strip();
  }
}
