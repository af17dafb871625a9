package io.numaoperator.web;

import io.numaoperator.api.Condition;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.view.NodeLine;
import io.numaoperator.view.NodeMap.Holder;
import io.numaoperator.web.Sheet.ConditionRow;
import io.numaoperator.web.Sheet.HolderRow;
import io.numaoperator.web.Sheet.NodeRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What is told of a node. */
final class NodeRows {
  /** Among others, a node tells of so many of its containers across zones. */
  private static final int MOST_CROSSING = 3;

  private NodeRows() {}

  /** With all there is to tell. */
  static NodeRow alone(Entry entry) {
    return row(entry, true);
  }

  /** As one of many. */
  static NodeRow amongOthers(Entry entry) {
    return row(entry, false);
  }

  private static NodeRow row(Entry entry, boolean alone) {
    var map = entry.map();
    var line = map.line();
    var crossing = map.holders().stream().filter(Holder::crosses).map(NodeRows::crossing).toList();
    int told = alone ? crossing.size() : Math.min(MOST_CROSSING, crossing.size());
    int notTold = Math.max(crossing.size(), line.cross().orElse(0)) - told;
    return new NodeRow(
        line.node(),
        "node-" + line.node(),
        Question.node(line.node()).href(),
        line.policy(),
        entry.standing().word(),
        entry.standing().label(),
        // the step of a change says more than that there is one
        line.step()
            .filter(step -> entry.standing() == Standing.Changing)
            .map(Enum::name)
            .orElse(line.reason()),
        line.next(),
        kubelet(line),
        ZoneBoxes.of(map, alone),
        crossing.subList(0, told),
        notTold == 0 ? "" : notTold + " more across zones",
        map.remarks(),
        alone ? entry.conditions().stream().map(NodeRows::condition).toList() : List.of(),
        alone ? map.holders().stream().map(NodeRows::holder).toList() : List.of(),
        alone && map.holdersLeftOut() > 0
            ? map.holdersLeftOut() + " more containers hold something than are listed."
            : "");
  }

  private static String kubelet(NodeLine line) {
    return line.topologyPolicy()
        .map(
            policy ->
                "kubelet: "
                    + policy
                    + line.topologyScope().map(scope -> ", scope " + scope).orElse(""))
        .orElse("");
  }

  private static String crossing(Holder holder) {
    var byZones = new LinkedHashMap<List<Integer>, List<String>>();
    part(byZones, "CPUs", holder.cpuZones());
    part(byZones, "memory", holder.memoryZones());
    part(byZones, "devices", holder.deviceZones());
    var parts =
        byZones.entrySet().stream()
            .map(
                e ->
                    "%s on zone%s %s"
                        .formatted(
                            enumerated(e.getValue()),
                            e.getKey().size() == 1 ? "" : "s",
                            zones(e.getKey())))
            .collect(Collectors.joining(", "));
    return "%s (%s): %s".formatted(holder.pod(), holder.container(), parts);
  }

  /** CPUs, memory and devices. */
  private static String enumerated(List<String> words) {
    int last = words.size() - 1;
    return last == 0
        ? words.getFirst()
        : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
  }

  private static void part(
      Map<List<Integer>, List<String>> byZones, String what, List<Integer> zones) {
    if (!zones.isEmpty()) {
      byZones.computeIfAbsent(zones, z -> new ArrayList<>()).add(what);
    }
  }

  private static ConditionRow condition(Condition c) {
    return new ConditionRow(
        c.type,
        Standing.of(c.status == null ? Condition.Status.Unknown : c.status).word(),
        String.valueOf(c.status),
        c.reason,
        c.message);
  }

  private static HolderRow holder(Holder h) {
    return new HolderRow(
        h.pod(),
        h.container(),
        h.crosses(),
        switch (h.placement()) {
          case Aligned -> "aligned";
          case CrossNUMA -> "across zones";
          case NotPinned -> "not pinned";
          case Unknown -> "not known";
          case Unsupported -> "not aligned (DRA)";
        },
        h.cpus().format(),
        zones(h.cpuZones()),
        zones(h.memoryZones()),
        h.devices().entrySet().stream()
            .map(d -> d.getValue() + " × " + d.getKey())
            .collect(Collectors.joining(", ")),
        zones(h.deviceZones()));
  }

  static String zones(List<Integer> zones) {
    if (zones.size() == 2) {
      return zones.getFirst() + " and " + zones.getLast();
    }
    return CpuSet.of(zones.stream().mapToInt(Integer::intValue)).format().replace(",", ", ");
  }
}
