package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.Condition;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.readiness.PolicyReadiness.NodeVerdict;
import io.numaoperator.readiness.PolicyReadiness.PolicyEvidence;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PolicyReadinessTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static NodeVerdict node(String name, Status status, String reason) {
    return node(name, status, reason, false, false);
  }

  private static NodeVerdict node(
      String name, Status status, String reason, boolean updating, boolean failed) {
    var verdicts = new LinkedHashMap<String, Verdict>();
    for (var type :
        List.of(
            NodeReadiness.KUBELET,
            NodeReadiness.DEVICES,
            NodeReadiness.TOPOLOGY,
            NodeReadiness.SCHEDULER,
            NodeReadiness.ALIGNMENT)) {
      verdicts.put(type, new Verdict(status, reason, "because"));
    }
    return new NodeVerdict(name, Conditions.update(List.of(), verdicts, 1L, NOW), updating, failed);
  }

  private static PolicyEvidence evidence(NodeVerdict... nodes) {
    return new PolicyEvidence(List.of(nodes), List.of(), Map.of(), false, false);
  }

  @Test
  void readyWhenEveryNodeIs() {
    var verdicts = PolicyReadiness.judge(evidence(node("a", Status.True, "Aligned")));
    assertThat(verdicts.get("Ready").isTrue()).isTrue();
    assertThat(verdicts.get("Reconciling").isTrue()).isFalse();
    assertThat(verdicts.get("KubeletsConfigured").isTrue()).isTrue();
  }

  @Test
  void readyWithoutNodes() {
    assertThat(PolicyReadiness.judge(evidence()).get("Ready"))
        .isEqualTo(
            Verdict.yes(
                "NoNodes", "the selector matches no node; nodes that appear are taken care of"));
  }

  @Test
  void oneNodeThatIsNotReadyIsEnough() {
    var verdicts =
        PolicyReadiness.judge(
            evidence(node("a", Status.True, "Aligned"), node("b", Status.False, "Waiting")));
    assertThat(verdicts.get("Ready").status()).isEqualTo(Status.False);
    assertThat(verdicts.get("Ready").message()).contains("1 of 2", "b: because");
    assertThat(verdicts.get("Reconciling").isTrue()).isTrue();
  }

  @Test
  void unknownNodesMakeItUnknownNotFalse() {
    assertThat(
            PolicyReadiness.judge(
                    evidence(
                        node("a", Status.True, "Aligned"),
                        node("b", Status.Unknown, "AgentSilent")))
                .get("Ready")
                .status())
        .isEqualTo(Status.Unknown);
    assertThat(
            PolicyReadiness.judge(evidence(new NodeVerdict("new", List.of(), false, false)))
                .get("Ready")
                .status())
        .isEqualTo(Status.Unknown);
  }

  @Test
  void aStoppedRolloutIsStalledAndNotReconciling() {
    var verdicts =
        PolicyReadiness.judge(
            new PolicyEvidence(
                List.of(node("a", Status.False, "RolledBack", false, true)),
                List.of(),
                Map.of(),
                true,
                false));
    assertThat(verdicts.get("Stalled").isTrue()).isTrue();
    assertThat(verdicts.get("Stalled").message()).contains("failed: a");
    assertThat(verdicts.get("Reconciling").isTrue()).isFalse();
  }

  /** A deletion that waits says for what, and how to end it. */
  @Test
  void aPolicyThatRestoresItsNodesSaysWhatItWaitsFor() {
    var ready =
        PolicyReadiness.judge(
                new PolicyEvidence(
                    List.of(
                        node("a", Status.Unknown, "NodeNotReady"),
                        node("b", Status.True, "Aligned")),
                    List.of(),
                    Map.of(),
                    false,
                    true))
            .get("Ready");
    assertThat(ready.status()).isEqualTo(Status.False);
    assertThat(ready.reason()).isEqualTo("Restoring");
    assertThat(ready.message())
        .contains("2 nodes", "a (NodeNotReady: because)", "set rollout.onDelete to Keep");
  }

  @Test
  void aPartThatCannotBeAppliedIsToldThere() {
    var verdicts =
        PolicyReadiness.judge(
            new PolicyEvidence(
                List.of(node("a", Status.True, "Aligned")),
                List.of(),
                Map.of("SchedulerReady", Verdict.no("NotOurs", "somebody else's")),
                false,
                false));
    assertThat(verdicts.get("SchedulerReady").reason()).isEqualTo("NotOurs");
    assertThat(verdicts.get("Ready").status()).isEqualTo(Status.False);
    assertThat(verdicts.get("Ready").message()).contains("SchedulerReady: somebody else's");
  }

  @Test
  void listsTheWorstTwentyAndCountsTheRest() {
    var nodes = new ArrayList<NodeVerdict>();
    for (int i = 0; i < 30; i++) {
      nodes.add(node("n%02d".formatted(i), Status.False, "Waiting"));
    }
    nodes.add(node("z-failed", Status.False, "RolledBack", false, true));
    nodes.add(node("y-updating", Status.False, "Updating", true, false));
    var evidence = new PolicyEvidence(nodes, List.of(), Map.of(), false, false);
    var listed = PolicyReadiness.notReady(evidence);
    assertThat(listed).hasSize(20);
    assertThat(listed.get(0).name).isEqualTo("z-failed");
    assertThat(listed.get(1).name).isEqualTo("y-updating");
    var counts = PolicyReadiness.count(evidence);
    assertThat(counts.matched).isEqualTo(32);
    assertThat(counts.failed).isEqualTo(1);
    assertThat(counts.updating).isEqualTo(1);
  }

  @Test
  void aTransitionTimeMovesOnlyWithTheStatus() {
    var first = Conditions.update(List.of(), Map.of("Ready", Verdict.no("A", "a")), 1L, NOW);
    var later = NOW.plusSeconds(60);
    var same = Conditions.update(first, Map.of("Ready", Verdict.no("B", "b")), 2L, later);
    assertThat(same.getFirst().lastTransitionTime).isEqualTo("2026-01-01T00:00:00Z");
    assertThat(Conditions.same(first, same)).isFalse();
    List<Condition> changed =
        Conditions.update(same, Map.of("Ready", Verdict.yes("C", "c")), 2L, later);
    assertThat(changed.getFirst().lastTransitionTime).isEqualTo("2026-01-01T00:01:00Z");
    assertThat(
            Conditions.same(
                changed,
                Conditions.update(changed, Map.of("Ready", Verdict.yes("C", "c")), 2L, later)))
        .isTrue();
  }
}
