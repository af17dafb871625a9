package io.numaoperator.cli.text;

import io.numaoperator.cli.text.Table.Cell;
import io.numaoperator.topology.Bytes;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMap.Devices;
import io.numaoperator.view.NodeMap.Holder;
import io.numaoperator.view.NodeMap.Memory;
import io.numaoperator.view.NodeMap.State;
import io.numaoperator.view.NodeMap.Zone;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** One node, drawn: {@code kubectl numa map NODE}. */
public final class NodeMapText {
  private static final int ROW = 32; // CPUs
  private static final int BAR = 32; // marks of a zone's memory
  private static final int LABEL = 9;

  private final NodeMap map;
  private final Paint paint;
  private final Marks marks;

  private NodeMapText(NodeMap map, Paint paint) {
    this.map = map;
    this.paint = paint;
    this.marks = new Marks(map);
  }

  /** With a legend of the marks, and the containers that hold something. */
  public static String of(NodeMap map, Paint paint, OptionalInt width) {
    return new NodeMapText(map, paint).text(width);
  }

  private String text(OptionalInt width) {
    var text = new StringBuilder(title());
    map.zones().forEach(zone -> text.append('\n').append(zone(zone)));
    if (!map.unplacedDevices().isEmpty()) {
      text.append('\n')
          .append(paint.of(Style.Bad, "without a NUMA node: " + list(map.unplacedDevices())))
          .append('\n');
    }
    if (!map.holders().isEmpty()) {
      text.append('\n').append(holders(width));
    }
    text.append('\n').append(paint.of(Style.Minor, legend())).append('\n');
    map.remarks()
        .forEach(remark -> text.append(paint.of(Style.Doubtful, "note: " + remark)).append('\n'));
    return text.toString();
  }

  private String title() {
    var line = map.line();
    return paint.of(Style.Title, line.node())
        + "  policy "
        + line.policy()
        + "  "
        + paint.of(StatusText.style(line.ready()), readiness(line.ready().name(), line.reason()))
        + "  "
        + StatusText.topology(line)
        + "\n"
        + (line.isReady() ? "" : line.next() + "\n");
  }

  private static String readiness(String ready, String reason) {
    return "AlignmentReady=%s (%s)".formatted(ready, reason);
  }

