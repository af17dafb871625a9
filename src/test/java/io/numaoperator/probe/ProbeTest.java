package io.numaoperator.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.bandwidth.Measured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Measures on the machine that the test runs on, whatever NUMA nodes it has. */
class ProbeTest {
  private static final Probe SHORT = new Probe(64 << 20, 2, 20_000_000, 2);
  private static final long LEAST =
      1_000_000; // bytes per second, on a machine that is hardly given to the test
  private static final double MOST = 1e13;

  private static List<Zones.Zone> zones() throws IOException {
    return new Zones(Path.of("/sys/devices/system")).read();
  }

  private static Measured run(List<Zones.Zone> zones) throws Exception {
    return SHORT.run(
        zones,
        Kernel.affinity(),
        () -> CpuTimes.parse(Files.readString(Path.of("/proc/stat"))),
        line -> {});
  }

  /** The kernel says of each thread, in a file of its own, where it may run. */
  @Test
  void threadsRunWhereTheyArePinned() throws Exception {
    var usable = Kernel.affinity();
    assertThat(usable.isEmpty()).isFalse();
    var allowed = new Crew(usable).run(thread -> allowed());
    assertThat(allowed)
        .containsExactlyElementsOf(
            usable.stream().mapToObj(cpu -> CpuSet.of(cpu).format()).toList());
    assertThat(Kernel.affinity()).as("of this thread").isEqualTo(usable);
  }

  private static String allowed() throws IOException {
    return Files.readString(Path.of("/proc/thread-self/status"))
        .lines()
        .filter(line -> line.startsWith("Cpus_allowed_list:"))
        .map(line -> line.split("\\s+", -1)[1])
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aCpuThatIsNotThereIsRefused() {
    assertThatThrownBy(() -> new Crew(CpuSet.of(8000)).run(thread -> thread))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("sched_setaffinity to CPUs 8000: errno 22");
  }

  @Test
  void memoryLiesWhereItWasTouched() throws Exception {
    for (var zone : zones()) {
      var cpus = zone.oneOfEachCore(Kernel.affinity(), 2);
      if (!cpus.isEmpty()) {
        try (var buffer = new Buffer(32 << 20)) {
          assertThat(buffer.shareOn(zone.id())).as("before it is touched").isEmpty();
          buffer.touch(new Crew(cpus));
          assertThat(buffer.shareOn(zone.id()).orElseThrow()).isGreaterThan(0.95);
        }
      }
    }
  }

  @Test
  void eachPairOfThisMachineIsMeasured() throws Exception {
    var zones = zones();
    var measured = run(zones);
    assertThat(measured.zones()).hasSize(zones.size());
    assertThat(measured.pairs()).hasSize(zones.size() * zones.size());
    var local = measured.pairs().stream().filter(p -> p.cpuZone() == p.memoryZone()).toList();
    assertThat(local)
        .filteredOn(p -> p.problem().isEmpty())
        .isNotEmpty()
        .allSatisfy(
            p ->
                assertThat(p.rates())
                    .hasSize(2)
                    .allSatisfy(rate -> assertThat(rate).isBetween((double) LEAST, MOST)));
    System.out.println(
        "read on this machine, in GB/s: "
            + measured.pairs().stream()
                .map(p -> p.rates().stream().map(r -> "%.1f".formatted(r / 1e9)).toList())
                .toList());
  }

  /** A zone that is made up: its memory would have to be where the kernel has none. */
  @Test
  void memoryThatLiesElsewhereIsNotCalledRemote() throws Exception {
    var real = zones().getFirst();
    var madeUp = new Zones.Zone(63, real.cpus(), real.cores(), 0);
    var measured = run(List.of(real, madeUp));
    assertThat(measured.pairs())
        .filteredOn(p -> p.memoryZone() == 63)
        .hasSize(2)
        .allSatisfy(
            p -> {
              assertThat(p.rates()).isEmpty();
              assertThat(p.problem())
                  .isEqualTo("the kernel has 0 % of the memory on zone 63, which may be full");
            });
  }

  @Test
  void zonesWithoutCpusToUseAreTold() throws Exception {
    var real = zones().getFirst();
    var memoryOnly = new Zones.Zone(8, CpuSet.EMPTY, List.of(), 0);
    var others = new Zones.Zone(9, CpuSet.of(7000), List.of(CpuSet.of(7000)), 0);
    var measured = run(List.of(real, memoryOnly, others));
    assertThat(measured.zones()).extracting(Measured.Zone::threads).endsWith("", "");
    assertThat(measured.pairs())
        .filteredOn(p -> p.cpuZone() != real.id() || p.memoryZone() != real.id())
        .hasSize(8)
        .allSatisfy(p -> assertThat(p.rates()).isEmpty())
        .extracting(Measured.Pair::problem)
        .contains(
            "zone 8 has no CPUs",
            "zone 8 has no CPUs, and only they can put memory there",
            "zone 9 has no CPUs that a pod without its own may use",
            "zone 9 has no CPUs that a pod without its own may use, and only they can put memory there");
  }
}
