package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import org.junit.jupiter.api.Test;

class PlansTest {
  private final Plans plans = new Plans();
  private final NumaPolicy policy = policy(1);
  private final Node node = node("boot-1");

  private static NumaPolicy policy(long generation) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName("p");
    policy.getMetadata().setUid("uid-p");
    policy.getMetadata().setGeneration(generation);
    policy.setSpec(new NumaPolicySpec());
    return policy;
  }

  private static Node node(String boot) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("n1")
        .endMetadata()
        .withNewStatus()
        .withNewNodeInfo()
        .withBootID(boot)
        .endNodeInfo()
        .endStatus()
        .build();
  }

  private static NumaNodeState state(String dropInHash, String... conditions) {
    var state = new NumaNodeState();
    state.getMetadata().setName("n1");
    state.setStatus(new NumaNodeStateStatus());
    state.getStatus().bootId = "boot-1";
    state.getStatus().dropInHash = dropInHash;
    for (var type : conditions) {
      var condition = new Condition();
      condition.type = type;
      state.getStatus().conditions.add(condition);
    }
    return state;
  }

  private NodeFindings ask(NumaNodeState state) {
    return plans.of(policy, state, node);
  }

  /** Working them out takes milliseconds, and each judgement writes new conditions. */
  @Test
  void newConditionsAreNoNewFindings() {
    var first = ask(state("a"));
    var judged = state("a", "KubeletConfigured");
    assertThat(ask(judged)).isSameAs(first);
    assertThat(first.seen()).isSameAs(judged.getStatus());
    assertThat(ask(state("a"))).isSameAs(first);
  }

  @Test
  void whatElseWasSeenOfTheNodeIs() {
    var first = ask(state("a"));
    var second = ask(state("b"));
    assertThat(second).isNotSameAs(first);
    assertThat(second.seen().dropInHash).isEqualTo("b");
  }

  @Test
  void soIsAnotherSpecOrAnotherBoot() {
    var first = ask(state("a"));
    assertThat(plans.of(policy(2), state("a"), node)).isNotSameAs(first);
    assertThat(plans.of(policy, state("a"), node("boot-2"))).isNotSameAs(first);
  }

  @Test
  void whatIsNotOfAnApiServerIsNeverKept() {
    var unnamed = policy(1);
    unnamed.getMetadata().setGeneration(null);
    var first = plans.of(unnamed, state("a"), node);
    assertThat(plans.of(unnamed, state("a"), node)).isNotSameAs(first);
  }
}
