package io.numaoperator.plan.kubelet;

import static io.numaoperator.kubelet.KubeletOption.MAX_ALLOWABLE_NUMA_NODES;
import static io.numaoperator.kubelet.KubeletOption.PREFER_CLOSEST_NUMA_NODES;

import io.numaoperator.api.KubeletPolicy.TopologyManager;
import io.numaoperator.api.KubeletPolicy.TopologyOptions;
import io.numaoperator.api.KubeletPolicy.TopologyPolicy;
import io.numaoperator.api.KubeletPolicy.TopologyScope;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.topology.Machine;
import java.util.Map;
import java.util.Objects;

/** topologyManagerPolicy, its scope and its options. */
record TopologyPlan(TopologyManager policy, Machine machine, VersionGates gates) {
  /** The kubelet's default limit (cm/topologymanager/topology_manager.go). */
  private static final int DEFAULT_LIMIT = 8;

  /** Admission looks at every combination of zones: beyond this people have to ask for it. */
  private static final int AUTOMATIC_LIMIT = 16;

  static TopologyPlan of(TopologyManager policy, Machine machine, VersionGates gates) {
    return new TopologyPlan(policy, machine, gates);
  }

  void write(Draft draft) throws RefusedException {
    draft.fragment().topologyManagerPolicy =
        switch (policy.policy) {
          case None -> "none";
          case BestEffort -> "best-effort";
          case Restricted -> "restricted";
          case SingleNUMANode -> "single-numa-node";
        };
    draft.fragment().topologyManagerScope = policy.scope == TopologyScope.Pod ? "pod" : "container";
    if (policy.policy != TopologyPolicy.None) { // the kubelet does not read the options of none
      draft.fragment().topologyManagerPolicyOptions = options(draft);
    }
  }

  private Map<String, String> options(Draft draft) throws RefusedException {
    var wanted = Objects.requireNonNullElseGet(policy.options, TopologyOptions::new);
    var options = new Options(gates);
    options.set(
        PREFER_CLOSEST_NUMA_NODES,
        wanted.preferClosestNumaNodes,
        "topologyManager.options.preferClosestNumaNodes");
    if (wanted.maxAllowableNumaNodes != null) {
      limit(options, wanted.maxAllowableNumaNodes);
    } else if (machine.zoneCount() > DEFAULT_LIMIT) {
      automaticLimit(options, draft);
    }
    return options.orNull();
  }

  private void limit(Options options, int limit) throws RefusedException {
    if (machine.zoneCount() > limit) {
      throw new RefusedException(
          "TooManyZones",
          "The machine has %d NUMA nodes and topologyManager.options.maxAllowableNumaNodes is %d: the"
              + " kubelet would not start. Raise it, or set topologyManager.policy None.",
          machine.zoneCount(),
          limit);
    }
    options.set(MAX_ALLOWABLE_NUMA_NODES, limit, "topologyManager.options.maxAllowableNumaNodes");
  }

  private void automaticLimit(Options options, Draft draft) throws RefusedException {
    if (machine.zoneCount() > AUTOMATIC_LIMIT) {
      throw new RefusedException(
          "TooManyZones",
          "The machine has %d NUMA nodes; the operator raises the kubelet's limit of %d by itself up"
              + " to %d only, since pod admission slows down with every one. Set"
              + " topologyManager.options.maxAllowableNumaNodes to accept that, or"
              + " topologyManager.policy None.",
          machine.zoneCount(),
          DEFAULT_LIMIT,
          AUTOMATIC_LIMIT);
    }
    if (!gates.accepts(MAX_ALLOWABLE_NUMA_NODES)) {
      throw new RefusedException(
          "TooManyZones",
          "The machine has %d NUMA nodes and a kubelet %s as it is configured stops at more than %d"
              + " (max-allowable-numa-nodes: since Kubernetes 1.31, with the feature gate"
              + " TopologyManagerPolicyBetaOptions until 1.34). Upgrade the node, or set"
              + " topologyManager.policy None.",
          machine.zoneCount(),
          gates.version(),
          DEFAULT_LIMIT);
    }
    options.set(MAX_ALLOWABLE_NUMA_NODES, machine.zoneCount(), "max-allowable-numa-nodes");
    draft.note(
        "The machine has %d NUMA nodes: max-allowable-numa-nodes is set for it.",
        machine.zoneCount());
  }
}
