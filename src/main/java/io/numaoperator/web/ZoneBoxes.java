package io.numaoperator.web;

import io.numaoperator.topology.Bytes;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMap.Devices;
import io.numaoperator.view.NodeMap.Memory;
import io.numaoperator.view.NodeMap.State;
import io.numaoperator.view.NodeMap.Zone;
import io.numaoperator.web.Sheet.Resource;
import io.numaoperator.web.Sheet.ZoneBox;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** The zones of a node: each resource as a picture, and the same in words. */
final class ZoneBoxes {
  private final NodeMap map;
  private final boolean alone;

  private ZoneBoxes(NodeMap map, boolean alone) {
    this.map = map;
    this.alone = alone;
  }

  /**
   * @param alone whether the node is shown alone, with more to tell
   */
  static List<ZoneBox> of(NodeMap map, boolean alone) {
    var boxes = new ZoneBoxes(map, alone);
    return map.zones().stream().map(boxes::box).toList();
  }

  private ZoneBox box(Zone zone) {
    var pictures = new ZonePictures(map, alone);
    var resources = new ArrayList<Resource>();
    if (!zone.cpus().isEmpty()) {
      resources.add(new Resource("CPU", "CPUs", pictures.cpus(zone), cpus(zone)));
    }
    for (var devices : zone.devices()) {
      resources.add(
          new Resource(
              shortName(devices), devices.resource(), pictures.devices(devices), devices(devices)));
    }
    resources.add(
        new Resource(
            "Memory", "memory", ZonePictures.memory(zone.memory()), memory(zone.memory())));
    var distances =
        zone.distances().stream().map(String::valueOf).collect(Collectors.joining(", "));
    return new ZoneBox(
        "Zone " + zone.id(), resources, alone && !distances.isEmpty() ? distances : "");
  }

  private static String shortName(Devices devices) {
    if (devices.isGpu()) {
      return "GPU";
    }
    return devices.resource().substring(devices.resource().lastIndexOf('/') + 1);
  }

  private String cpus(Zone zone) {
    var counts = new Counts();
    zone.cpus().forEach(cpu -> counts.add(cpu.state(), map.isHeldAcross(cpu.holder())));
    return counts.words();
  }

  private String devices(Devices devices) {
    var counts = new Counts();
    devices.slots().forEach(slot -> counts.add(slot.state(), map.isHeldAcross(slot.holder())));
    return counts.words();
  }

  private static String memory(Memory memory) {
    if (memory.free().isEmpty()) {
      return size(memory.total()) + ", not pinned or not known";
    }
    var words = new ArrayList<String>();
    part(words, memory.held(), "held");
    part(words, memory.free(), "free");
    part(words, memory.reserved(), "kept");
    part(words, OptionalLong.of(memory.hugepages()), "hugepages");
    return String.join(", ", words);
  }

  private static void part(List<String> words, OptionalLong bytes, String what) {
    if (bytes.orElse(0) > 0) {
      words.add(size(bytes.getAsLong()) + " " + what);
    }
  }

  /** To a tenth, which is what one looks for in a picture; number and unit stay in one line. */
  private static String size(long bytes) {
    double gi = (double) bytes / Bytes.GI;
    return gi >= 0.1
        ? String.format(Locale.ROOT, gi == Math.rint(gi) ? "%.0f\u00a0GiB" : "%.1f\u00a0GiB", gi)
        : bytes / Bytes.MI + "\u00a0MiB";
  }

  /** How many are how. */
  private static final class Counts {
    private final Map<State, Integer> counts = new EnumMap<>(State.class);
    private int crossing;

    void add(State state, boolean crosses) {
      if (crosses) {
        crossing++;
      } else {
        counts.merge(state, 1, Integer::sum);
      }
    }

    String words() {
      var words = new ArrayList<String>();
      add(words, crossing, "across zones");
      add(words, counts.getOrDefault(State.Held, 0), "held");
      add(words, counts.getOrDefault(State.Free, 0), "free");
      add(words, counts.getOrDefault(State.Shared, 0), "shared");
      add(words, counts.getOrDefault(State.Reserved, 0), "kept");
      add(words, counts.getOrDefault(State.Unknown, 0), "not known");
      return String.join(", ", words);
    }

    private static void add(List<String> words, int count, String what) {
      if (count > 0) {
        words.add(count + " " + what);
      }
    }
  }
}
