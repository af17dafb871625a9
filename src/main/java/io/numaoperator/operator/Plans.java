package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What was found of each node, for as long as neither the policy's spec nor what was seen of the
 * node is another one.
 */
final class Plans {
  private final Map<String, Kept> byNode = new ConcurrentHashMap<>();

  /**
   * @param generation of the policy's spec
   * @param seen the very object; those in a cache are never changed
   */
  private record Kept(
      String policyUid,
      Long generation,
      boolean restores,
      NumaNodeStateStatus seen,
      String bootId,
      NodeFindings findings) {
    boolean isOf(NumaPolicy policy, NumaNodeStateStatus now, String boot) {
      return seen == now
          && Objects.equals(generation, policy.getMetadata().getGeneration())
          && Objects.equals(policyUid, policy.getMetadata().getUid())
          && restores == Restoration.isUnderWay(policy)
          && bootId.equals(boot);
    }
  }

  NodeFindings of(NumaPolicy policy, NumaNodeState state, Node node) {
    var name = node.getMetadata().getName();
    var bootId = Nodes.bootId(node);
    var seen = NodeAssessment.observed(state);
    var known = byNode.get(name);
    if (known != null && known.isOf(policy, seen, bootId)) {
      return known.findings();
    }
    var restores = Restoration.isUnderWay(policy);
    var findings = new NodeFindings(policy.getSpec().kubelet, restores, seen, bootId);
    if (policy.getMetadata().getGeneration() != null) { // else it is not of an API server
      byNode.put(
          name,
          new Kept(
              policy.getMetadata().getUid(),
              policy.getMetadata().getGeneration(),
              restores,
              seen,
              bootId,
              findings));
    }
    return findings;
  }

  /** The node is gone. */
  void forget(String node) {
    byNode.remove(node);
  }
}
