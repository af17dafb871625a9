package io.numaoperator.agent;

import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.Placement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Containers with what they hold, as a table for people. */
final class PodResourcesTable {
  private static final List<String> HEAD =
      List.of("POD", "CONTAINER", "CPUS", "DEVICES", "CPU-ZONE", "MEM-ZONE", "DEV-ZONE", "PLACED");

  private PodResourcesTable() {}

  static String of(List<Container> containers, List<ZoneFacts> zones, long memoryTotal) {
    var inventory = new Inventory();
    inventory.zones = zones;
    inventory.zoneCount = zones.size();
    inventory.memoryTotal = memoryTotal;
    var machine = Machine.of(inventory);
    var rows = new ArrayList<List<String>>();
    rows.add(HEAD);
    for (var container : containers) {
      rows.add(row(container, Placement.of(ContainerAudit.holding(container), machine)));
    }
    return rows.stream().map(row -> line(row, rows)).collect(Collectors.joining());
  }

  private static List<String> row(Container container, Placement placement) {
    var devices = new TreeMap<String, Integer>();
    container.devices().forEach(device -> devices.merge(device.resource(), 1, Integer::sum));
    return List.of(
        container.podName(),
        container.name(),
        shown(container.cpus().format()),
        shown(
            devices.entrySet().stream()
                .map(device -> device.getValue() + " " + device.getKey())
                .collect(Collectors.joining(","))),
        zones(placement.cpuZones()),
        zones(placement.memoryZones()),
        zones(placement.deviceZones()),
        placement.verdict().name());
  }

  private static String zones(Collection<Integer> zones) {
    return shown(zones.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private static String shown(String text) {
    return text.isEmpty() ? "-" : text;
  }

  private static String line(List<String> row, List<List<String>> rows) {
    var line = new StringBuilder();
    for (int i = 0; i < row.size(); i++) {
      int column = i;
      int width = rows.stream().mapToInt(r -> r.get(column).length()).max().orElse(0);
      line.append(row.get(i)).repeat(' ', width - row.get(i).length() + 2);
    }
    return line.toString().stripTrailing() + "\n";
  }
}
