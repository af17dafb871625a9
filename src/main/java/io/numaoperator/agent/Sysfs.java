package io.numaoperator.agent;

import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads a machine's NUMA topology from /sys/devices/system and /proc/meminfo. */
final class Sysfs {
  private static final Pattern NODE = Pattern.compile("node(\\d+)");
  private static final Pattern HUGEPAGES = Pattern.compile("hugepages-(\\d+)kB");
  private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s+(\\d+) kB");
  private static final long KI = 1024;

  private final Path system;
  private final Path proc;

  /**
   * @param sys the machine's /sys
   * @param proc the machine's /proc
   */
  Sysfs(Path sys, Path proc) {
    this.system = sys.resolve("devices/system");
    this.proc = proc;
  }

  /** The NUMA nodes, by id; ids may have gaps. Devices are left out. */
  List<ZoneFacts> zones() throws IOException {
    var online = cpus("cpu/online");
    var zones = new ArrayList<ZoneFacts>();
    for (int id : zoneIds()) {
      zones.add(zone(id, online));
    }
    return zones;
  }

  private List<Integer> zoneIds() throws IOException {
    var ids = new TreeSet<Integer>();
    try (var entries = Files.newDirectoryStream(system.resolve("node"))) {
      for (var entry : entries) {
        var match = NODE.matcher(entry.getFileName().toString());
        if (match.matches()) {
          ids.add(Integer.valueOf(match.group(1)));
        }
      }
    }
    return List.copyOf(ids);
  }

  private ZoneFacts zone(int id, CpuSet online) throws IOException {
    var directory = "node/node" + id;
    var cpus = cpus(directory + "/cpulist").intersect(online);
    var zone = new ZoneFacts();
    zone.id = id;
    zone.cpus = cpus.format();
    zone.memory = memoryTotal(read(directory + "/meminfo"));
    zone.hugepages = hugepages(directory + "/hugepages");
    for (var distances = new Scanner(read(directory + "/distance")); distances.hasNextInt(); ) {
      zone.distances.add(distances.nextInt());
    }
    var cores = new TreeMap<Integer, String>();
    var sockets = new TreeSet<Integer>();
    for (int cpu : cpus.stream().toArray()) {
      var topology = "cpu/cpu%d/topology/".formatted(cpu);
      var core = cpus(topology + "thread_siblings_list").intersect(cpus);
      cores.put(core.lowest(), core.format());
      sockets.add(Integer.valueOf(read(topology + "physical_package_id")));
    }
    zone.cores.addAll(cores.values());
    zone.sockets.addAll(sockets);
    return zone;
  }

  private long hugepages(String directory) throws IOException {
    long bytes = 0;
    if (!Files.isDirectory(system.resolve(directory))) {
      return 0;
    }
    try (var sizes = Files.newDirectoryStream(system.resolve(directory))) {
      for (var size : sizes) {
        var match = HUGEPAGES.matcher(size.getFileName().toString());
        if (match.matches()) {
          var pages = Files.readString(size.resolve("nr_hugepages")).strip();
          bytes += Long.parseLong(match.group(1)) * KI * Long.parseLong(pages);
        }
      }
    }
    return bytes;
  }

  /** CPUs that are there but switched off. */
  CpuSet offlineCpus() throws IOException {
    try {
      return cpus("cpu/offline").intersect(cpus("cpu/present"));
    } catch (NoSuchFileException e) {
      return CpuSet.EMPTY;
    }
  }

  /** MemTotal in bytes: what the kubelet calls the node's memory capacity. */
  long memoryTotal() throws IOException {
    return memoryTotal(Files.readString(proc.resolve("meminfo")));
  }

  private static long memoryTotal(String meminfo) throws IOException {
    var match = TOTAL.matcher(meminfo);
    if (!match.find()) {
      throw new IOException("no MemTotal in meminfo");
    }
    return Long.parseLong(match.group(1)) * KI;
  }

  private CpuSet cpus(String file) throws IOException {
    try {
      return CpuSet.parse(read(file));
    } catch (IllegalArgumentException e) {
      throw new IOException(system.resolve(file) + ": " + e.getMessage(), e);
    }
  }

  private String read(String file) throws IOException {
    return Files.readString(system.resolve(file)).strip();
  }
}
