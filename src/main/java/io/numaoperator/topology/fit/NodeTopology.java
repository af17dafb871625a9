package io.numaoperator.topology.fit;

import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.api.nrt.NodeResourceTopology.Attribute;
import io.numaoperator.api.nrt.NodeResourceTopology.Zone;
import io.numaoperator.api.nrt.TopologyAttributes;
import io.numaoperator.topology.AccountedPods;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What a NodeResourceTopology says.
 *
 * @param free by zone
 * @param accounted the pods in these numbers; empty when its updater does not tell
 */
public record NodeTopology(NodeFree free, Optional<AccountedPods> accounted) {
  private static final String CPU = "cpu";
  private static final String MEMORY = "memory";
  private static final String HUGEPAGES = "hugepages-";
  private static final String ZONE_PREFIX = "node-";
  private static final int USUAL_THREADS = 2;

  /**
   * Reads one. An updater that does not say whether CPUs and memory are aligned shows it: the zones
   * have no memory where the Memory Manager is None, and no allocatable CPU where the CPU Manager
   * is none. One that does not say how memory is grouped: what is in use is taken to be of single
   * zones (always so under single-numa-node).
   *
   * @throws IllegalArgumentException if it contradicts itself; the message says how
   */
  public static NodeTopology of(NodeResourceTopology topology) {
    var attributes = values(topology.attributes);
    var zones =
        orEmpty(topology.zones).stream()
            .filter(zone -> NodeResourceTopology.NUMA_ZONE_TYPE.equals(zone.type))
            .toList();
    if (zones.isEmpty()) {
      throw new IllegalArgumentException("no zones of type Node");
    }
    var annotations =
        Objects.requireNonNullElse(
            topology.getMetadata().getAnnotations(), Map.<String, String>of());
    var accounted =
        Optional.ofNullable(annotations.get(AccountedPods.ANNOTATION))
            .map(
                text ->
                    AccountedPods.parse(text)
                        .orElseThrow(
                            () ->
                                new IllegalArgumentException(
                                    "annotation " + AccountedPods.ANNOTATION + " is malformed")));
    var devices = new ArrayList<DeviceFree>();
    zones.forEach(zone -> devices.addAll(devices(zone)));
    return new NodeTopology(
        new NodeFree(
            rules(attributes, zones), zones.stream().map(NodeTopology::zone).toList(), devices),
        accounted);
  }

  private static KubeletRules rules(Map<String, String> attributes, List<Zone> zones) {
    var threads = attributes.get(TopologyAttributes.FULL_PCPUS_ONLY);
    return new KubeletRules(
        policy(attributes.get(NodeResourceTopology.POLICY_ATTRIBUTE)),
        scope(attributes.get(NodeResourceTopology.SCOPE_ATTRIBUTE)),
        has(zones, CPU::equals),
        has(zones, NodeTopology::isMemory),
        threads != null,
        threads == null ? USUAL_THREADS : Integer.parseInt(threads),
        Boolean.parseBoolean(attributes.get(TopologyAttributes.PREFER_CLOSEST)));
  }

  private static Policy policy(String name) {
    return switch (Objects.requireNonNullElse(name, "")) {
      case "none" -> Policy.None;
      case "best-effort" -> Policy.BestEffort;
      case "restricted" -> Policy.Restricted;
      case "single-numa-node" -> Policy.SingleNumaNode;
      default ->
          throw new IllegalArgumentException(
              "attribute %s is \"%s\"".formatted(NodeResourceTopology.POLICY_ATTRIBUTE, name));
    };
  }

  private static Scope scope(String name) {
    return switch (Objects.requireNonNullElse(name, "container")) {
      case "container" -> Scope.Container;
      case "pod" -> Scope.Pod;
      default ->
          throw new IllegalArgumentException(
              "attribute %s is \"%s\"".formatted(NodeResourceTopology.SCOPE_ATTRIBUTE, name));
    };
  }

  private static boolean has(List<Zone> zones, Predicate<String> resource) {
    return zones.stream()
        .flatMap(zone -> orEmpty(zone.resources).stream())
        .anyMatch(r -> resource.test(r.name) && amount(r.allocatable) > 0);
  }

  private static boolean isMemory(String resource) {
    return resource.equals(MEMORY) || resource.startsWith(HUGEPAGES);
  }

  private static ZoneFree zone(Zone zone) {
    var cpu = orEmpty(zone.resources).stream().filter(r -> CPU.equals(r.name)).findFirst();
    var memory = new HashMap<String, ZoneFree.Memory>();
    for (var resource : orEmpty(zone.resources)) {
      if (isMemory(resource.name)) {
        memory.put(
            resource.name,
            new ZoneFree.Memory(amount(resource.allocatable), amount(resource.available)));
      }
    }
    int allocatable = cpu.map(r -> count(r.allocatable)).orElse(0);
    int free = Math.min(cpu.map(r -> count(r.available)).orElse(0), allocatable);
    return new ZoneFree(
        id(zone.name),
        // capacity counts reserved CPUs; an updater that leaves them out says no more than less
        Math.max(allocatable, cpu.map(r -> count(r.capacity)).orElse(0)),
        allocatable,
        free,
        free,
        memory,
        memoryGroup(zone, memory),
        orEmpty(zone.costs).stream()
            .collect(
                Collectors.toMap(
                    cost -> id(cost.name), cost -> cost.value.intValue(), (a, b) -> a)));
  }

  private static Set<Integer> memoryGroup(Zone zone, Map<String, ZoneFree.Memory> memory) {
    var told = values(zone.attributes).get(TopologyAttributes.MEMORY_GROUP);
    if (told != null) {
      return CpuSet.parse(told).stream().boxed().collect(Collectors.toSet());
    }
    boolean used = memory.values().stream().anyMatch(m -> m.free() < m.allocatable());
    return used ? Set.of(id(zone.name)) : Set.of();
  }

  private static List<DeviceFree> devices(Zone zone) {
    return orEmpty(zone.resources).stream()
        .filter(r -> !CPU.equals(r.name) && !isMemory(r.name))
        .map(
            r ->
                new DeviceFree(
                    r.name,
                    Set.of(id(zone.name)),
                    Math.max(count(r.capacity), count(r.allocatable)),
                    count(r.available)))
        .toList();
  }

  /** Schedulers demand exactly this form; the number is the kernel's. */
  private static int id(String zone) {
    try {
      if (zone != null && zone.startsWith(ZONE_PREFIX)) {
        return Integer.parseInt(zone.substring(ZONE_PREFIX.length()));
      }
    } catch (NumberFormatException notANumber) {
      // said below
    }
    throw new IllegalArgumentException("zone \"%s\" is not named node-ID".formatted(zone));
  }

  private static int count(Quantity quantity) {
    return (int) Math.min(amount(quantity), Integer.MAX_VALUE);
  }

  /** Rounded down, never negative. */
  private static long amount(Quantity quantity) {
    return quantity == null
        ? 0
        : Math.max(
            0, quantity.getNumericalAmount().setScale(0, RoundingMode.FLOOR).longValueExact());
  }

  private static Map<String, String> values(List<Attribute> attributes) {
    var values = new HashMap<String, String>();
    orEmpty(attributes).forEach(attribute -> values.put(attribute.name, attribute.value));
    return values;
  }

  private static <T> List<T> orEmpty(List<T> list) {
    return list == null ? List.of() : list;
  }
}
