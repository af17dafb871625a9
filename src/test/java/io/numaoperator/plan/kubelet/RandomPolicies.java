package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.CpuOptions;
import io.numaoperator.api.KubeletPolicy.ReservedMemory;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.KubeletPolicy.TopologyOptions;
import io.numaoperator.api.KubeletPolicy.TopologyPolicy;
import io.numaoperator.api.KubeletPolicy.TopologyScope;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import java.util.Random;

/** Policies that the API server would admit, or nearly. */
record RandomPolicies(Random random, Machine machine) {
  KubeletPolicy policy() {
    var policy = new KubeletPolicy();
    policy.topologyManager.policy = any(TopologyPolicy.values());
    policy.topologyManager.scope = any(TopologyScope.values());
    if (policy.topologyManager.policy != TopologyPolicy.None && oneIn(3)) {
      policy.topologyManager.options = new TopologyOptions();
      policy.topologyManager.options.preferClosestNumaNodes = flag();
      if (oneIn(3)) {
        policy.topologyManager.options.maxAllowableNumaNodes = 8 + random.nextInt(30);
      }
    }
    policy.cpuManager.policy = oneIn(4) ? StaticOrNone.None : StaticOrNone.Static;
    cpus(policy);
    policy.memoryManager.policy = oneIn(3) ? StaticOrNone.None : StaticOrNone.Static;
    policy.memoryManager.reserved = memory();
    return policy;
  }

  private void cpus(KubeletPolicy policy) {
    var reserved = policy.cpuManager.reserved;
    if (oneIn(4)) {
      reserved.coresPerNumaNode = null;
      var all = machine.cpus().stream().boxed().toList();
      var chosen = CpuSet.of(random.ints(1 + random.nextInt(3), 0, all.size()).map(all::get));
      reserved.cpus = (oneIn(10) ? chosen.union(CpuSet.of(60_000)) : chosen).format();
    } else {
      reserved.coresPerNumaNode = oneIn(6) ? 5 : 1;
    }
    if (policy.cpuManager.policy == StaticOrNone.Static && oneIn(3)) {
      var options = new CpuOptions();
      options.fullPhysicalCpusOnly = flag();
      options.distributeCpusAcrossNuma = oneIn(3) ? flag() : null;
      options.alignBySocket = oneIn(6) ? flag() : null;
      options.distributeCpusAcrossCores = oneIn(6) ? flag() : null;
      options.strictCpuReservation = flag();
      options.preferAlignCpusByUncoreCache = oneIn(4) ? flag() : null;
      policy.cpuManager.options = options;
    }
  }

  private ReservedMemory memory() {
    var reserved = new ReservedMemory();
    switch (random.nextInt(3)) {
      case 0 -> reserved.perNumaNode = any("4Gi", "1500M", "1", "300Mi", "1234567890");
      case 1 -> reserved.total = any("6Gi", "9999999999", "1500M", "10Mi", "3Ti", "1073741825");
      default -> {
        return null;
      }
    }
    return reserved;
  }

  private Boolean flag() { // null: not said
    return oneIn(3) ? null : (Boolean) random.nextBoolean();
  }

  private boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }

  @SafeVarargs
  private <T> T any(T... values) {
    return values[random.nextInt(values.length)];
  }
}
