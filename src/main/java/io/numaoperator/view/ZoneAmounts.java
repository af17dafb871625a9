package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a NodeResourceTopology says of one zone.
 *
 * @param available by resource: what no pod has; cpu in whole CPUs, memory in bytes
 * @param allocatable by resource: what pods can have
 */
record ZoneAmounts(Map<String, Long> available, Map<String, Long> allocatable) {
  static final ZoneAmounts NONE = new ZoneAmounts(Map.of(), Map.of());
  private static final String ZONE = "node-";

  /** By zone id; a zone of another form is left out. */
  static Map<Integer, ZoneAmounts> byZone(NodeResourceTopology topology) {
    var zones = new HashMap<Integer, ZoneAmounts>();
    for (var zone : NodeMaps.orEmpty(topology.zones)) {
      id(zone.name).ifPresent(id -> zones.put(id, of(zone)));
    }
    return zones;
  }

  private static ZoneAmounts of(NodeResourceTopology.Zone zone) {
    var available = new HashMap<String, Long>();
    var allocatable = new HashMap<String, Long>();
    for (var resource : NodeMaps.orEmpty(zone.resources)) {
      whole(resource.available).ifPresent(amount -> available.put(resource.name, amount));
      whole(resource.allocatable).ifPresent(amount -> allocatable.put(resource.name, amount));
    }
    return new ZoneAmounts(available, allocatable);
  }

  private static Optional<Integer> id(String name) {
    if (name == null || !name.startsWith(ZONE)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Integer.valueOf(name.substring(ZONE.length())));
    } catch (NumberFormatException other) {
      return Optional.empty();
    }
  }

  private static Optional<Long> whole(Quantity quantity) {
    return Optional.ofNullable(quantity)
        .map(Quantity::getNumericalAmount)
        .map(BigDecimal::longValue);
  }

  OptionalLong cpus() {
    return free("cpu");
  }

  OptionalLong free(String resource) {
    return optional(available.get(resource));
  }

  OptionalLong forPods(String resource) {
    return optional(allocatable.get(resource));
  }

  private static OptionalLong optional(Long amount) {
    return amount == null ? OptionalLong.empty() : OptionalLong.of(amount);
  }
}
