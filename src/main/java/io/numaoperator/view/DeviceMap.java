package io.numaoperator.view;

import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.view.NodeMap.Devices;
import io.numaoperator.view.NodeMap.Slot;
import io.numaoperator.view.NodeMap.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Who has how many devices of each zone. A device on several zones is drawn on each. */
final class DeviceMap {
  private final List<PlacedContainer> placed;
  private final boolean listIsWhole;
  private final Map<Integer, ZoneAmounts> amounts;

  /**
   * @param placed the containers in the order of the map's holders
   */
  DeviceMap(boolean listIsWhole, List<PlacedContainer> placed, Map<Integer, ZoneAmounts> amounts) {
    this.placed = placed;
    this.listIsWhole = listIsWhole;
    this.amounts = amounts;
  }

  /**
   * @param devices of that zone, by resource
   */
  List<Devices> of(int zone, Map<String, Integer> devices) {
    return devices.entrySet().stream()
        .map(e -> new Devices(e.getKey(), slots(zone, e.getKey(), e.getValue())))
        .sorted(Comparator.comparing((Devices d) -> !d.isGpu()).thenComparing(Devices::resource))
        .toList();
  }

  private List<Slot> slots(int zone, String resource, int count) {
    var slots = new ArrayList<Slot>();
    for (int i = 0; i < placed.size(); i++) {
      add(slots, held(placed.get(i), zone, resource), State.Held, OptionalInt.of(i));
    }
    var free = amounts.getOrDefault(zone, ZoneAmounts.NONE).free(resource);
    if (free.isPresent()) {
      int byOthers = (int) Math.max(0, count - free.getAsLong() - slots.size());
      add(slots, byOthers, State.Held, OptionalInt.empty());
    }
    boolean known = free.isPresent() || listIsWhole;
    add(slots, count - slots.size(), known ? State.Free : State.Unknown, OptionalInt.empty());
    return slots.subList(0, Math.min(count, slots.size()));
  }

  private static int held(PlacedContainer container, int zone, String resource) {
    return NodeMaps.orEmpty(container.devices).stream()
        .filter(d -> d.resource.equals(resource) && NodeMaps.orEmpty(d.zones).contains(zone))
        .mapToInt(d -> d.count)
        .sum();
  }

  private static void add(List<Slot> slots, int count, State state, OptionalInt holder) {
    for (int i = 0; i < count; i++) {
      slots.add(new Slot(state, holder));
    }
  }
}
