package io.numaoperator.topology;

import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import java.util.ArrayList;
import java.util.List;

/** Builds inventories as an agent reports them: zones of equal size, CPUs numbered like Linux. */
public final class TestMachine {
  private int zones = 2;
  private int coresPerZone = 4;
  private int threads = 2;
  private long zoneMemory = 16 * Bytes.GI;
  private long hugepages = 0;
  private int sockets = 0;

  public static TestMachine zones(int zones) {
    var machine = new TestMachine();
    machine.zones = zones;
    return machine;
  }

  public TestMachine coresPerZone(int cores) {
    this.coresPerZone = cores;
    return this;
  }

  /** Hardware threads per core; 1 is SMT off. */
  public TestMachine threads(int threads) {
    this.threads = threads;
    return this;
  }

  public TestMachine zoneMemory(long bytes) {
    this.zoneMemory = bytes;
    return this;
  }

  /** In each zone. */
  public TestMachine hugepages(long bytes) {
    this.hugepages = bytes;
    return this;
  }

  /** Packages in all; by default one a zone. */
  public TestMachine sockets(int sockets) {
    this.sockets = sockets;
    return this;
  }

  public Inventory inventory() {
    var inventory = new Inventory();
    int cores = zones * coresPerZone;
    for (int id = 0; id < zones; id++) {
      var facts = new ZoneFacts();
      facts.id = id;
      facts.memory = zoneMemory;
      facts.hugepages = hugepages;
      var cpus = CpuSet.EMPTY;
      for (int core = id * coresPerZone; core < (id + 1) * coresPerZone; core++) {
        var siblings = CpuSet.EMPTY;
        for (int thread = 0; thread < threads; thread++) {
          siblings = siblings.union(CpuSet.of(core + thread * cores));
        }
        facts.cores.add(siblings.format());
        cpus = cpus.union(siblings);
      }
      facts.cpus = cpus.format();
      facts.sockets = socketsOf(id);
      inventory.zones.add(facts);
    }
    inventory.zoneCount = zones;
    inventory.offlineCpus = "";
    inventory.memoryTotal = zones * zoneMemory;
    return inventory;
  }

  private List<Integer> socketsOf(int zone) {
    var ids = new ArrayList<Integer>();
    for (int socket = 0; socket < (sockets == 0 ? zones : sockets); socket++) {
      if (socket % zones == zone) {
        ids.add(socket);
      }
    }
    return ids;
  }

  public Machine machine() {
    return Machine.of(inventory());
  }
}
