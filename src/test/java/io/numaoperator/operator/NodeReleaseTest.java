package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateSpec.Grant;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.Gangs;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.Rollout;
import io.numaoperator.rollout.RolloutSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeReleaseTest {
  private static final Instant BEGUN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant LATE = BEGUN.plus(Duration.ofMinutes(16));

  private final NumaNodeState state = state();

  private static NumaNodeState state() {
    var state = new NumaNodeState();
    state.setSpec(new NumaNodeStateSpec());
    state.getSpec().policy = "gone";
    state.getSpec().grant = new Grant();
    state.getSpec().grant.attempt = 1L;
    state.getSpec().grant.hash = "new";
    state.getSpec().grant.bootId = "boot";
    state.setStatus(new NumaNodeStateStatus());
    state.getStatus().attempt = new Attempt();
    state.getStatus().attempt.number = 1L;
    state.getStatus().attempt.hash = "new";
    state.getStatus().attempt.since = BEGUN.toString();
    return state;
  }

  private static Node node(String ready) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("a")
        .withAnnotations(Map.of(Names.CORDONED_ANNOTATION, "gone/1"))
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(true)
        .endSpec()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus(ready)
        .endCondition()
        .endStatus()
        .build();
  }

  private NodeProgress progress(String ready) {
    return NodeAssessment.withoutPolicy(state, node(ready));
  }

  @Test
  void anAttemptIsAbandonedOnlyWhenNobodyCanGoOnWithIt() {
    assertThat(NodeRelease.isAbandoned(progress("True"), false, LATE)).isTrue();
    assertThat(NodeRelease.isAbandoned(progress("True"), true, LATE)).isFalse();
    assertThat(NodeRelease.isAbandoned(progress("False"), false, LATE)).isFalse();
    assertThat(NodeRelease.isAbandoned(progress("True"), false, BEGUN.plusSeconds(60))).isFalse();
  }

  /** It stayed cordoned for ever. */
  @Test
  void anAbandonedNodeGoesBackIntoService() {
    assertThat(windDown(progress("True"))).isEmpty();
    assertThat(windDown(progress("True").abandoned())).containsExactly(new Action.Revoke("a"));
    state.getSpec().grant = null;
    assertThat(windDown(progress("True").abandoned()))
        .singleElement()
        .isInstanceOf(Action.Uncordon.class);
  }

  private static List<Action> windDown(NodeProgress node) {
    return Rollout.decide(List.of(node), RolloutSettings.WIND_DOWN, Gangs.NONE, LATE).actions();
  }
}
