package io.numaoperator.web;

import io.numaoperator.topology.CpuSet;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMap.Cpu;
import io.numaoperator.view.NodeMap.Devices;
import io.numaoperator.view.NodeMap.Memory;
import io.numaoperator.view.NodeMap.State;
import io.numaoperator.view.NodeMap.Zone;
import io.numaoperator.web.Drawing.Cell;
import io.numaoperator.web.Drawing.Kind;
import io.numaoperator.web.Drawing.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The pictures of a node's zones: CPUs by core, devices, memory. */
final class ZonePictures {
  /** Every picture is as wide, so that zones and nodes can be compared by eye. */
  static final int WIDTH = 224;

  private static final int MEMORY_HEIGHT = 12;
  private static final int FEW_CORES = 16;
  private static final int FEW_DEVICES = 8;
  private static final int MANY_DEVICES = 64;
  private static final int SMALL = 7;
  private static final int MEDIUM = 14;
  private static final int LARGE = 28;

  private final NodeMap map;
  private final boolean named;

  /**
   * @param named whether each cell tells under the pointer what it is
   */
  ZonePictures(NodeMap map, boolean named) {
    this.map = map;
    this.named = named;
  }

  /** A column is a physical core; its hardware threads are below each other. */
  Drawing cpus(Zone zone) {
    var byId = new HashMap<Integer, Cpu>();
    zone.cpus().forEach(cpu -> byId.put(cpu.id(), cpu));
    var columns = columns(zone);
    int pitch = columns.size() <= FEW_CORES ? MEDIUM : SMALL;
    int perLine = WIDTH / pitch;
    int threads = columns.stream().mapToInt(List::size).max().orElse(1);
    var cells = new ArrayList<Cell>();
    for (int core = 0; core < columns.size(); core++) {
      var column = columns.get(core);
      for (int thread = 0; thread < column.size(); thread++) {
        var cpu = byId.get(column.get(thread));
        cells.add(
            new Cell(
                core % perLine,
                core / perLine * threads + thread,
                kind(cpu.state(), cpu.holder()),
                "CPU " + cpu.id() + ": " + who(cpu.state(), cpu.holder())));
      }
    }
    return Drawing.cells(cells, pitch, pitch == SMALL ? SMALL - 1 : MEDIUM - 2, named);
  }

  private static List<List<Integer>> columns(Zone zone) {
    var columns = new ArrayList<List<Integer>>();
    var rest = CpuSet.of(zone.cpus().stream().mapToInt(Cpu::id));
    for (var core : zone.cores()) {
      var here = core.intersect(rest);
      if (!here.isEmpty()) {
        columns.add(here.stream().boxed().toList());
        rest = rest.minus(here);
      }
    }
    rest.stream().forEach(cpu -> columns.add(List.of(cpu)));
    return columns;
  }

  Drawing devices(Devices devices) {
    int count = devices.slots().size();
    int pitch = count <= FEW_DEVICES ? LARGE : count <= MANY_DEVICES ? MEDIUM : SMALL;
    int perLine = WIDTH / pitch;
    var cells = new ArrayList<Cell>();
    for (int i = 0; i < count; i++) {
      var slot = devices.slots().get(i);
      cells.add(
          new Cell(
              i % perLine,
              i / perLine,
              kind(slot.state(), slot.holder()),
              devices.resource() + ": " + who(slot.state(), slot.holder())));
    }
    return Drawing.cells(cells, pitch, pitch == SMALL ? SMALL - 1 : pitch - 2, named);
  }

  /** From the left: kept for the system, held, free, and what nothing is known of. */
  static Drawing memory(Memory memory) {
    var shapes = new ArrayList<Shape>();
    long total = Math.max(1, memory.total());
    int x = 0;
    x = bar(shapes, x, Kind.reserved, memory.reserved(), total);
    x = bar(shapes, x, Kind.held, memory.held(), total);
    x = bar(shapes, x, Kind.free, memory.free(), total);
    x = bar(shapes, x, Kind.huge, OptionalLong.of(memory.hugepages()), total);
    if (x < WIDTH - 1) {
      // what the Memory Manager does not pin is everybody's
      var rest = memory.free().isPresent() ? Kind.unknown : Kind.shared;
      shapes.add(new Shape(rest.name(), Drawing.box(x, 0, WIDTH - x, MEMORY_HEIGHT), ""));
    }
    return new Drawing(WIDTH, MEMORY_HEIGHT, shapes);
  }

  private static int bar(List<Shape> shapes, int x, Kind kind, OptionalLong bytes, long total) {
    // what is there is seen, however little
    long wanted = Math.ceilDiv(bytes.orElse(0) * WIDTH, total);
    int width = (int) Math.min(wanted == 0 ? 0 : Math.max(2, wanted), WIDTH - x);
    if (width > 1) {
      shapes.add(new Shape(kind.name(), Drawing.box(x, 0, width, MEMORY_HEIGHT), ""));
      return x + width;
    }
    return x;
  }

  private Kind kind(State state, OptionalInt holder) {
    return switch (state) {
      case Free -> Kind.free;
      case Held -> map.isHeldAcross(holder) ? Kind.cross : Kind.held;
      case Reserved -> Kind.reserved;
      case Shared -> Kind.shared;
      case Unknown -> Kind.unknown;
    };
  }

  private String who(State state, OptionalInt holder) {
    return switch (state) {
      case Free -> "free";
      case Held ->
          map.holder(holder)
              .map(
                  h ->
                      "held by %s, container %s%s"
                          .formatted(h.pod(), h.container(), h.crosses() ? ", across zones" : ""))
              .orElse("held; by whom is not known");
      case Reserved -> "kept for the system";
      case Shared -> "shared by all containers";
      case Unknown -> "not known";
    };
  }
}
