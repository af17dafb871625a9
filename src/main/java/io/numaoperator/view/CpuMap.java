package io.numaoperator.view;

import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.view.NodeMap.Cpu;
import io.numaoperator.view.NodeMap.Holder;
import io.numaoperator.view.NodeMap.State;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Who has which CPU of a node. */
final class CpuMap {
  private final List<Holder> holders;
  private final boolean listIsWhole;
  private final boolean settingsAreKnown;
  private final boolean exclusive;
  private final Optional<CpuSet> reserved;

  CpuMap(NumaNodeStateStatus status, boolean listIsWhole, List<Holder> holders) {
    var settings = Optional.ofNullable(status.effective).map(effective -> effective.settings);
    this.holders = holders;
    this.listIsWhole = listIsWhole;
    this.settingsAreKnown = settings.isPresent();
    this.exclusive = settings.map(s -> "static".equals(s.cpuManagerPolicy)).orElse(false);
    this.reserved =
        settings
            .map(s -> Objects.requireNonNullElse(s.reservedSystemCPUs, ""))
            .filter(cpus -> !cpus.isEmpty())
            .map(NodeMaps::cpus);
  }

  /**
   * @param free how many of these CPUs are free by the NodeResourceTopology
   */
  List<Cpu> of(CpuSet zone, OptionalLong free) {
    var held = holders.stream().map(Holder::cpus).reduce(CpuSet.EMPTY, CpuSet::union);
    var rest = zone.minus(held).minus(reserved.orElse(CpuSet.EMPTY));
    var restState = rest(rest.size(), free);
    return zone.stream().mapToObj(cpu -> cpu(cpu, restState)).toList();
  }

  private Cpu cpu(int id, State otherwise) {
    for (int i = 0; i < holders.size(); i++) {
      if (holders.get(i).cpus().contains(id)) {
        return new Cpu(id, State.Held, OptionalInt.of(i));
      }
    }
    boolean kept = reserved.map(cpus -> cpus.contains(id)).orElse(false);
    return new Cpu(id, kept ? State.Reserved : otherwise, OptionalInt.empty());
  }

  /** Of CPUs that are neither held by a listed container nor reserved by number. */
  private State rest(int count, OptionalLong free) {
    if (!settingsAreKnown) {
      return State.Unknown;
    }
    if (!exclusive) {
      return State.Shared;
    }
    boolean allAreFree = free.isPresent() && free.getAsLong() == count;
    return allAreFree || (listIsWhole && reserved.isPresent()) ? State.Free : State.Unknown;
  }
}
