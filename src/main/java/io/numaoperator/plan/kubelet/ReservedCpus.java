package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.Zone;

/** Which CPUs stay with the system. */
final class ReservedCpus {
  private static final int DEFAULT_CORES = 1;

  private ReservedCpus() {}

  static CpuSet choose(KubeletPolicy.ReservedCpus reserved, Machine machine, Draft draft)
      throws RefusedException {
    if (machine.cpus().isEmpty()) {
      throw new RefusedException("InventoryUnreadable", "No NUMA node of the machine has a CPU.");
    }
    var chosen =
        reserved != null && reserved.cpus != null
            ? given(reserved.cpus, machine, draft)
            : lowestCores(
                reserved == null || reserved.coresPerNumaNode == null
                    ? DEFAULT_CORES
                    : reserved.coresPerNumaNode,
                machine);
    for (var zone : machine.zonesWithCpus()) {
      if (chosen.containsAll(zone.cpus())) {
        throw new RefusedException(
            "ReservedCpusTakeZone",
            "cpuManager.reserved would keep all %d CPUs (%s) of NUMA node %d for the system, and no"
                + " pod could ever be aligned there: it has %d physical cores. Reserve fewer.",
            zone.cpus().size(),
            zone.cpus(),
            zone.id(),
            zone.cores().size());
      }
    }
    return chosen;
  }

  private static CpuSet given(String list, Machine machine, Draft draft) throws RefusedException {
    var cpus =
        CpuSet.tryParse(list)
            .filter(set -> !set.isEmpty())
            .orElseThrow(
                () ->
                    new RefusedException(
                        "ReservedCpusInvalid",
                        "cpuManager.reserved.cpus \"%s\" is not a cpuset such as 0-1,64-65.",
                        list));
    var missing = cpus.minus(machine.cpus());
    if (!missing.isEmpty()) {
      throw new RefusedException(
          "ReservedCpusNotOnNode",
          "cpuManager.reserved.cpus %s contains CPUs that are not online on this node: %s (it has"
              + " %s, offline: %s). Correct the set, bring the CPUs online, or use coresPerNumaNode,"
              + " which is computed per node.",
          cpus,
          missing,
          machine.cpus(),
          machine.offlineCpus().isEmpty() ? "none" : machine.offlineCpus());
    }
    var siblings = machine.withSiblings(cpus).minus(cpus);
    if (!siblings.isEmpty()) {
      draft.note(
          "cpuManager.reserved.cpus splits physical cores: pods can get CPUs %s, which share a core"
              + " with reserved ones.",
          siblings);
    }
    return cpus;
  }

  /** Whole cores, with all their online hardware threads, so that no pod shares one. */
  private static CpuSet lowestCores(int cores, Machine machine) {
    return machine.zonesWithCpus().stream()
        .map(Zone::cores)
        .flatMap(all -> all.stream().limit(cores))
        .reduce(CpuSet.EMPTY, CpuSet::union);
  }
}
