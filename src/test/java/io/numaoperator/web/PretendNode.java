package io.numaoperator.web;

import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.Condition;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.PlacedDevices;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.TestMachine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Stands for one node, as its agent and the operator tell of it in NumaNodeState and
 * NodeResourceTopology: a machine with GPUs, on which containers take what is free, zone by zone.
 */
final class PretendNode {
  static final String GPU = "nvidia.com/gpu";
  private static final long RESERVED = 4 * Bytes.GI;

  final NumaNodeState state = new NumaNodeState();
  final NodeResourceTopology topology = new NodeResourceTopology();
  private final Map<Integer, CpuSet> freeCpus = new HashMap<>();
  private final Map<Integer, Integer> freeGpus = new HashMap<>();
  private final Map<Integer, Long> freeMemory = new HashMap<>();

  PretendNode(String name, TestMachine machine, int gpusPerZone) {
    state.getMetadata().setName(name);
    topology.getMetadata().setName(name);
    state.setSpec(new NumaNodeStateSpec());
    state.getSpec().policy = "gpu-nodes";
    state.setStatus(new NumaNodeStateStatus());
    var status = state.getStatus();
    status.inventory = machine.inventory();
    status.inventory.gpuCount = gpusPerZone * status.inventory.zones.size();
    status.effective = new EffectiveKubelet();
    status.effective.settings = new KubeletFragment();
    status.containers = new Containers();
    var reserved = CpuSet.EMPTY;
    for (var zone : status.inventory.zones) {
      if (gpusPerZone > 0) {
        zone.devices.add(new DeviceCount(GPU, gpusPerZone));
      }
      zone.distances =
          status.inventory.zones.stream().map(z -> z.id.equals(zone.id) ? 10 : 21).toList();
      var first = CpuSet.parse(zone.cores.getFirst());
      reserved = reserved.union(first);
      freeCpus.put(zone.id, CpuSet.parse(zone.cpus).minus(first));
      freeGpus.put(zone.id, gpusPerZone);
      freeMemory.put(zone.id, zone.memory - zone.hugepages - RESERVED);
    }
    var settings = status.effective.settings;
    settings.cpuManagerPolicy = "static";
    settings.reservedSystemCPUs = reserved.format();
    settings.topologyManagerPolicy = "single-numa-node";
    settings.topologyManagerScope = "pod";
    settings.reservedMemory =
        status.inventory.zones.stream().map(zone -> reservation(zone.id)).toList();
    ready("Aligned", "a pod put on this node now will be aligned");
    publish();
  }

  private static KubeletFragment.MemoryReservation reservation(int zone) {
    var reservation = new KubeletFragment.MemoryReservation();
    reservation.numaNode = zone;
    reservation.limits = Map.of("memory", Long.toString(RESERVED));
    return reservation;
  }

  /** As kubelets are that nobody configured. */
  PretendNode unmanaged() {
    var settings = state.getStatus().effective.settings;
    settings.cpuManagerPolicy = "none";
    settings.reservedSystemCPUs = null;
    settings.topologyManagerPolicy = "none";
    settings.topologyManagerScope = "container";
    settings.reservedMemory = null;
    topology.zones.forEach(zone -> zone.resources.removeIf(r -> !r.name.equals(GPU)));
    return this;
  }

  PretendNode ready(String reason, String message) {
    return judged(Condition.Status.True, reason, message);
  }

  PretendNode judged(Condition.Status status, String reason, String message) {
    state.getStatus().conditions.clear();
    for (var type :
        List.of("KubeletConfigured", "DevicesReporting", "TopologyPublished", "SchedulerAware")) {
      var first = type.equals("KubeletConfigured");
      state
          .getStatus()
          .conditions
          .add(
              condition(
                  type,
                  first ? status : Condition.Status.True,
                  first ? reason : "Reporting",
                  first ? message : "as the kubelet says"));
    }
    state.getStatus().conditions.add(condition("AlignmentReady", status, reason, message));
    return this;
  }

  private static Condition condition(
      String type, Condition.Status status, String reason, String message) {
    var condition = new Condition();
    condition.type = type;
    condition.status = status;
    condition.reason = reason;
    condition.message = message;
    return condition;
  }

  PretendNode changing(Step step) {
    state.getStatus().attempt = new Attempt();
    state.getStatus().attempt.step = step;
    return judged(
        Condition.Status.False,
        "Updating",
        "its kubelet is being changed: the agent watches it for 60s");
  }

  PretendNode pod(String pod, int cpus, int gpus, int gibibytes, int... zones) {
    var placed = new PlacedContainer();
    placed.pod = pod;
    placed.container = "main";
    placed.placement = zones.length == 1 ? Placement.Aligned : Placement.CrossNUMA;
    var mine = CpuSet.EMPTY;
    for (int zone : zones) {
      int here = cpus / zones.length;
      var taken = CpuSet.of(freeCpus.get(zone).stream().limit(here));
      mine = mine.union(taken);
      freeCpus.merge(zone, taken, CpuSet::minus);
      freeGpus.merge(zone, -gpus / zones.length, Integer::sum);
      freeMemory.merge(zone, -gibibytes * Bytes.GI / zones.length, Long::sum);
    }
    placed.cpus = mine.format();
    var on = IntStream.of(zones).boxed().toList();
    placed.cpuZones = on;
    placed.memoryZones = on;
    if (gpus > 0) {
      placed.deviceZones = on;
      placed.devices = on.stream().map(zone -> gpus(zone, gpus / zones.length)).toList();
    }
    var containers = state.getStatus().containers;
    containers.placed.add(placed);
    if (zones.length == 1) {
      containers.aligned++;
    } else {
      containers.crossNuma++;
    }
    publish();
    return this;
  }

  private static PlacedDevices gpus(int zone, int count) {
    var devices = new PlacedDevices();
    devices.resource = GPU;
    devices.count = count;
    devices.zones = List.of(zone);
    return devices;
  }

  private void publish() {
    topology.zones = state.getStatus().inventory.zones.stream().map(this::zone).toList();
  }

  private NodeResourceTopology.Zone zone(ZoneFacts facts) {
    var zone = new NodeResourceTopology.Zone();
    zone.name = "node-" + facts.id;
    zone.type = "Node";
    zone.resources = new ArrayList<>();
    var cpus = CpuSet.parse(facts.cpus);
    long forPods = cpus.minus(CpuSet.parse(facts.cores.getFirst())).size();
    zone.resources.add(resource("cpu", forPods, freeCpus.get(facts.id).size()));
    zone.resources.add(
        resource("memory", facts.memory - facts.hugepages - RESERVED, freeMemory.get(facts.id)));
    for (var device : facts.devices) {
      zone.resources.add(resource(device.resource, device.count, freeGpus.get(facts.id)));
    }
    return zone;
  }

  private static NodeResourceTopology.ZoneResource resource(String name, long all, long free) {
    var resource = new NodeResourceTopology.ZoneResource();
    resource.name = name;
    resource.capacity = new Quantity(Long.toString(all));
    resource.allocatable = resource.capacity;
    resource.available = new Quantity(Long.toString(free));
    return resource;
  }
}
