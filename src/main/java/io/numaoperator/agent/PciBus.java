package io.numaoperator.agent;

import io.numaoperator.api.NumaNodeStateStatus.PciDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Reads from /sys/bus/pci which GPUs, accelerators and network cards are near which NUMA node. */
final class PciBus {
  /** Network controllers, display controllers, processing accelerators (PCI base classes). */
  private static final Set<String> CLASSES = Set.of("02", "03", "12");

  private static final int LONGEST_LIST = 64;

  private final Path devices;

  /**
   * @param sys the machine's /sys
   */
  PciBus(Path sys) {
    this.devices = sys.resolve("bus/pci/devices");
  }

  /** By zone; at most 64 a zone. Functions without a NUMA node (-1) are left out. */
  Map<Integer, List<PciDevice>> byZone() throws IOException {
    var byAddress = new TreeMap<String, Path>();
    if (Files.isDirectory(devices)) {
      try (var entries = Files.newDirectoryStream(devices)) {
        entries.forEach(entry -> byAddress.put(entry.getFileName().toString(), entry));
      }
    }
    var zones = new TreeMap<Integer, List<PciDevice>>();
    for (var entry : byAddress.entrySet()) {
      add(entry.getKey(), entry.getValue(), zones);
    }
    return zones;
  }

  private static void add(String address, Path directory, Map<Integer, List<PciDevice>> zones)
      throws IOException {
    var pciClass = hex(directory, "class");
    // a virtual function links to its physical one, and there can be thousands
    boolean virtual = Files.exists(directory.resolve("physfn"), LinkOption.NOFOLLOW_LINKS);
    if (pciClass.length() < 4 || !CLASSES.contains(pciClass.substring(0, 2)) || virtual) {
      return;
    }
    int zone = Integer.parseInt(Files.readString(directory.resolve("numa_node")).strip());
    if (zone < 0) {
      return;
    }
    var list = zones.computeIfAbsent(zone, z -> new ArrayList<>());
    if (list.size() < LONGEST_LIST) {
      var device = new PciDevice();
      device.address = address;
      device.pciClass = pciClass.substring(0, 4);
      device.id = hex(directory, "vendor") + ":" + hex(directory, "device");
      list.add(device);
    }
  }

  private static String hex(Path directory, String file) throws IOException {
    return Files.readString(directory.resolve(file)).strip().replaceFirst("^0x", "");
  }
}
