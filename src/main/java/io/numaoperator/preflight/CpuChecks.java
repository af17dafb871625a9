package io.numaoperator.preflight;

import static io.numaoperator.preflight.Start.isSet;
import static io.numaoperator.preflight.Start.orEmpty;

import io.numaoperator.kubelet.KubeletOption;
import io.numaoperator.kubelet.VersionGates.Availability.Available;
import io.numaoperator.kubelet.VersionGates.Availability.KnownSince;
import io.numaoperator.kubelet.VersionGates.Availability.NeedsGate;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.CpuSet;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** What the kubelet's CPU and topology managers would exit on. */
final class CpuChecks {
  static final List<Function<Start, Optional<Refused>>> ALL =
      List.of(
          CpuChecks::reservedCpusAreOnline,
          CpuChecks::staticHasReservedCpus,
          CpuChecks::cgroupsLeaveReservedCpusAlone,
          CpuChecks::whatIsEnforcedHasACgroup,
          CpuChecks::noEmptyValueIsLost,
          CpuChecks::noneHasNoOptions,
          CpuChecks::optionsAreAccepted,
          CpuChecks::optionsGoTogether,
          CpuChecks::socketsCanBeAligned,
          CpuChecks::zonesAreWithinTheLimit);

  /** cm/cpumanager/policy_options.go, NewStaticPolicyOptions. */
  private static final List<List<KubeletOption>> EXCLUSIVE =
      List.of(
          List.of(KubeletOption.DISTRIBUTE_CPUS_ACROSS_CORES, KubeletOption.FULL_PCPUS_ONLY),
          List.of(
              KubeletOption.DISTRIBUTE_CPUS_ACROSS_CORES,
              KubeletOption.DISTRIBUTE_CPUS_ACROSS_NUMA),
          List.of(
              KubeletOption.DISTRIBUTE_CPUS_ACROSS_CORES,
              KubeletOption.PREFER_ALIGN_CPUS_BY_UNCORECACHE),
          List.of(
              KubeletOption.PREFER_ALIGN_CPUS_BY_UNCORECACHE,
              KubeletOption.DISTRIBUTE_CPUS_ACROSS_NUMA));

  /** cm/topologymanager/topology_manager.go, defaultMaxAllowableNUMANodes. */
  private static final int DEFAULT_LIMIT = 8;

  private CpuChecks() {}

  /** cmd/kubelet/app/server.go, run. */
  private static Optional<Refused> reservedCpusAreOnline(Start start) {
    var reserved =
        CpuSet.tryParse(Objects.requireNonNullElse(start.settings().reservedSystemCPUs, ""));
    return reserved
        .map(cpus -> cpus.minus(start.machine().cpus()))
        .filter(missing -> !missing.isEmpty())
        .map(
            missing ->
                new Refused(
                    "ReservedCpusNotOnNode",
                    "reservedSystemCPUs %s would contain CPUs that are not online on this node: %s (it has %s). Correct the set, or bring the CPUs online."
                        .formatted(
                            start.settings().reservedSystemCPUs, missing, start.machine().cpus())));
  }

  /** cm/cpumanager/cpu_manager.go, NewManager. */
  private static Optional<Refused> staticHasReservedCpus(Start start) {
    if (!start.cpuStatic() || isSet(start.settings().reservedSystemCPUs)) {
      return Optional.empty();
    }
    var reserved = cpus(start.settings().kubeReserved).add(cpus(start.settings().systemReserved));
    return Checks.refuseIf(
        reserved.signum() == 0
            || reserved.compareTo(BigDecimal.valueOf(start.machine().cpus().size())) > 0,
        "NoReservedCpus",
        "cpuManagerPolicy static would have %s CPUs reserved of %d, and the kubelet does not start"
            + " without some. Set cpuManager.reserved.",
        reserved.toPlainString(),
        start.machine().cpus().size());
  }

  private static BigDecimal cpus(Map<String, String> reserved) {
    var text = orEmpty(reserved).getOrDefault("cpu", "0");
    return text.endsWith("m")
        ? new BigDecimal(text.substring(0, text.length() - 1)).movePointLeft(3)
        : new BigDecimal(text);
  }

  /** pkg/kubelet/apis/config/validation/validation.go. */
  private static Optional<Refused> cgroupsLeaveReservedCpusAlone(Start start) {
    return Checks.refuseIf(
        isSet(start.settings().reservedSystemCPUs)
            && (isSet(start.settings().kubeReservedCgroup)
                || isSet(start.settings().systemReservedCgroup)),
        "ReservedCgroupConflict",
        "reservedSystemCPUs and a cgroup for reservations (kubeReservedCgroup \"%s\","
            + " systemReservedCgroup \"%s\") exclude each other. Take the cgroup out of the kubelet's"
            + " own configuration.",
        Objects.requireNonNullElse(start.settings().kubeReservedCgroup, ""),
        Objects.requireNonNullElse(start.settings().systemReservedCgroup, ""));
  }

