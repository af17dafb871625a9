package io.numaoperator.view;

import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.topology.CpuSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * One node, ready to be drawn: its zones with CPUs, devices and memory, and who holds them. What is
 * not known is Unknown or empty here, never free.
 *
 * @param line how it stands
 * @param zones by id
 * @param holders the containers that hold devices or exclusive CPUs, those across NUMA nodes first;
 *     other values refer to them by their place in this list
 * @param holdersLeftOut how many more there are than are listed
 * @param unplacedDevices devices of the node that have no zone, by resource
 * @param remarks for a person: what of this map is not known or may be out of date, and why
 */
public record NodeMap(
    NodeLine line,
    List<Zone> zones,
    List<Holder> holders,
    int holdersLeftOut,
    Map<String, Integer> unplacedDevices,
    List<String> remarks) {

  /**
   * @param place of a CPU's or device's holder
   */
  public Optional<Holder> holder(OptionalInt place) {
    return place.isPresent() ? Optional.of(holders.get(place.getAsInt())) : Optional.empty();
  }

  /** Whether a container across NUMA nodes holds it; not so where it is not known who does. */
  public boolean isHeldAcross(OptionalInt place) {
    return holder(place).filter(Holder::crosses).isPresent();
  }

  /** Whether something can be had. */
  public enum State {
    /** No container holds it. */
    Free,
    /** A container holds it. */
    Held,
    /** It is kept for the system. */
    Reserved,
    /** A CPU that the kubelet gives to nobody alone (CPU Manager none): all containers share it. */
    Shared,
    /** Free or held: what was reported does not tell. */
    Unknown
  }

  /**
   * One NUMA node.
   *
   * @param id the kernel's
   * @param cpus by id, online ones only
   * @param cores the same CPUs by physical core, lowest first
   * @param devices by resource; device plugins' resources, GPUs first
   * @param memory what it has
   * @param distances to each zone of the node, in their order; 10 is local
   */
  public record Zone(
      int id,
      List<Cpu> cpus,
      List<CpuSet> cores,
      List<Devices> devices,
      Memory memory,
      List<Integer> distances) {

    /** How many of its CPUs are in that state. */
    public int cpus(State state) {
      return (int) cpus.stream().filter(cpu -> cpu.state() == state).count();
    }
  }

  /**
   * One CPU (hardware thread).
   *
   * @param holder its place in {@link NodeMap#holders()}; empty when it is not held, or by one that
   *     is not listed
   */
  public record Cpu(int id, State state, OptionalInt holder) {}

  /**
   * The devices of one resource on one zone.
   *
   * @param resource for example nvidia.com/gpu
   * @param slots one for each; which of the devices is meant is not known, so those that are held
   *     come first, by holder
   */
  public record Devices(String resource, List<Slot> slots) {
    public boolean isGpu() {
      return resource.endsWith("/gpu");
    }

    /** How many of them are in that state. */
    public int count(State state) {
      return (int) slots.stream().filter(slot -> slot.state() == state).count();
    }
  }

  /**
   * One device.
   *
   * @param holder its place in {@link NodeMap#holders()}; empty when it is not held, or when it is
   *     not known by whom
   */
  public record Slot(State state, OptionalInt holder) {}

  /**
   * A zone's memory in bytes.
   *
   * @param total hugepages included
   * @param hugepages of all sizes
   * @param reserved kept for the system; empty when it is not known
   * @param free plain memory that no container has pinned; empty where the kubelet pins no memory
   *     (Memory Manager None), or when it is not known
   * @param held pinned by containers; empty when free is
   */
  public record Memory(
      long total, long hugepages, OptionalLong reserved, OptionalLong free, OptionalLong held) {}

  /**
   * A container that holds something of its own.
   *
   * @param pod namespace/name
   * @param container its name
   * @param placement whether it is on one NUMA node
   * @param cpus its exclusive ones; none for a container of the shared pool
   * @param cpuZones the zones of these
   * @param memoryZones the zones of its memory; empty when that is not pinned
   * @param deviceZones the zones of its devices
   * @param devices by resource
   */
  public record Holder(
      String pod,
      String container,
      Placement placement,
      CpuSet cpus,
      List<Integer> cpuZones,
      List<Integer> memoryZones,
      List<Integer> deviceZones,
      Map<String, Integer> devices) {
    public boolean crosses() {
      return placement == Placement.CrossNUMA;
    }
  }
}
