package io.numaoperator.agent;

import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The kubelet's PodResources API: what it has handed out, and what it can. */
interface PodResources {
  /** Every container that the kubelet accounts for. */
  List<Container> list() throws IOException;

  /** Devices, CPUs and memory that the kubelet hands out; free or not. */
  Allocatable allocatable() throws IOException;

  /**
   * One container.
   *
   * @param cpus its exclusive CPUs; empty when it runs in the shared pool
   * @param memory its pinned memory, empty when the Memory Manager does not pin it
   * @param devices its devices
   * @param claims whether it uses ResourceClaims (DRA)
   */
  record Container(
      String namespace,
      String pod,
      String name,
      CpuSet cpus,
      List<Memory> memory,
      List<Device> devices,
      boolean claims) {
    public Container {
      memory = List.copyOf(memory);
      devices = List.copyOf(devices);
    }

    /** One without claims. */
    Container(
        String namespace,
        String pod,
        String name,
        CpuSet cpus,
        List<Memory> memory,
        List<Device> devices) {
      this(namespace, pod, name, cpus, memory, devices, false);
    }

    /** Namespace/name of its pod. */
    String podName() {
      return namespace + "/" + pod;
    }

    /** It would be hurt by a change of the managers' state. */
    boolean holdsExclusive() {
      return !cpus.isEmpty() || !devices.isEmpty() || !memory.isEmpty();
    }
  }

  /**
   * Memory of one type (memory, hugepages-2Mi, ...).
   *
   * @param zones NUMA nodes that the block is from
   */
  record Memory(String type, long bytes, Set<Integer> zones) {
    public Memory {
      zones = Set.copyOf(zones);
    }
  }

  /**
   * One device.
   *
   * @param zones the NUMA nodes that it is near to; empty when its plugin does not say
   */
  record Device(String resource, String id, Set<Integer> zones) {
    public Device {
      zones = Set.copyOf(zones);
    }
  }

  /**
   * What the kubelet can hand out.
   *
   * @param cpus for exclusive use; empty where the CPU Manager is none
   * @param memory by type and zone; empty where the Memory Manager is None
   */
  record Allocatable(List<Device> devices, CpuSet cpus, List<Memory> memory) {
    public Allocatable {
      devices = List.copyOf(devices);
      memory = List.copyOf(memory);
    }

    /** How many devices there are of each resource. */
    Map<String, Integer> counts() {
      var ids = new TreeMap<String, Set<String>>();
      for (var device : devices) {
        ids.computeIfAbsent(device.resource(), r -> new TreeSet<>()).add(device.id());
      }
      var counts = new TreeMap<String, Integer>();
      ids.forEach((resource, set) -> counts.put(resource, set.size()));
      return counts;
    }
  }
}
