package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.agent.PodResources.Allocatable;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.agent.PodResources.Memory;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.nrt.TopologyAttributes;
import io.numaoperator.topology.AccountedPods;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a node's NodeResourceTopology should say, from what the kubelet says: pure. Zone names are
 * {@code node-ID} with the kernel's id, as schedulers demand; quantities are plain integers; lists
 * are sorted, so that equal content is equal text.
 *
 * @param zones by zone id: resource → amounts
 */
record TopologyReport(
    Inventory inventory,
    KubeletFragment settings,
    Map<Integer, Map<String, Amounts>> zones,
    AccountedPods accounted,
    String fingerprint,
    Map<Integer, Set<Integer>> memoryGroups) {
  /** Before the kubelet's part of a difference. */
  static final String KUBELET_HAS = ", the kubelet has ";

  private static final String CPU = "cpu";
  private static final int MOST_DIFFERENCES = 16;
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /**
   * One resource of one zone.
   *
   * @param capacity what the machine has
   * @param allocatable what pods can have: less what is reserved
   * @param available what is free now
   */
  record Amounts(long capacity, long allocatable, long available) {}

  static TopologyReport of(
      Inventory inventory,
      KubeletFragment settings,
      Allocatable allocatable,
      List<Container> containers,
      ManagerState state) {
    var zones = new TreeMap<Integer, Map<String, Amounts>>();
    for (var zone : inventory.zones) {
      var resources = new TreeMap<String, Amounts>();
      cpus(zone, allocatable, containers, state, resources);
      devices(zone, allocatable.devices(), containers, state, resources);
      zones.put(zone.id, resources);
    }
    memory(inventory, allocatable.memory(), containers, zones);
    state
        .freeMemory()
        .forEach((zone, free) -> noMoreThan(free, zones.getOrDefault(zone, Map.of())));
    return new TopologyReport(
        inventory,
        settings,
        zones,
        accounted(inventory, containers),
        PodFingerprint.of(
            containers.stream()
                .map(c -> new PodFingerprint.Pod(c.namespace(), c.pod()))
                .collect(Collectors.toSet())),
        memoryGroups(containers));
  }

  /** A zone has CPUs for pods only where the CPU Manager hands out exclusive ones. */
  private static void cpus(
      ZoneFacts zone,
      Allocatable allocatable,
      List<Container> containers,
      ManagerState state,
      Map<String, Amounts> resources) {
    var cpus = CpuSet.parse(Objects.requireNonNullElse(zone.cpus, ""));
    if (allocatable.cpus().isEmpty() || cpus.isEmpty()) {
      return;
    }
    var forPods = allocatable.cpus().intersect(cpus);
    var taken = containers.stream().map(Container::cpus).reduce(CpuSet.EMPTY, CpuSet::union);
    var free = state.sharedCpus().map(forPods::intersect).orElse(forPods).minus(taken);
    resources.put(CPU, new Amounts(cpus.size(), forPods.size(), free.size()));
  }

  /** A device on several zones counts in each; one without topology in none. */
  private static void devices(
      ZoneFacts zone,
      List<Device> all,
      List<Container> containers,
      ManagerState state,
      Map<String, Amounts> resources) {
    var taken =
        Stream.concat(
                containers.stream()
                    .flatMap(c -> c.devices().stream())
                    .map(d -> d.resource() + "/" + d.id()),
                state.heldDevices().stream())
            .collect(Collectors.toSet());
    for (var device : all) {
      if (device.zones().contains(zone.id)) {
        long free = taken.contains(device.resource() + "/" + device.id()) ? 0 : 1;
        resources.merge(
            device.resource(),
            new Amounts(1, 1, free),
            (a, b) ->
                new Amounts(a.capacity() + 1, a.allocatable() + 1, a.available() + b.available()));
      }
    }
  }

  /** Memory is there for pods only where the Memory Manager pins it. */
  private static void memory(
      Inventory inventory,
      List<Memory> allocatable,
      List<Container> containers,
      Map<Integer, Map<String, Amounts>> zones) {
    for (var block : allocatable) {
      for (int zone : block.zones()) {
        if (zones.containsKey(zone)) {
          zones
              .get(zone)
              .merge(
                  block.type(),
                  new Amounts(capacity(inventory, zone, block), block.bytes(), block.bytes()),
                  (a, b) ->
                      new Amounts(
                          a.capacity(),
                          a.allocatable() + b.allocatable(),
                          a.available() + b.available()));
        }
      }
    }
    for (var container : containers) {
      container.memory().forEach(block -> take(block, zones));
    }
  }

  private static void noMoreThan(Map<String, Long> free, Map<String, Amounts> resources) {
    resources.replaceAll(
        (type, a) ->
            new Amounts(
                a.capacity(),
                a.allocatable(),
                Math.min(a.available(), free.getOrDefault(type, a.available()))));
  }

  private static long capacity(Inventory inventory, int id, Memory block) {
    return block.type().equals("memory")
        ? inventory.zones.stream()
            .filter(z -> z.id == id)
            .mapToLong(z -> z.memory)
            .findFirst()
            .orElse(block.bytes())
        : block.bytes();
  }

  /**
   * A block over several zones is taken from them in order, from each what it has: so does the
   * kubelet (memorymanager/policy_static.go, updateMachineState).
   */
  private static void take(Memory block, Map<Integer, Map<String, Amounts>> zones) {
    long left = block.bytes();
    for (int zone : new TreeSet<>(block.zones())) {
      var resources = zones.getOrDefault(zone, Map.of());
      var amounts = resources.get(block.type());
      if (amounts != null && left > 0) {
        long taken = Math.min(left, amounts.available());
        resources.put(
            block.type(),
            new Amounts(amounts.capacity(), amounts.allocatable(), amounts.available() - taken));
        left -= taken;
      }
    }
  }

  /** Zones whose memory was given out together can only be used together until it is free again. */
  private static Map<Integer, Set<Integer>> memoryGroups(List<Container> containers) {
    var groups = new TreeMap<Integer, Set<Integer>>();
    for (var container : containers) {
      for (var block : container.memory()) {
        for (int zone : block.zones()) {
          groups.computeIfAbsent(zone, z -> new TreeSet<>()).addAll(block.zones());
        }
      }
    }
    return groups;
  }

  private static AccountedPods accounted(Inventory inventory, List<Container> containers) {
    var zoneOfCpu = new HashMap<Integer, Integer>();
    for (var zone : inventory.zones) {
      CpuSet.parse(Objects.requireNonNullElse(zone.cpus, "")).stream()
          .forEach(cpu -> zoneOfCpu.put(cpu, zone.id));
    }
    var pods = new TreeMap<String, Set<Integer>>();
    for (var c : containers) {
      var zones =
          pods.computeIfAbsent(AccountedPods.mark(c.namespace(), c.pod()), m -> new HashSet<>());
      c.cpus().stream()
          .filter(zoneOfCpu::containsKey)
          .forEach(cpu -> zones.add(zoneOfCpu.get(cpu)));
      c.memory().forEach(block -> zones.addAll(block.zones()));
      c.devices().forEach(device -> zones.addAll(device.zones()));
    }
    return new AccountedPods(pods);
  }

  /** As the agent applies it. */
  ObjectNode toJson(String nodeName, String nodeUid) {
    var object = JSON.objectNode();
    object.put("apiVersion", "topology.node.k8s.io/v1alpha2").put("kind", "NodeResourceTopology");
    var metadata = object.putObject("metadata");
    metadata.put("name", nodeName);
    metadata.putObject("annotations").put(AccountedPods.ANNOTATION, accounted.format());
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", "v1")
        .put("kind", "Node")
        .put("name", nodeName)
        .put("uid", nodeUid);
    var attributes = object.putArray("attributes");
    attributes().forEach((k, v) -> attributes.addObject().put("name", k).put("value", v));
    var list = object.putArray("zones");
    inventory.zones.forEach(zone -> list.add(zone(zone)));
    return object;
  }

  private Map<String, String> attributes() {
    var attributes = new TreeMap<String, String>();
    attributes.put("topologyManagerPolicy", text(settings.topologyManagerPolicy, "none"));
    attributes.put("topologyManagerScope", text(settings.topologyManagerScope, "container"));
    attributes.put("nodeTopologyPodsFingerprint", fingerprint);
    attributes.put("nodeTopologyPodsFingerprintMethod", "all");
    var options =
        Objects.requireNonNullElse(settings.topologyManagerPolicyOptions, Map.<String, String>of());
    if (options.containsKey("max-allowable-numa-nodes")) {
      attributes.put("topologyManagerMaxNUMANodes", options.get("max-allowable-numa-nodes"));
    }
    if ("true".equals(options.get("prefer-closest-numa-nodes"))) {
      attributes.put(TopologyAttributes.PREFER_CLOSEST, "true");
    }
    var cpuOptions =
        Objects.requireNonNullElse(settings.cpuManagerPolicyOptions, Map.<String, String>of());
    if ("true".equals(cpuOptions.get("full-pcpus-only"))) {
      attributes.put(TopologyAttributes.FULL_PCPUS_ONLY, String.valueOf(threadsPerCore()));
    }
    return attributes;
  }

  private int threadsPerCore() {
    return inventory.zones.stream()
        .flatMap(z -> z.cores.stream())
        .mapToInt(core -> CpuSet.parse(core).size())
        .max()
        .orElse(1);
  }

  private ObjectNode zone(ZoneFacts facts) {
    var zone = JSON.objectNode();
    zone.put("name", "node-" + facts.id).put("type", "Node");
    var group = memoryGroups.getOrDefault(facts.id, Set.of());
    if (!group.isEmpty()) {
      zone.putArray("attributes")
          .addObject()
          .put("name", TopologyAttributes.MEMORY_GROUP)
          .put("value", CpuSet.of(group.stream().mapToInt(Integer::intValue)).format());
    }
    var costs = zone.putArray("costs");
    for (int i = 0; i < Math.min(facts.distances.size(), inventory.zones.size()); i++) {
      costs
          .addObject()
          .put("name", "node-" + inventory.zones.get(i).id)
          .put("value", facts.distances.get(i));
    }
    var resources = zone.putArray("resources");
    zones
        .get(facts.id)
        .forEach(
            (name, amounts) ->
                resources
                    .addObject()
                    .put("name", name)
                    .put("capacity", String.valueOf(amounts.capacity()))
                    .put("allocatable", String.valueOf(amounts.allocatable()))
                    .put("available", String.valueOf(amounts.available())));
    return zone;
  }

  /**
   * Where a published object differs, for a person: the policy, the scope and what is free.
   * Capacities are not compared, since updaters count them in different ways.
   */
  List<String> differences(JsonNode published) {
    var differences = new ArrayList<String>();
    var theirs = new HashMap<String, String>();
    for (var attribute : published.path("attributes")) {
      theirs.put(attribute.path("name").asText(), attribute.path("value").asText());
    }
    for (var name : List.of("topologyManagerPolicy", "topologyManagerScope")) {
      var wanted = attributes().get(name);
      if (!wanted.equals(theirs.get(name))) {
        differences.add("%s is %s%s%s".formatted(name, theirs.get(name), KUBELET_HAS, wanted));
      }
    }
    var free = new HashMap<String, String>();
    for (var zone : published.path("zones")) {
      for (var resource : zone.path("resources")) {
        free.put(
            zone.path("name").asText() + " " + resource.path("name").asText(),
            resource.path("available").asText());
      }
    }
    zones.forEach(
        (id, resources) ->
            resources.forEach(
                (name, amounts) -> {
                  var key = "node-" + id + " " + name;
                  var seen = free.get(key);
                  if (!String.valueOf(amounts.available()).equals(seen)) {
                    differences.add(
                        "%s available is %s%s%d"
                            .formatted(key, seen, KUBELET_HAS, amounts.available()));
                  }
                }));
    return differences.subList(0, Math.min(MOST_DIFFERENCES, differences.size()));
  }

  private static String text(String value, String otherwise) {
    return value == null || value.isEmpty() ? otherwise : value;
  }
}
