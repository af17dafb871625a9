package io.numaoperator.rollout;

import static io.numaoperator.rollout.TestNode.NOW;
import static io.numaoperator.rollout.TestNode.budget;
import static io.numaoperator.rollout.TestNode.cordon;
import static io.numaoperator.rollout.TestNode.decide;
import static io.numaoperator.rollout.TestNode.drain;
import static io.numaoperator.rollout.TestNode.grant;
import static io.numaoperator.rollout.TestNode.named;
import static io.numaoperator.rollout.TestNode.next;
import static io.numaoperator.rollout.TestNode.paused;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Kind;
import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.Drain.Resident;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrainingTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(10);
  private static final Duration WAIT = Duration.ofHours(1);
  private static final RolloutSettings WHEN_IDLE =
      drain(budget(1), false, TIMEOUT, Optional.of(WAIT));
  private static final RolloutSettings EVICT = drain(budget(1), true, TIMEOUT, Optional.empty());

  private static Action evicting(String node, Instant since) {
    return new Action.BeginPhase(node, new Phase.Evicting(since));
  }

  // ---- WhenIdle

  @Test
  void whenIdleWaitsForHoldersThenEvictsTheOthersThenGrants() {
    var node =
        named("a")
            .cordoned(1)
            .holders("train/llm")
            .pod("train/llm", Kind.Replaced)
            .pod("web/shop", Kind.Replaced);
    var decision = decide(WHEN_IDLE, NOW, node);
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits())
        .containsEntry(
            "a",
            new Wait.Pods(List.of("train/llm"), Optional.of(NOW.plus(WAIT)), Optional.empty()));
    assertThat(decision.due()).contains(NOW.plus(WAIT));

    node.residents.removeFirst();
    node.holders = List.of();
    assertThat(next(WHEN_IDLE, node)).containsExactly(evicting("a", NOW));

    node.drained(1, new Phase.Evicting(NOW));
    decision = decide(WHEN_IDLE, NOW, node);
    assertThat(decision.actions()).containsExactly(new Action.Evict("a", List.of("web/shop")));
    assertThat(decision.waits())
        .containsEntry(
            "a",
            new Wait.Evictions(
                List.of("web/shop"), Map.of(), List.of(), NOW.plus(TIMEOUT), Optional.empty()));

    node.residents.clear();
    assertThat(next(WHEN_IDLE, node)).containsExactly(grant("a", 1));
  }

  @Test
  void whenIdleLeavesDaemonSetStaticBareAndOwnPods() {
    var node =
        named("a")
            .cordoned(1)
            .pod("kube-system/proxy", Kind.DaemonSet)
            .pod("kube-system/etcd", Kind.Static)
            .pod("default/debug", Kind.Bare)
            .pod("numa/operator", Kind.Operator);
    assertThat(next(WHEN_IDLE, node)).containsExactly(grant("a", 1));
    node.pod("web/shop", Kind.Replaced).drained(1, new Phase.Evicting(NOW));
    assertThat(((Wait.Evictions) decide(WHEN_IDLE, NOW, node).waits().get("a")).left())
        .containsExactly(
            "kube-system/proxy (of a DaemonSet)",
            "kube-system/etcd (a static pod)",
            "default/debug (no controller would replace it)",
            "numa/operator (this operator)");
  }

  /** What a container got is known when its agent has looked, not when it was bound. */
  @Test
  void whenIdleNeverEvictsAPodThatMayHoldSomethingYetUnseen() {
    var fresh = new Resident("train/fresh", Kind.Replaced, true, false);
    var waiting = named("a").cordoned(1).pod(fresh);
    assertThat(next(WHEN_IDLE, waiting)).isEmpty();
    var evicting = named("a").drained(1, new Phase.Evicting(NOW)).pod(fresh);
    var decision = decide(WHEN_IDLE, NOW, evicting);
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits().get("a")).isInstanceOf(Wait.Pods.class);
  }

  @Test
  void whenIdleWaitsWithoutEndWhenNoTimeIsGiven() {
    var settings = drain(budget(1), false, TIMEOUT, Optional.empty());
    var node = named("a").cordoned(1).holders("train/llm");
    var late = NOW.plus(Duration.ofDays(30));
    assertThat(decide(settings, late, node).actions()).isEmpty();
    assertThat(decide(settings, late, node).waits())
        .containsEntry(
            "a", new Wait.Pods(List.of("train/llm"), Optional.empty(), Optional.empty()));
  }

  // ---- Evict

  @Test
  void evictTakesAllThatADrainCanTake() {
    assertThat(next(EVICT, named("a")))
        .containsExactly(new Action.Cordon("a", 1, new Phase.Evicting(NOW), Optional.empty()));
    var node =
        named("a")
            .drained(1, new Phase.Evicting(NOW))
            .holders("train/llm")
            .pod("train/llm", Kind.Replaced)
            .pod("lab/notebook", Kind.Bare)
            .pod("kube-system/proxy", Kind.DaemonSet)
            .pod("kube-system/etcd", Kind.Static)
            .pod(new Resident("web/going", Kind.Replaced, false, true));
    var decision = decide(EVICT, NOW, node);
    assertThat(decision.actions())
        .containsExactly(new Action.Evict("a", List.of("train/llm", "lab/notebook")));
    assertThat(((Wait.Evictions) decision.waits().get("a")).pods())
        .containsExactly("train/llm", "lab/notebook", "web/going");
    assertThat(decision.due()).contains(NOW.plus(Rollout.EVICTION_RETRY));
  }

  @Test
  void evictGrantsWhenTheAgentSeesNoHolderAnyMore() {
    var node = named("a").drained(1, new Phase.Evicting(NOW)).holders("train/llm");
    assertThat(next(EVICT, node)).isEmpty();
    node.holders = List.of();
    assertThat(next(EVICT, node)).containsExactly(grant("a", 1));
  }

  @Test
  void aDaemonSetThatHoldsDevicesIsNamed() {
    var node =
        named("a")
            .drained(1, new Phase.Evicting(NOW))
            .holders("mon/gpu-burn")
            .pod("mon/gpu-burn", Kind.DaemonSet);
    assertThat(((Wait.Pods) decide(EVICT, NOW, node).waits().get("a")).pods())
        .containsExactly("mon/gpu-burn (of a DaemonSet)");
  }

  @Test
  void aChangeOfTheModeGoesOnFromWhereItIs() {
    assertThat(next(EVICT, named("a").cordoned(1).holders("train/llm")))
        .containsExactly(evicting("a", NOW));
    assertThat(next(WHEN_IDLE, named("a").drained(1, new Phase.Evicting(NOW)).holders("train/llm")))
        .isEmpty();
  }

  @Test
  void aLostMarkBeginsTheDrainAnew() {
    var node = named("a").cordoned(1);
    node.phase = Optional.empty();
    assertThat(next(WHEN_IDLE, node))
        .containsExactly(new Action.BeginPhase("a", new Phase.Waiting(NOW)));
    assertThat(next(EVICT, node)).containsExactly(evicting("a", NOW));
  }

  // ---- given up

  @Test
  void whatDoesNotEndInTimeGoesBackIntoServiceAndIsTriedLater() {
    var node = named("a").cordoned(1).holders("train/llm");
    var end = NOW.plus(WAIT);
    assertThat(decide(WHEN_IDLE, end.minusSeconds(1), node).actions()).isEmpty();
    assertThat(decide(WHEN_IDLE, end, node).actions())
        .containsExactly(
            new Action.Uncordon("a", Optional.of(new GivenUp(1, end.plus(WAIT), "train/llm"))));

    var evicted = named("a").drained(1, new Phase.Evicting(NOW)).pod("web/shop", Kind.Replaced);
    var late = NOW.plus(TIMEOUT);
    assertThat(decide(EVICT, late, evicted).actions())
        .containsExactly(
            new Action.Uncordon("a", Optional.of(new GivenUp(1, late.plus(TIMEOUT), "web/shop"))));
    assertThat(decide(WHEN_IDLE, late, evicted).actions())
        .containsExactlyElementsOf(decide(EVICT, late, evicted).actions());
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 2", "2, 4", "3, 8", "4, 12", "50, 12"})
  void theWaitDoublesUpToHalfADay(int count, int hours) {
    var node = named("a").cordoned(1).holders("train/llm");
    if (count > 0) {
      node.givenUp(count, NOW);
    }
    var end = NOW.plus(WAIT);
    assertThat(decide(WHEN_IDLE, end, node).actions())
        .containsExactly(
            new Action.Uncordon(
                "a",
                Optional.of(
                    new GivenUp(count + 1, end.plus(Duration.ofHours(hours)), "train/llm"))));
  }

  @Test
  void aNodeThatWasGivenUpIsLeftOutUntilItsTime() {
    var later = NOW.plus(WAIT);
    var tried = named("a").givenUp(1, later);
    var decision = decide(WHEN_IDLE, NOW, tried, named("b"));
    assertThat(decision.actions()).containsExactly(cordon("b", 1));
    assertThat(decision.waits()).containsEntry("a", new Wait.Backoff(tried.givenUp.get()));
    assertThat(decision.due()).contains(later);
    assertThat(decide(WHEN_IDLE, later, tried).actions()).containsExactly(cordon("a", 1, later));
  }

  @Test
  void whatIsRememberedOutlivesAPauseAndIsForgottenAfterAnAttempt() {
    var node = named("a").cordoned(1).givenUp(3, NOW);
    assertThat(next(paused(WHEN_IDLE), node))
        .containsExactly(new Action.Uncordon("a", node.givenUp));
    node.attempt(1, "new", NodeProgress.Outcome.Succeeded)
        .target(new NodeProgress.Target.Reached());
    assertThat(next(WHEN_IDLE, node)).containsExactly(TestNode.uncordon("a"));
  }

  /** It may have waited for its pods for days: the agent's time counts from its own mark. */
  @Test
  void aFreeNodeWhoseAgentIsSilentIsGivenUp() {
    var late = NOW.plus(Duration.ofDays(2));
    var node = named("a").cordoned(1).silent();
    assertThat(decide(EVICT, late, named("a").cordoned(1).silent()).actions())
        .containsExactly(evicting("a", late));
    assertThat(decide(WHEN_IDLE, late, node).actions()).containsExactly(evicting("a", late));

    node.drained(1, new Phase.Evicting(late));
    var until = late.plus(TIMEOUT.multipliedBy(2));
    var decision = decide(WHEN_IDLE, until.minusSeconds(1), node);
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits()).containsEntry("a", new Wait.Free(Optional.empty(), until));
    assertThat(decision.due()).contains(until);
    assertThat(decide(WHEN_IDLE, until, node).actions())
        .containsExactly(
            new Action.Uncordon(
                "a", Optional.of(new GivenUp(1, until.plus(TIMEOUT), GivenUp.NO_AGENT))));
  }

  @Test
  void aFreeNodeIsGrantedEvenAfterItsTime() {
    var late = NOW.plus(WAIT.multipliedBy(2));
    assertThat(decide(WHEN_IDLE, late, named("a").cordoned(1)).actions())
        .containsExactly(grant("a", 1));
  }
}