  private String zone(Zone zone) {
    var text = new StringBuilder();
    text.append(paint.of(Style.Title, "NUMA node " + zone.id()));
    if (!zone.distances().isEmpty()) {
      text.append("  distances ")
          .append(zone.distances().stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }
    text.append('\n').append(cpus(zone));
    zone.devices().forEach(devices -> text.append(devices(devices)));
    return text.append(memory(zone.memory())).toString();
  }

  private String cpus(Zone zone) {
    if (zone.cpus().isEmpty()) {
      return line("CPUs", "none", "a zone of memory only");
    }
    var text = new StringBuilder();
    int all = zone.cpus().size();
    for (int first = 0; first < all; first += ROW) {
      var row = zone.cpus().subList(first, Math.min(all, first + ROW));
      var strip = new Strip(paint);
      row.forEach(
          cpu ->
              strip.add(
                  marks.style(cpu.state(), cpu.holder()),
                  String.valueOf(marks.of(cpu.state(), cpu.holder()))));
      var ids = "%d-%d".formatted(row.getFirst().id(), row.getLast().id());
      text.append(
          padded(
              first == 0 ? "CPUs" : "",
              strip.text(),
              row.size(),
              Math.min(all, ROW),
              all > ROW ? ids + (first == 0 ? ": " + counts(zone) : "") : counts(zone)));
    }
    return text.toString();
  }

  private static String counts(Zone zone) {
    return Arrays.stream(State.values())
        .filter(state -> zone.cpus(state) > 0)
        .map(state -> zone.cpus(state) + " " + word(state))
        .collect(Collectors.joining(", "));
  }

  private String devices(Devices devices) {
    var strip = new Strip(paint);
    devices
        .slots()
        .forEach(
            slot ->
                strip.add(
                    marks.style(slot.state(), slot.holder()),
                    String.valueOf(marks.of(slot.state(), slot.holder()))));
    var counts =
        Arrays.stream(State.values())
            .filter(state -> devices.count(state) > 0)
            .map(state -> devices.count(state) + " " + word(state))
            .collect(Collectors.joining(", "));
    return line(
        devices.isGpu() ? "GPUs" : "devices", strip.text(), counts + "  " + devices.resource());
  }

  private String memory(Memory memory) {
    var amounts = new ArrayList<String>();
    add(amounts, memory.held(), "held");
    add(amounts, memory.free(), "free");
    add(amounts, memory.reserved(), "reserved");
    var of = amounts.isEmpty() ? "" : " of ";
    return line(
        "memory",
        bar(memory),
        String.join(", ", amounts)
            + of
            + size(memory.total())
            + (memory.hugepages() > 0 ? ", hugepages " + size(memory.hugepages()) : "")
            + (memory.free().isEmpty() ? " (not pinned, or not known)" : ""));
  }

  private String bar(Memory memory) {
    if (memory.free().isEmpty() || memory.total() <= 0) {
      return new Strip(paint).add(Style.Minor, "-".repeat(BAR)).text();
    }
    int held = part(memory.held().orElse(0), memory.total());
    int free = Math.min(BAR - held, part(memory.free().getAsLong(), memory.total()));
    return new Strip(paint)
        .add(Style.Minor, "#".repeat(BAR - held - free))
        .add(Style.Plain, "=".repeat(held))
        .add(Style.Good, ".".repeat(free))
        .text();
  }

  /** What is there at all has at least one mark. */
  private static int part(long bytes, long total) {
    return bytes == 0 ? 0 : (int) Math.clamp(Math.round((double) BAR * bytes / total), 1, BAR);
  }

  private static void add(List<String> amounts, OptionalLong amount, String word) {
    amount.ifPresent(bytes -> amounts.add(size(bytes) + " " + word));
  }

  /** To be read, not to be computed with: one digit after the point. */
  static String size(long bytes) {
    var units = List.of("Gi", "Mi", "Ki");
    var sizes = List.of(Bytes.GI, Bytes.MI, Bytes.KI);
    for (int i = 0; i < sizes.size(); i++) {
      if (bytes >= sizes.get(i)) {
        long tenths = Math.round(10.0 * bytes / sizes.get(i));
        return tenths % 10 == 0
            ? tenths / 10 + units.get(i)
            : tenths / 10 + "." + tenths % 10 + units.get(i);
      }
    }
    return Long.toString(bytes);
  }

  private String holders(OptionalInt width) {
    var table =
        new Table(
            "",
            "HELD BY",
            "CONTAINER",
            "CPUS",
            "CPU-ZONE",
            "MEM-ZONE",
            "DEV-ZONE",
            "PLACED",
            "DEVICES");
    for (int i = 0; i < map.holders().size(); i++) {
      var holder = map.holders().get(i);
      var style = holder.crosses() ? Style.Bad : Style.Plain;
      table.row(
          new Cell(String.valueOf(marks.of(i)), style),
          new Cell(holder.pod(), style),
          Cell.of(holder.container()),
          Cell.of(orNone(holder.cpus().format())),
          Cell.of(ids(holder.cpuZones())),
          Cell.of(ids(holder.memoryZones())),
          Cell.of(ids(holder.deviceZones())),
          new Cell(holder.placement().name(), placed(holder)),
          Cell.of(orNone(list(holder.devices()))));
    }
    return table.format(paint, width);
  }

  private static Style placed(Holder holder) {
    return switch (holder.placement()) {
      case Aligned -> Style.Good;
      case CrossNUMA -> Style.Bad;
      case NotPinned, Unknown, Unsupported -> Style.Doubtful;
    };
  }

  private static String orNone(String text) {
    return text.isEmpty() ? "-" : text;
  }

  private static String ids(List<Integer> zones) {
    return orNone(zones.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private static String list(Map<String, Integer> devices) {
    return devices.entrySet().stream()
        .map(e -> e.getValue() + " " + e.getKey())
        .collect(Collectors.joining(", "));
  }

  private static String legend() {
    return "a-z held by a container on one NUMA node, A-Z by one across NUMA nodes, * by another;"
        + " . free, # reserved, - shared, ? unknown";
  }

  private static String word(State state) {
    return switch (state) {
      case Free -> "free";
      case Held -> "held";
      case Reserved -> "reserved";
      case Shared -> "shared by all containers";
      case Unknown -> "unknown";
    };
  }

  private static String line(String label, String strip, String words) {
    return "  " + label + " ".repeat(LABEL - label.length()) + strip + "  " + words + "\n";
  }

  private static String padded(String label, String strip, int length, int room, String words) {
    return line(label, strip + " ".repeat(room - length), words);
  }
}
