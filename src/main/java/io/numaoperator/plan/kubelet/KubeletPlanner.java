package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.topology.Machine;
import java.util.Map;
import java.util.Objects;

/**
 * Computes a node's kubelet fragment, exact to the byte. It refuses whatever the kubelet would exit
 * on, and what the kubelet accepts but gets wrong.
 */
public final class KubeletPlanner {
  private KubeletPlanner() {}

  /**
   * The plan for one node.
   *
   * @param own what the kubelet would run with without a drop-in of ours, in the same form as what
   *     a running one says
   */
  public static KubeletPlan plan(
      KubeletPolicy policy, Machine machine, EffectiveKubelet own, KubeletVersion version) {
    var gates = new VersionGates(version, Objects.requireNonNullElse(own.featureGates, Map.of()));
    var settings = Objects.requireNonNullElseGet(own.settings, KubeletFragment::new);
    var draft = Draft.empty();
    try {
      CpuPlan.of(policy, machine, gates).write(draft);
      ReservedCgroups.write(draft, settings, own.source);
      MemoryPlan.of(policy.memoryManager, machine, settings).write(draft);
      TopologyPlan.of(policy.topologyManager, machine, gates).write(draft);
    } catch (RefusedException refusal) {
      return refusal.refused;
    }
    return new KubeletPlan.Planned(draft.fragment(), DropIn.hash(draft.fragment()), draft.notes());
  }
}