  /** pkg/kubelet/apis/config/validation/validation.go. */
  private static Optional<Refused> whatIsEnforcedHasACgroup(Start start) {
    var settings = start.settings();
    return Objects.requireNonNullElse(settings.enforceNodeAllocatable, List.<String>of()).stream()
        .filter(
            item ->
                (item.startsWith("kube-reserved") && !isSet(settings.kubeReservedCgroup))
                    || (item.startsWith("system-reserved")
                        && !isSet(settings.systemReservedCgroup)))
        .findFirst()
        .map(
            item ->
                new Refused(
                    "EnforcementWithoutCgroup",
                    "enforceNodeAllocatable would have %s without a cgroup for it. Take it out of the kubelet's own configuration."
                        .formatted(item)));
  }

  /**
   * See {@link io.numaoperator.kubelet.Merge#settings}. A kubelet that has a drop-in directory has
   * lost it already, and runs with the default.
   */
  private static Optional<Refused> noEmptyValueIsLost(Start start) {
    var below = start.below().enforceNodeAllocatable;
    var running = Objects.requireNonNullElse(start.running().enforceNodeAllocatable, List.of());
    return Checks.refuseIf(
        below != null
            && below.isEmpty()
            && running.isEmpty()
            && start.settings().enforceNodeAllocatable == null,
        "EmptyValueLost",
        "The kubelet's main file says enforceNodeAllocatable: [], which the kubelet forgets as soon"
            + " as it merges a drop-in: it would enforce pods. Write [none] there instead.");
  }

  /** cm/cpumanager/policy_none.go, NewNonePolicy. */
  private static Optional<Refused> noneHasNoOptions(Start start) {
    var options = orEmpty(start.settings().cpuManagerPolicyOptions);
    return Checks.refuseIf(
        !start.cpuStatic() && !options.isEmpty(),
        "OptionsWithoutPolicy",
        "cpuManagerPolicyOptions %s would remain with cpuManagerPolicy none, and the kubelet does not"
            + " start with them. Take them out of the kubelet's own configuration.",
        options.keySet());
  }

  /** cm/cpumanager/policy_options.go, cm/topologymanager/policy_options.go. */
  private static Optional<Refused> optionsAreAccepted(Start start) {
    var cpu = orEmpty(start.settings().cpuManagerPolicyOptions).keySet();
    var topology =
        start.aligns()
            ? orEmpty(start.settings().topologyManagerPolicyOptions).keySet()
            : Set.<String>of();
    return Stream.concat(cpu.stream(), topology.stream())
        .sorted()
        .map(name -> fault(start, name))
        .flatMap(Optional::stream)
        .findFirst()
        .map(fault -> new Refused("UnsupportedOption", fault));
  }

  private static Optional<String> fault(Start start, String name) {
    var option = KubeletOption.named(name);
    if (option.isEmpty()) {
      return Optional.of(
          "The kubelet's option %s is not known to the operator. Take it out.".formatted(name));
    }
    return switch (start.gates().availability(option.get())) {
      case Available available -> Optional.empty();
      case KnownSince since ->
          Optional.of(
              "%s needs Kubernetes 1.%d; this kubelet is %s. Remove it, or upgrade the node."
                  .formatted(name, since.minor(), start.gates().version()));
      case NeedsGate gate ->
          Optional.of(
              "%s needs the feature gate %s in Kubernetes %s, and this kubelet has it off. Set it in the kubelet's own configuration, or remove the option."
                  .formatted(name, gate.gate(), start.gates().version()));
    };
  }

  private static Optional<Refused> optionsGoTogether(Start start) {
    return EXCLUSIVE.stream()
        .filter(pair -> pair.stream().allMatch(option -> isOn(start, option)))
        .findFirst()
        .map(
            pair ->
                new Refused(
                    "OptionsExclusive",
                    "The kubelet does not start with both %s and %s. Remove one of them."
                        .formatted(pair.getFirst().optionName(), pair.getLast().optionName())));
  }

  private static boolean isOn(Start start, KubeletOption option) {
    return "true"
        .equals(orEmpty(start.settings().cpuManagerPolicyOptions).get(option.optionName()));
  }

  /** cm/cpumanager/policy_options.go, ValidateStaticPolicyOptions. */
  private static Optional<Refused> socketsCanBeAligned(Start start) {
    return Checks.refuseIf(
        isOn(start, KubeletOption.ALIGN_BY_SOCKET)
            && ("single-numa-node".equals(start.settings().topologyManagerPolicy)
                || start.machine().sockets().size() > start.machine().zonesWithCpus().size()),
        "AlignBySocketImpossible",
        "The kubelet does not start with align-by-socket and topologyManagerPolicy single-numa-node,"
            + " nor on a machine with more sockets (%d) than NUMA nodes (%d). Remove the option.",
        start.machine().sockets().size(),
        start.machine().zonesWithCpus().size());
  }

  /** cm/topologymanager/topology_manager.go, NewManager. */
  private static Optional<Refused> zonesAreWithinTheLimit(Start start) {
    int limit =
        Integer.parseInt(
            orEmpty(start.settings().topologyManagerPolicyOptions)
                .getOrDefault(
                    KubeletOption.MAX_ALLOWABLE_NUMA_NODES.optionName(),
                    Integer.toString(DEFAULT_LIMIT)));
    return Checks.refuseIf(
        start.aligns() && start.machine().zoneCount() > limit,
        "TooManyZones",
        "The machine has %d NUMA nodes and the kubelet's limit would be %d. Set"
            + " topologyManager.options.maxAllowableNumaNodes, or topologyManager.policy None.",
        start.machine().zoneCount(),
        limit);
  }
}
