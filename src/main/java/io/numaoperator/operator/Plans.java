package io.numaoperator.operator;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.ContentHash;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What was found of each node, for as long as neither the policy's spec nor what was seen of the
 * node is another one.
 */
final class Plans {
  private final Map<String, Kept> byNode = new ConcurrentHashMap<>();

  /** Conditions are judged from findings, and no finding depends on them. */
  private static final class ConditionsLeftOut {
    @JsonIgnore List<Condition> conditions;
  }

  private final ObjectWriter content =
      Serialization.jsonMapper()
          .copy()
          .addMixIn(NumaNodeStateStatus.class, ConditionsLeftOut.class)
          .writer();

  /**
   * @param generation of the policy's spec
   */
  private record Asked(String policyUid, Long generation, boolean restores, String bootId) {}

  /**
   * @param seen the very object; those in a cache are never changed
   * @param content the hash of what it says, but for its conditions
   */
  private record Kept(
      Asked asked, NumaNodeStateStatus seen, String content, NodeFindings findings) {}

  NodeFindings of(NumaPolicy policy, NumaNodeState state, Node node) {
    var asked =
        new Asked(
            policy.getMetadata().getUid(),
            policy.getMetadata().getGeneration(),
            Restoration.isUnderWay(policy),
            Nodes.bootId(node));
    var seen = NodeAssessment.observed(state);
    if (asked.generation() == null) { // it is not of an API server
      return findings(policy, asked, seen);
    }
    return byNode
        .compute(node.getMetadata().getName(), (name, known) -> known(known, policy, asked, seen))
        .findings();
  }

  /** Each write of its conditions makes it another object, which says the same. */
  private Kept known(Kept known, NumaPolicy policy, Asked asked, NumaNodeStateStatus seen) {
    if (known == null || !known.asked().equals(asked)) {
      return new Kept(asked, seen, content(seen), findings(policy, asked, seen));
    }
    if (known.seen() == seen) {
      return known;
    }
    var content = content(seen);
    if (!content.equals(known.content())) {
      return new Kept(asked, seen, content, findings(policy, asked, seen));
    }
    known.findings().seenAgain(seen);
    return new Kept(asked, seen, content, known.findings());
  }

  private static NodeFindings findings(NumaPolicy policy, Asked asked, NumaNodeStateStatus seen) {
    return new NodeFindings(policy.getSpec().kubelet, asked.restores(), seen, asked.bootId());
  }

  private String content(NumaNodeStateStatus seen) {
    try {
      return ContentHash.of(content.writeValueAsString(seen));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a status that was read is written", e);
    }
  }

  /** The node is gone. */
  void forget(String node) {
    byNode.remove(node);
  }
}
