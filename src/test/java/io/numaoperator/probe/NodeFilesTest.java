package io.numaoperator.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a probe reads of the kernel's files. */
class NodeFilesTest {
  @TempDir Path system;

  private static final String MAPS =
      """
      561892fde000 default file=/usr/bin/java mapped=2 mapmax=2 N0=2 kernelpagesize_kB=4
      7f0000000000 default anon=1024 dirty=1024 active=0 N0=24 N1=1000 kernelpagesize_kB=4
      7f0000800000 default
      7fff00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
      """;

  @Test
  void theShareOfAMappingByNode() {
    assertThat(NumaMaps.share(MAPS, 0x7f0000000000L, 1).orElseThrow())
        .isEqualTo(1000.0 / 1024, within(1e-9));
    assertThat(NumaMaps.share(MAPS, 0x7f0000000000L, 0).orElseThrow())
        .isEqualTo(24.0 / 1024, within(1e-9));
    assertThat(NumaMaps.share(MAPS, 0x7f0000000000L, 10)).hasValue(0);
    assertThat(NumaMaps.share(MAPS, 0x7f0000100000L, 1))
        .as("joined with what is before")
        .isPresent();
    assertThat(NumaMaps.share(MAPS, 0x7f0000800000L, 0)).as("no pages").isEmpty();
    assertThat(NumaMaps.share(MAPS, 1, 0)).as("not there").isEmpty();
  }

  @Test
  void busyIsWhatWasNotIdle() {
    var before =
        CpuTimes.parse(
            "cpu  9 9 9 9\ncpu0 100 0 0 500 0 0 0 0 0 0\ncpu1 0 0 0 600 0 0 0 0 0 0\nintr 1\n");
    var after = CpuTimes.parse("cpu0 170 10 10 505 5 0 0 0 50 0\ncpu1 0 0 0 700 0 0 0 0 0 0\n");
    assertThat(after.busySince(before, CpuSet.of(0))).isEqualTo(0.9, within(1e-9));
    assertThat(after.busySince(before, CpuSet.of(1))).isZero();
    assertThat(after.busySince(before, CpuSet.of(0, 1))).isEqualTo(0.45, within(1e-9));
    assertThat(after.busySince(before, CpuSet.of(7))).as("not known").isZero();
  }

  private void write(Map<String, String> files) throws IOException {
    for (var file : files.entrySet()) {
      var path = system.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue() + "\n");
    }
  }

  @Test
  void zonesWithTheirCoresAndCaches() throws IOException {
    write(Map.of("cpu/online", "0-5,7", "node/node0/cpulist", "0-1,4-5", "node/node2/cpulist", ""));
    write(Map.of("node/node1/cpulist", "2-3,6-7", "node/possible", "0-2"));
    for (int cpu = 0; cpu < 8; cpu++) {
      write(
          Map.of(
              "cpu/cpu%d/topology/thread_siblings_list".formatted(cpu),
              "%d,%d".formatted(cpu % 4, cpu % 4 + 4),
              "cpu/cpu%d/cache/index3/size".formatted(cpu),
              "1024K",
              "cpu/cpu%d/cache/index3/shared_cpu_list".formatted(cpu),
              cpu % 4 < 2 ? "0-1,4-5" : "%d,%d".formatted(cpu % 4, cpu % 4 + 4)));
    }
    var zones = new Zones(system).read();
    assertThat(zones).extracting(Zones.Zone::id).containsExactly(0, 1, 2);
    assertThat(zones.get(0).cores()).containsExactly(CpuSet.of(0, 4), CpuSet.of(1, 5));
    assertThat(zones.get(1).cpus()).as("6 is offline").isEqualTo(CpuSet.of(2, 3, 7));
    assertThat(zones.get(1).cores()).containsExactly(CpuSet.of(2), CpuSet.of(3, 7));
    assertThat(zones.get(0).cacheBytes()).as("one for all").isEqualTo(1 << 20);
    assertThat(zones.get(1).cacheBytes()).as("one for each core").isEqualTo(2 << 20);
    assertThat(zones.get(2).cpus().isEmpty()).isTrue();
    assertThat(zones.get(0).oneOfEachCore(CpuSet.parse("0-7"), 16)).isEqualTo(CpuSet.of(0, 1));
    assertThat(zones.get(0).oneOfEachCore(CpuSet.of(4, 5), 1)).isEqualTo(CpuSet.of(4));
    assertThat(zones.get(0).oneOfEachCore(CpuSet.of(2), 16).isEmpty()).isTrue();
  }
}
