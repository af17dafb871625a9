package io.numaoperator.plan.scheduler;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * ignoreList of KAI's numa plugin: resources that kubelets do not align. It holds for the whole
 * shard, so a resource is only ignored where its manager is off for all policies: ignored where one
 * is on, pods would be sent to nodes that reject them.
 */
final class KaiIgnored {
  private KaiIgnored() {}

  static List<String> resources(List<NumaPolicy> policies) {
    var ignored = new ArrayList<String>();
    if (isOff(policies, kubelet -> kubelet.cpuManager.policy)) {
      ignored.add("cpu");
    }
    if (isOff(policies, kubelet -> kubelet.memoryManager.policy)) {
      ignored.add("memory");
    }
    return ignored;
  }

  private static boolean isOff(
      List<NumaPolicy> policies, Function<KubeletPolicy, StaticOrNone> manager) {
    return !policies.isEmpty()
        && policies.stream()
            .allMatch(policy -> manager.apply(policy.getSpec().kubelet) == StaticOrNone.None);
  }
}
