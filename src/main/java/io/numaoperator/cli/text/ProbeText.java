package io.numaoperator.cli.text;

import io.numaoperator.cli.text.Table.Cell;
import io.numaoperator.topology.bandwidth.BandwidthReport;
import io.numaoperator.topology.bandwidth.BandwidthReport.Figures;
import io.numaoperator.topology.bandwidth.BandwidthReport.Pair;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** What {@code kubectl numa probe} prints. */
public final class ProbeText {
  private ProbeText() {}

  /**
   * Table, losses, and what to know of them.
   *
   * @param node its name
   */
  public static String of(String node, BandwidthReport report, Paint paint) {
    var text = new StringBuilder();
    var measured = report.measured();
    text.append(
        paint.of(
            Style.Title,
            "%s: reading %d MiB of memory in order, GB/s (the repeats' median and their spread)%n"
                .formatted(node, measured.bytes() >> 20)));
    var headers =
        Stream.concat(
                Stream.of("CPUS"), measured.zones().stream().map(zone -> "MEMORY " + zone.id()))
            .toArray(String[]::new);
    var table = new Table(headers);
    for (var zone : measured.zones()) {
      var its = report.pairs().stream().filter(p -> p.cpuZone() == zone.id()).toList();
      table.row(
          Stream.concat(Stream.of(Cell.of("zone " + zone.id())), its.stream().map(ProbeText::cell))
              .toArray(Cell[]::new));
    }
    text.append(table.format(paint, OptionalInt.empty())).append('\n');
    losses(report).forEach(line -> text.append(line).append('\n'));
    report.pairs().stream()
        .filter(pair -> pair.figures().isEmpty())
        .map(Pair::problem)
        .distinct()
        .forEach(problem -> text.append("not measured: ").append(problem).append('\n'));
    report
        .warnings()
        .forEach(warning -> text.append(paint.of(Style.Doubtful, "note: " + warning)).append('\n'));
    return text.toString();
  }

  private static Cell cell(Pair pair) {
    return pair.figures()
        .map(
            f ->
                new Cell(
                    "%.1f (%.0f %%)".formatted(f.median(), 100 * f.spread()),
                    f.isSure() ? Style.Bad : Style.Plain))
        .orElseGet(() -> Cell.of("-"));
  }

  private static List<String> losses(BandwidthReport report) {
    return report.pairs().stream()
        .filter(pair -> !pair.isLocal())
        .flatMap(pair -> pair.figures().stream().flatMap(f -> loss(pair, f)))
        .toList();
  }

  private static Stream<String> loss(Pair pair, Figures figures) {
    return figures.loss().stream()
        .map(
            loss ->
                figures.isSure()
                    ? "a pod with CPUs of zone %d and memory of zone %d reads %.0f %% slower than one that is aligned"
                        .formatted(pair.cpuZone(), pair.memoryZone(), 100 * loss)
                    : "a pod with CPUs of zone %d and memory of zone %d: no loss beyond the spread of the repeats"
                        .formatted(pair.cpuZone(), pair.memoryZone()));
  }
}
