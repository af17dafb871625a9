package io.numaoperator.plan.kubelet;

import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Machines as odd as they come: sparse ids, zones of memory only, unequal zones, SMT of 1, 2 or 4,
 * offline threads, odd amounts of memory, hugepages, more sockets than zones.
 */
final class RandomMachine {
  private RandomMachine() {}

  static Inventory of(Random random) {
    int[] counts = {1, 1, 2, 2, 2, 2, 4, 4, 8, 3, 9, 12, 16, 17, 34};
    var inventory = new Inventory();
    int zones = counts[random.nextInt(counts.length)];
    int threads = new int[] {1, 2, 2, 4}[random.nextInt(4)];
    int id = 0;
    int cpu = 0;
    var offline = CpuSet.EMPTY;
    for (int i = 0; i < zones; i++) {
      var zone = new ZoneFacts();
      zone.id = id;
      id += random.nextInt(10) == 0 ? 1 + random.nextInt(5) : 1;
      var cpus = CpuSet.EMPTY;
      boolean memoryOnly = i > 0 && random.nextInt(8) == 0;
      int cores = memoryOnly ? 0 : random.nextInt(80) == 0 ? 1 : 2 + random.nextInt(40);
      for (int core = 0; core < cores; core++) {
        var online = CpuSet.of(cpu);
        for (int thread = 1; thread < threads; thread++) {
          int sibling = cpu + thread * 4096;
          if (random.nextInt(30) == 0) {
            offline = offline.union(CpuSet.of(sibling));
          } else {
            online = online.union(CpuSet.of(sibling));
          }
        }
        zone.cores.add(online.format());
        cpus = cpus.union(online);
        cpu++;
      }
      zone.cpus = cpus.format();
      zone.sockets =
          memoryOnly
              ? new ArrayList<>()
              : new ArrayList<>(
                  random.nextInt(10) == 0 ? List.of(2 * i, 2 * i + 1) : List.of(i / 2));
      memory(zone, random);
      inventory.zones.add(zone);
    }
    inventory.zoneCount = zones;
    inventory.offlineCpus = offline.format();
    inventory.memoryTotal = inventory.zones.stream().mapToLong(zone -> zone.memory).sum();
    return inventory;
  }

  private static void memory(ZoneFacts zone, Random random) {
    zone.memory = (2 + random.nextInt(200)) * Bytes.GI - random.nextInt(1 << 20) * Bytes.KI;
    zone.hugepages =
        switch (random.nextInt(8)) {
          case 0 -> zone.memory / (2 * Bytes.MI) * 2 * Bytes.MI;
          case 1, 2 -> zone.memory / 2 / (2 * Bytes.MI) * 2 * Bytes.MI;
          default -> 0L;
        };
  }
}
