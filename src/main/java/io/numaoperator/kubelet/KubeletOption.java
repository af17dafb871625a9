package io.numaoperator.kubelet;

import java.util.Optional;

/**
 * The options of the managers' policies and the Kubernetes minor versions in which they became
 * alpha, beta and GA (cm/cpumanager/policy_options.go, cm/topologymanager/policy_options.go and
 * their history). {@link VersionGates} says what follows from it.
 */
public enum KubeletOption {
  FULL_PCPUS_ONLY(Manager.CPU, "full-pcpus-only", 22, 23, 33),
  DISTRIBUTE_CPUS_ACROSS_NUMA(
      Manager.CPU, "distribute-cpus-across-numa", 23, 33, KubeletOption.NOT_YET),
  ALIGN_BY_SOCKET(Manager.CPU, "align-by-socket", 25, KubeletOption.NOT_YET, KubeletOption.NOT_YET),
  DISTRIBUTE_CPUS_ACROSS_CORES(
      Manager.CPU,
      "distribute-cpus-across-cores",
      31,
      KubeletOption.NOT_YET,
      KubeletOption.NOT_YET),
  STRICT_CPU_RESERVATION(Manager.CPU, "strict-cpu-reservation", 32, 33, 35),
  PREFER_ALIGN_CPUS_BY_UNCORECACHE(Manager.CPU, "prefer-align-cpus-by-uncorecache", 32, 34, 36),
  PREFER_CLOSEST_NUMA_NODES(Manager.TOPOLOGY, "prefer-closest-numa-nodes", 26, 28, 32),
  /** Began as beta. */
  MAX_ALLOWABLE_NUMA_NODES(Manager.TOPOLOGY, "max-allowable-numa-nodes", 31, 31, 35);

  private static final int NOT_YET = Integer.MAX_VALUE;

  /** The manager that an option belongs to, and where its kind of option is gated. */
  enum Manager {
    CPU("CPUManagerPolicy", 33),
    TOPOLOGY("TopologyManagerPolicy", 32);

    /** Prefix of its gates: PREFIX + Options, AlphaOptions, BetaOptions. */
    final String gatePrefix;

    /** Minor version since which the gate PREFIX + Options is locked on. */
    final int optionsLockedSince;

    Manager(String gatePrefix, int optionsLockedSince) {
      this.gatePrefix = gatePrefix;
      this.optionsLockedSince = optionsLockedSince;
    }
  }

  /** How mature an option is in a version. */
  enum Maturity {
    UNKNOWN,
    ALPHA,
    BETA,
    GA
  }

  private final Manager manager;
  private final String optionName;
  private final int alpha;
  private final int beta;
  private final int ga;

  KubeletOption(Manager manager, String optionName, int alpha, int beta, int ga) {
    this.manager = manager;
    this.optionName = optionName;
    this.alpha = alpha;
    this.beta = beta;
    this.ga = ga;
  }

  /** The kubelet's name for it. */
  public String optionName() {
    return optionName;
  }

  /** Whether it is one of cpuManagerPolicyOptions; else of topologyManagerPolicyOptions. */
  public boolean isCpuOption() {
    return manager == Manager.CPU;
  }

  /** The first minor version of Kubernetes 1 that knows it. */
  public int since() {
    return alpha;
  }

  /** The option that the kubelet calls by this name; empty when we do not know it. */
  public static Optional<KubeletOption> named(String optionName) {
    for (var option : values()) {
      if (option.optionName.equals(optionName)) {
        return Optional.of(option);
      }
    }
    return Optional.empty();
  }

  Manager manager() {
    return manager;
  }

  Maturity in(KubeletVersion version) {
    if (version.isAtLeast(ga)) {
      return Maturity.GA;
    }
    if (version.isAtLeast(beta)) {
      return Maturity.BETA;
    }
    return version.isAtLeast(alpha) ? Maturity.ALPHA : Maturity.UNKNOWN;
  }
}
