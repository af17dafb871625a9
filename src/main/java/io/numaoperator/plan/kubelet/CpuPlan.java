package io.numaoperator.plan.kubelet;

import static io.numaoperator.kubelet.KubeletOption.ALIGN_BY_SOCKET;
import static io.numaoperator.kubelet.KubeletOption.DISTRIBUTE_CPUS_ACROSS_CORES;
import static io.numaoperator.kubelet.KubeletOption.DISTRIBUTE_CPUS_ACROSS_NUMA;
import static io.numaoperator.kubelet.KubeletOption.FULL_PCPUS_ONLY;
import static io.numaoperator.kubelet.KubeletOption.PREFER_ALIGN_CPUS_BY_UNCORECACHE;
import static io.numaoperator.kubelet.KubeletOption.STRICT_CPU_RESERVATION;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.CpuOptions;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.KubeletPolicy.TopologyPolicy;
import io.numaoperator.kubelet.KubeletOption;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.topology.Machine;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** cpuManagerPolicy, its options and reservedSystemCPUs. */
record CpuPlan(KubeletPolicy policy, Machine machine, VersionGates gates) {
  /** Pairs that the kubelet exits on (cm/cpumanager/policy_options.go, NewStaticPolicyOptions). */
  private static final Map<KubeletOption, List<KubeletOption>> EXCLUDES =
      Map.of(
          DISTRIBUTE_CPUS_ACROSS_CORES,
          List.of(FULL_PCPUS_ONLY, DISTRIBUTE_CPUS_ACROSS_NUMA, PREFER_ALIGN_CPUS_BY_UNCORECACHE),
          FULL_PCPUS_ONLY,
          List.of(DISTRIBUTE_CPUS_ACROSS_CORES),
          DISTRIBUTE_CPUS_ACROSS_NUMA,
          List.of(DISTRIBUTE_CPUS_ACROSS_CORES, PREFER_ALIGN_CPUS_BY_UNCORECACHE),
          PREFER_ALIGN_CPUS_BY_UNCORECACHE,
          List.of(DISTRIBUTE_CPUS_ACROSS_CORES, DISTRIBUTE_CPUS_ACROSS_NUMA));

  static CpuPlan of(KubeletPolicy policy, Machine machine, VersionGates gates) {
    return new CpuPlan(policy, machine, gates);
  }

  void write(Draft draft) throws RefusedException {
    if (policy.cpuManager.policy == StaticOrNone.None) {
      // The drop-in clears the options of the main file with it (DropIn); reservedSystemCPUs may
      // stay: without the static policy it only counts as reserved CPU.
      draft.fragment().cpuManagerPolicy = "none";
      return;
    }
    draft.fragment().cpuManagerPolicy = "static";
    draft.fragment().cpuManagerPolicyOptions = options();
    draft.fragment().reservedSystemCPUs =
        ReservedCpus.choose(policy.cpuManager.reserved, machine, draft).format();
  }

  private Map<String, String> options() throws RefusedException {
    var wanted = Objects.requireNonNullElseGet(policy.cpuManager.options, CpuOptions::new);
    var options = new Options(gates);
    options.set(FULL_PCPUS_ONLY, wanted.fullPhysicalCpusOnly, path("fullPhysicalCpusOnly"));
    options.set(
        DISTRIBUTE_CPUS_ACROSS_NUMA,
        wanted.distributeCpusAcrossNuma,
        path("distributeCpusAcrossNuma"));
    options.set(ALIGN_BY_SOCKET, wanted.alignBySocket, path("alignBySocket"));
    options.set(
        DISTRIBUTE_CPUS_ACROSS_CORES,
        wanted.distributeCpusAcrossCores,
        path("distributeCpusAcrossCores"));
    options.set(STRICT_CPU_RESERVATION, wanted.strictCpuReservation, path("strictCpuReservation"));
    options.set(
        PREFER_ALIGN_CPUS_BY_UNCORECACHE,
        wanted.preferAlignCpusByUncoreCache,
        path("preferAlignCpusByUncoreCache"));
    exclude(options);
    socket(options);
    return options.orNull();
  }

  /**
   * Switches off what the main file might have on and the kubelet would exit on. It does so whether
   * or not it is on now: what is on now may come from our own last drop-in, and the plan must not
   * change with it.
   */
  private static void exclude(Options options) throws RefusedException {
    for (var one : KubeletOption.values()) {
      if (options.isOn(one)) {
        for (var other : EXCLUDES.getOrDefault(one, List.of())) {
          if (options.isOn(other)) {
            throw new RefusedException(
                "OptionsExclusive",
                "The kubelet does not start with both %s and %s. Remove one of them from"
                    + " cpuManager.options.",
                one.optionName(),
                other.optionName());
          }
          options.switchOff(other);
        }
      }
    }
  }

  /** cm/cpumanager/policy_options.go, ValidateStaticPolicyOptions. */
  private void socket(Options options) throws RefusedException {
    boolean singleNumaNode = policy.topologyManager.policy == TopologyPolicy.SingleNUMANode;
    int sockets = machine.sockets().size();
    int zones = machine.zonesWithCpus().size();
    if (options.isOn(ALIGN_BY_SOCKET) && singleNumaNode) {
      throw new RefusedException(
          "AlignBySocketImpossible",
          "The kubelet does not start with cpuManager.options.alignBySocket and"
              + " topologyManager.policy SingleNUMANode. Change one of them.");
    }
    if (options.isOn(ALIGN_BY_SOCKET) && sockets > zones) {
      throw new RefusedException(
          "AlignBySocketImpossible",
          "The kubelet does not start with cpuManager.options.alignBySocket on a machine with more"
              + " sockets (%d) than NUMA nodes (%d). Remove the option, or change the machine's NUMA"
              + " setting in its firmware.",
          sockets,
          zones);
    }
    if (singleNumaNode || sockets > zones) {
      options.switchOff(ALIGN_BY_SOCKET);
    }
  }

  private static String path(String option) {
    return "cpuManager.options." + option;
  }
}
