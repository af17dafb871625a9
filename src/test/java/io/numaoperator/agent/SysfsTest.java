package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.topology.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a made-up machine: zones 0 and 8, SMT, CPU 7 offline, zone 255 of memory only. */
class SysfsTest {
  @TempDir Path root;
  private Sysfs sysfs;
  private PciBus pci;

  @BeforeEach
  void machine() throws IOException {
    file("proc/meminfo", "MemTotal:       25165824 kB\nMemFree: 1 kB\n");
    file("sys/devices/system/cpu/online", "0-6");
    file("sys/devices/system/cpu/offline", "7-127");
    file("sys/devices/system/cpu/present", "0-7");
    zone(0, "0-1,4-5", 8388608, "10 20 40");
    zone(8, "2-3,6-7", 8388608, "20 10 40");
    zone(255, "", 4194304, "40 40 10");
    file("sys/devices/system/node/node8/hugepages/hugepages-2048kB/nr_hugepages", "512");
    file("sys/devices/system/node/node8/hugepages/hugepages-1048576kB/nr_hugepages", "2");
    file("sys/devices/system/node/possible", "0-255");
    for (int cpu = 0; cpu < 7; cpu++) {
      var topology = "sys/devices/system/cpu/cpu" + cpu + "/topology/";
      int core = cpu % 4;
      // the kernel leaves offline siblings out itself; a made-up sysfs may not
      file(topology + "thread_siblings_list", core + "," + (core + 4));
      file(topology + "physical_package_id", core < 2 ? "0" : "1");
    }
    sysfs = new Sysfs(root.resolve("sys"), root.resolve("proc"));
    pci = new PciBus(root.resolve("sys"));
  }

  @Test
  void readsZones() throws IOException {
    var zones = sysfs.zones();
    assertThat(zones).extracting(z -> z.id).containsExactly(0, 8, 255);
    assertThat(zones).extracting(z -> z.cpus).containsExactly("0-1,4-5", "2-3,6", "");
    assertThat(zones.get(0).cores).containsExactly("0,4", "1,5");
    assertThat(zones.get(1).cores).containsExactly("2,6", "3");
    assertThat(zones.get(2).cores).isEmpty();
    assertThat(zones.get(1).sockets).containsExactly(1);
    assertThat(zones.get(0).memory).isEqualTo(8L << 30);
    assertThat(zones.get(0).hugepages).isZero();
    assertThat(zones.get(1).hugepages).isEqualTo(3L << 30);
    assertThat(zones.get(2).distances).containsExactly(40, 40, 10);
  }

  @Test
  void readsTheRest() throws IOException {
    assertThat(sysfs.offlineCpus().format()).isEqualTo("7");
    assertThat(sysfs.memoryTotal()).isEqualTo(24L << 30);
  }

  @Test
  void theArithmeticUnderstandsIt() throws IOException {
    var inventory = new Inventory();
    inventory.zones = sysfs.zones();
    inventory.memoryTotal = sysfs.memoryTotal();
    assertThat(Machine.of(inventory).cpus().format()).isEqualTo("0-6");
  }

  @Test
  void readsDevicesNearAZone() throws IOException {
    function("0000:17:00.0", "0x030200", "0", "0x10de", "0x2330");
    function("0000:17:00.1", "0x030200", "0", "0x10de", "0x2330");
    file("sys/bus/pci/devices/0000:17:00.1/physfn", "stands for the link of a virtual function");
    function("0000:3b:00.0", "0x020000", "8", "0x15b3", "0x101b");
    function("0000:00:1f.0", "0x060100", "0", "0x8086", "0x1234");
    function("0000:99:00.0", "0x120000", "-1", "0x1da3", "0x1020");
    var zones = pci.byZone();
    assertThat(zones.keySet()).containsExactly(0, 8);
    assertThat(zones.get(0)).extracting(d -> d.address).containsExactly("0000:17:00.0");
    assertThat(zones.get(0).getFirst().pciClass).isEqualTo("0302");
    assertThat(zones.get(0).getFirst().id).isEqualTo("10de:2330");
    assertThat(zones.get(8)).extracting(d -> d.pciClass).containsExactly("0200");
  }

  @Test
  void aMachineWithoutPciHasNone() throws IOException {
    assertThat(pci.byZone()).isEmpty();
  }

  @Test
  void listsAtMost64AZone() throws IOException {
    for (int i = 0; i < 70; i++) {
      function("0000:%02x:00.0".formatted(i), "0x020000", "0", "0x15b3", "0x101b");
    }
    assertThat(pci.byZone().get(0)).hasSize(64);
  }

  private void zone(int id, String cpus, long kilobytes, String distances) throws IOException {
    var directory = "sys/devices/system/node/node" + id + "/";
    file(directory + "cpulist", cpus);
    file(directory + "meminfo", "Node %d MemTotal:       %d kB\n".formatted(id, kilobytes));
    file(directory + "distance", distances);
  }

  private void function(String address, String pciClass, String zone, String vendor, String device)
      throws IOException {
    var directory = "sys/bus/pci/devices/" + address + "/";
    file(directory + "class", pciClass);
    file(directory + "numa_node", zone);
    file(directory + "vendor", vendor);
    file(directory + "device", device);
  }

  private void file(String path, String text) throws IOException {
    var file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }
}
