package io.numaoperator.cli.text;

import io.numaoperator.cli.text.Table.Cell;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMap.Devices;
import io.numaoperator.view.NodeMap.State;
import io.numaoperator.view.NodeMap.Zone;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** All nodes, a line for each NUMA node: {@code kubectl numa map}. */
public final class ClusterMapText {
  private static final int MOST_MARKS = 16;

  private ClusterMapText() {}

  /** Nodes in the order that they are given in. */
  public static String of(List<NodeMap> nodes, Paint paint, OptionalInt width) {
    if (nodes.isEmpty()) {
      return "no policy has a node yet\n";
    }
    var table =
        new Table(
            "NODE", "READY", "ZONE", "CPUS", "FREE", "GPUS", "FREE", "MEMORY FREE", "HELD BY");
    for (var node : nodes) {
      rows(node, table);
    }
    return table.format(paint, width)
        + "\n"
        + paint.of(
            Style.Minor,
            "x held, X held by a container across NUMA nodes, . free, # reserved, - shared, ? unknown"
                + "; one node in full: kubectl numa map NODE")
        + "\n";
  }

  private static void rows(NodeMap node, Table table) {
    boolean first = true;
    var name = new Cell(node.line().node(), Style.Title);
    var ready = StatusText.ready(node.line().ready());
    for (var zone : node.zones()) {
      var gpus = zone.devices().stream().filter(Devices::isGpu).findFirst();
      table.row(
          first ? name : Cell.of(""),
          first ? ready : Cell.of(""),
          Cell.of(zone.id()),
          strip(node, zone),
          Cell.of(free(zone)),
          gpus.map(devices -> gpus(node, devices)).orElse(Cell.of("-")),
          gpus.map(d -> Cell.of(free(d))).orElse(Cell.of("-")),
          Cell.of(memory(zone)),
          holders(node, zone));
      first = false;
    }
    if (node.zones().isEmpty()) {
      table.row(
          name,
          ready,
          Cell.of("?"),
          Cell.of("?"),
          Cell.of("?"),
          Cell.of("?"),
          Cell.of("?"),
          Cell.of("?"),
          Cell.of(node.line().next()));
    }
  }

  /** A mark for each CPU; on larger zones the numbers have to do. */
  private static Cell strip(NodeMap node, Zone zone) {
    if (zone.cpus().size() > MOST_MARKS) {
      return Cell.of(zone.cpus().size() + " CPUs");
    }
    return Cell.of(
        zone.cpus().stream()
            .map(cpu -> mark(node, cpu.state(), cpu.holder()))
            .collect(Collectors.joining()));
  }

  private static Cell gpus(NodeMap node, Devices devices) {
    return Cell.of(
        devices.slots().size() > MOST_MARKS
            ? devices.slots().size() + " GPUs"
            : devices.slots().stream()
                .map(slot -> mark(node, slot.state(), slot.holder()))
                .collect(Collectors.joining()));
  }

  private static String mark(NodeMap node, State state, OptionalInt holder) {
    return switch (state) {
      case Free -> ".";
      case Held -> node.isHeldAcross(holder) ? "X" : "x";
      case Reserved -> "#";
      case Shared -> "-";
      case Unknown -> "?";
    };
  }

  private static String free(Zone zone) {
    if (zone.cpus(State.Shared) > 0) {
      return "shared";
    }
    int unknown = zone.cpus(State.Unknown);
    int all = zone.cpus().size() - zone.cpus(State.Reserved);
    return unknown > 0 ? "?/" + all : zone.cpus(State.Free) + "/" + all;
  }

  private static String free(Devices devices) {
    return devices.count(State.Unknown) > 0
        ? "?/" + devices.slots().size()
        : devices.count(State.Free) + "/" + devices.slots().size();
  }

  private static String memory(Zone zone) {
    var memory = zone.memory();
    return memory.free().isPresent()
        ? NodeMapText.size(memory.free().getAsLong())
            + "/"
            + NodeMapText.size(memory.free().getAsLong() + memory.held().orElse(0))
        : "?/" + NodeMapText.size(memory.total());
  }

  private static Cell holders(NodeMap node, Zone zone) {
    var here =
        node.holders().stream()
            .filter(
                h ->
                    h.cpuZones().contains(zone.id())
                        || h.deviceZones().contains(zone.id())
                        || h.memoryZones().contains(zone.id()))
            .toList();
    var names =
        here.stream()
            .map(h -> h.pod() + (h.crosses() ? " (across NUMA nodes)" : ""))
            .distinct()
            .collect(Collectors.joining(", "));
    return new Cell(
        names.isEmpty() ? "-" : names,
        here.stream().anyMatch(NodeMap.Holder::crosses) ? Style.Bad : Style.Plain);
  }
}
