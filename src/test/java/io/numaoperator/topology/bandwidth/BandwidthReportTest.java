package io.numaoperator.topology.bandwidth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.numaoperator.topology.bandwidth.BandwidthReport.Figures;
import io.numaoperator.topology.bandwidth.BandwidthReport.Pair;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class BandwidthReportTest {
  private static final Offset<Double> EXACT = within(1e-9);
  private static final Measured.Zone ZERO = new Measured.Zone(0, "0-3", 32 << 20, 0.01);
  private static final Measured.Zone ONE = new Measured.Zone(1, "4-7", 32 << 20, 0.02);

  /** In GB per second. */
  private static Measured.Pair pair(int cpus, int memory, double... rates) {
    return new Measured.Pair(
        cpus, memory, Arrays.stream(rates).map(r -> r * 1e9).boxed().toList(), "");
  }

  private static BandwidthReport of(Measured.Pair... pairs) {
    return BandwidthReport.of(new Measured(1L << 30, List.of(ZERO, ONE), List.of(pairs)));
  }

  private static Figures figures(BandwidthReport report, int cpus, int memory) {
    return report.pairs().stream()
        .filter(p -> p.cpuZone() == cpus && p.memoryZone() == memory)
        .findFirst()
        .flatMap(Pair::figures)
        .orElseThrow();
  }

  @Test
  void theLossIsAgainstTheSameCpusWithTheirOwnMemory() {
    var report =
        of(
            pair(1, 1, 80, 80, 80),
            pair(0, 1, 65, 64, 66),
            pair(0, 0, 100, 101, 99),
            pair(1, 0, 60, 60, 60));
    assertThat(figures(report, 0, 1).median()).isEqualTo(65, EXACT);
    assertThat(figures(report, 0, 1).loss())
        .hasValueSatisfying(l -> assertThat(l).isEqualTo(0.35, EXACT));
    assertThat(figures(report, 0, 1).isSure()).isTrue();
    assertThat(figures(report, 1, 0).loss())
        .hasValueSatisfying(l -> assertThat(l).isEqualTo(0.25, EXACT));
    assertThat(figures(report, 0, 0).loss()).isEmpty();
    assertThat(report.worst())
        .hasValueSatisfying(
            worst ->
                assertThat(List.of(worst.cpuZone(), worst.memoryZone())).containsExactly(0, 1));
    assertThat(report.pairs())
        .extracting(p -> "" + p.cpuZone() + p.memoryZone())
        .containsExactly("00", "01", "10", "11");
    assertThat(report.isWhole()).isTrue();
    assertThat(report.warnings()).isEmpty();
  }

  @Test
  void medianAndSpreadOfTheRepeats() {
    var odd = figures(of(pair(0, 0, 90, 110, 100)), 0, 0);
    assertThat(odd.median()).isEqualTo(100, EXACT);
    assertThat(odd.spread()).isEqualTo(0.2, EXACT);
    assertThat(odd.least()).isEqualTo(90, EXACT);
    assertThat(odd.most()).isEqualTo(110, EXACT);
    assertThat(figures(of(pair(0, 0, 90, 110, 100, 104)), 0, 0).median()).isEqualTo(102, EXACT);
    assertThat(figures(of(pair(0, 0, 7)), 0, 0).spread()).isZero();
  }

  /** Where a repeat with remote memory was as fast as one with local, nothing is claimed. */
  @Test
  void whatIsWithinTheSpreadIsNotSure() {
    var report =
        of(pair(0, 0, 100, 99, 98), pair(0, 1, 98, 97, 96), pair(1, 1, 50), pair(1, 0, 60));
    assertThat(figures(report, 0, 1).isSure()).isFalse();
    assertThat(figures(report, 1, 0).isSure()).isFalse();
    assertThat(figures(report, 1, 0).loss())
        .hasValueSatisfying(l -> assertThat(l).isEqualTo(-0.2, EXACT));
    assertThat(report.worst()).isEmpty();
  }

  @Test
  void withoutALocalFigureThereIsNoLoss() {
    var report = of(Measured.Pair.none(0, 0, "why"), pair(0, 1, 50));
    assertThat(figures(report, 0, 1).loss()).isEmpty();
    assertThat(report.isWhole()).isFalse();
    assertThat(report.pairs().getFirst().problem()).isEqualTo("why");
    assertThat(report.pairs().getFirst().figures()).isEmpty();
  }

  @Test
  void warnsOfWhatMakesFiguresDoubtful() {
    var busy = new Measured.Zone(0, "0", 0, 0.43);
    var cached = new Measured.Zone(1, "4", 300 << 20, 0);
    var report =
        BandwidthReport.of(
            new Measured(1L << 30, List.of(busy, cached), List.of(pair(0, 0, 10, 12, 11))));
    assertThat(report.warnings())
        .containsExactly(
            "the machine is busy: others used 43 % of the CPU time of zone 0 just before; try again when it is idle",
            "the caches of zone 1 hold 300 MiB, so that some of what was read came from them; try again with --memory 1200Mi",
            "CPUs of zone 0 with memory of zone 0: the repeats are 18 % apart, something else was using CPUs or memory");
  }

  @Test
  void aMachineWithOneZoneHasNothingRemote() {
    var report =
        BandwidthReport.of(new Measured(1L << 30, List.of(ZERO), List.of(pair(0, 0, 10, 10))));
    assertThat(report.warnings())
        .containsExactly(
            "the machine has one NUMA node: all of its memory is local, and no pod can be misplaced");
    assertThat(report.worst()).isEmpty();
    assertThat(report.isWhole()).isTrue();
  }

  /** A third zone: each loss has the local figure of its own CPUs. */
  @Test
  void eachPairOfThreeZones() {
    var zones = Stream.of(0, 1, 4).map(id -> new Measured.Zone(id, "", 0, 0)).toList();
    var pairs =
        zones.stream()
            .flatMap(
                c ->
                    zones.stream()
                        .map(m -> pair(c.id(), m.id(), c.id() == m.id() ? 100 : 90 - m.id())))
            .toList();
    var report = BandwidthReport.of(new Measured(1L << 30, zones, pairs));
    assertThat(report.pairs()).hasSize(9);
    assertThat(figures(report, 0, 4).loss())
        .hasValueSatisfying(l -> assertThat(l).isEqualTo(0.14, EXACT));
    assertThat(report.worst().orElseThrow().memoryZone()).isEqualTo(4);
  }
}
