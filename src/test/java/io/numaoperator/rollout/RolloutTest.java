package io.numaoperator.rollout;

import static io.numaoperator.rollout.TestNode.NOW;
import static io.numaoperator.rollout.TestNode.budget;
import static io.numaoperator.rollout.TestNode.cordon;
import static io.numaoperator.rollout.TestNode.decide;
import static io.numaoperator.rollout.TestNode.goingOn;
import static io.numaoperator.rollout.TestNode.grant;
import static io.numaoperator.rollout.TestNode.named;
import static io.numaoperator.rollout.TestNode.next;
import static io.numaoperator.rollout.TestNode.paused;
import static io.numaoperator.rollout.TestNode.uncordon;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RolloutTest {
  @Test
  void takesNodesWithinTheBudgetInStableOrder() {
    var c = named("c");
    var b = named("b").in("zone-2");
    var a = named("a").in("zone-2");
    assertThat(next(budget(2), b, a, c)).containsExactly(cordon("c", 1), cordon("a", 1));
  }

  @Test
  void nodesThatAreUnavailableForAnotherReasonCount() {
    assertThat(next(budget(1), named("a"), named("b").notReady())).isEmpty();
    assertThat(next(budget(1), named("a"), named("b").cordonedByOthers())).isEmpty();
    assertThat(
            next(budget(1), named("a"), named("b").target(new Target.Reached()).cordonedByOthers()))
        .isEmpty();
  }

  @Test
  void tellsTheNextInTurnWhoUsesUpTheBudget() {
    var waits =
        decide(
                budget(2),
                NOW,
                named("a"),
                named("b"),
                named("x").notReady(),
                named("y").cordonedByOthers())
            .waits();
    assertThat(waits)
        .containsEntry("a", new Wait.Turn(2, List.of("x (not Ready)", "y (cordoned by others)")))
        .containsEntry("b", new Wait.Turn(2, List.of()));
  }

  @Test
  void nodesAlreadyRightAreNeverTouched() {
    assertThat(next(budget(5), named("a").target(new Target.Reached()))).isEmpty();
    assertThat(next(budget(5), named("a").target(new Target.Unplanned()))).isEmpty();
  }

  /** A plan that is no longer the approved one: nothing is started, and what was not begun ends. */
  @Test
  void anUnapprovedPlanIsNotCarriedOut() {
    var held = named("a").target(new Target.Unapproved("p"));
    assertThat(next(budget(5), held)).isEmpty();
    var cordoned = held.cordoned(1);
    assertThat(next(budget(5), cordoned)).containsExactly(uncordon("a"));
    assertThat(next(budget(5), cordoned.grant(1, "new"))).containsExactly(new Action.Revoke("a"));
    assertThat(next(budget(5), cordoned.grant(1, "new").attempt(1, "new", Outcome.Running)))
        .isEmpty();
  }

  @Test
  void skippedSilentAndForeignNodesAreNotStarted() {
    assertThat(
            next(
                budget(5),
                named("a").skipped(),
                named("b").silent(),
                named("c").cordonedByOthers(),
                named("d")))
        .containsExactly(cordon("d", 1));
  }

  /** Strict kubelets before a scheduler that sees them would make pods loop. */
  @Test
  void aNodeThatIsHeldBackIsNotStartedButIsFinished() {
    assertThat(next(budget(5), named("a").heldBack())).isEmpty();
    assertThat(next(budget(5), named("a").cordoned(1).heldBack())).containsExactly(grant("a", 1));
  }

  @Test
  void grantsWhatItCordonedForOnceThePodsAreGone() {
    assertThat(next(budget(1), named("a").cordoned(3).holders("train/llm"))).isEmpty();
    assertThat(next(budget(1), named("a").cordoned(3))).containsExactly(grant("a", 3));
  }

  @Test
  void leavesARunningAttemptAlone() {
    var running = named("a").cordoned(1).grant(1, "old").attempt(1, "old", Outcome.Running);
    assertThat(next(budget(1), running)).isEmpty();
    assertThat(next(paused(budget(1)), running)).isEmpty();
  }

  @Test
  void takesBackAUsedGrantThenUncordons() {
    var done =
        named("a").target(new Target.Reached()).cordoned(1).attempt(1, "new", Outcome.Succeeded);
    assertThat(next(budget(1), done)).containsExactly(uncordon("a"));
    assertThat(next(budget(1), done.grant(1, "new"))).containsExactly(new Action.Revoke("a"));
  }

  @Test
  void takesBackAGrantThatNoLongerFits() {
    assertThat(next(budget(1), named("a").cordoned(1).grant(1, "old")))
        .containsExactly(new Action.Revoke("a"));
    assertThat(next(budget(1), named("a").cordoned(1).grant(1, "new"))).isEmpty();
  }

  @Test
  void aFailedHashIsNotTriedAgainAndStopsThePolicy() {
    var failed = named("a").attempt(1, "new", Outcome.RolledBack);
    assertThat(decide(budget(5), NOW, failed, named("b")))
        .isEqualTo(
            new Decision(List.of(), Map.of("b", new Wait.Stopped(List.of("a"))), Optional.empty()));
    assertThat(next(goingOn(budget(5)), failed, named("b"))).containsExactly(cordon("b", 1));
    assertThat(next(budget(5), failed.target(new Target.Change("newer")), named("b")))
        .containsExactly(cordon("a", 2), cordon("b", 1));
  }

  /** The way back to a node's own settings has no other plan that could be tried instead. */
  @Test
  void aFailedWayBackIsTriedAgainLaterEachTime() {
    var due = new Target.Change("new", true);
    var ended = named("a").target(due).cordoned(1).attempt(1, "new", Outcome.RolledBack);
    var first = new GivenUp(1, NOW.plus(Duration.ofMinutes(10)), GivenUp.FAILED);
    assertThat(next(budget(5), ended, named("b")))
        .containsExactly(new Action.Uncordon("a", Optional.of(first)));
    var second =
        named("a").target(due).cordoned(2).attempt(2, "new", Outcome.RolledBack).givenUp(1, NOW);
    assertThat(next(budget(5), second))
        .containsExactly(
            new Action.Uncordon(
                "a",
                Optional.of(new GivenUp(2, NOW.plus(Duration.ofMinutes(20)), GivenUp.FAILED))));

    var resting = named("a").attempt(1, "new", Outcome.RolledBack);
    resting.givenUp = Optional.of(first);
    assertThat(next(budget(5), resting.target(new Target.Change("new")))).isEmpty();
    assertThat(next(budget(5), resting.notReady().target(due))).isEmpty();
  }

  /** It alone: pauseOnFailure holds the others until it has succeeded. */
  @Test
  void whatIsTriedAgainDoesNotLetTheOthersGo() {
    var due = new Target.Change("new", true);
    var again = named("a").target(due).attempt(1, "new", Outcome.RolledBack).givenUp(1, NOW);
    var decision = decide(budget(5), NOW, again, named("b").target(due));
    assertThat(decision.actions()).containsExactly(cordon("a", 2));
    assertThat(decision.waits()).containsOnly(Map.entry("b", new Wait.Stopped(List.of("a"))));
    assertThat(next(budget(5), again.cordoned(2), named("b"))).containsExactly(grant("a", 2));
    assertThat(next(budget(5), again.grant(2, "new"), named("b"))).isEmpty();
    assertThat(next(paused(budget(5)), again, named("b"))).containsExactly(new Action.Revoke("a"));
  }

  /** Nobody tries to start a kubelet again that did not even come back from the first time. */
  @Test
  void aRollbackThatFailedIsNotTriedAgain() {
    var due = new Target.Change("new", true);
    assertThat(next(budget(5), named("a").target(due).attempt(1, "new", Outcome.RollbackFailed)))
        .isEmpty();
  }

  /** What waits for its pods has not begun; with the same plan it would fail like the first. */
  @Test
  void aFailureSendsThoseThatStillDrainBackIntoService() {
    var failed = named("a").attempt(1, "new", Outcome.RolledBack);
    var granted = named("c").cordoned(1).grant(1, "new");
    var draining = named("b").cordoned(1).holders("train/llm");
    assertThat(next(budget(5), failed, draining, granted))
        .containsExactly(uncordon("b"), new Action.Revoke("c"));
    assertThat(next(goingOn(budget(5)), failed, draining, granted)).isEmpty();
  }

  @Test
  void aRolledBackNodeGoesBackIntoService() {
    var failed = named("a").cordoned(1).attempt(1, "new", Outcome.RolledBack);
    assertThat(next(budget(1), failed)).containsExactly(uncordon("a"));
  }

  @Test
  void aNodeWhoseKubeletStayedDownStaysOutOfService() {
    var broken = named("a").cordoned(1).attempt(1, "new", Outcome.RollbackFailed).notReady();
    assertThat(next(budget(1), broken, named("b"))).isEmpty();
  }

  @Test
  void aRefusedGrantIsTriedAgainLater() {
    var refused = named("a").attempt(4, "new", Outcome.Refused);
    var later = NOW.plusSeconds(30);
    var decision = decide(budget(1), NOW, refused);
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits()).containsEntry("a", new Wait.Retry(later));
    assertThat(decision.due()).contains(later);
    assertThat(decide(budget(1), later, refused).actions()).containsExactly(cordon("a", 5, later));
  }

  /** Else it would be drained every 30 s for a grant that is refused for good. */
  @Test
  void whatIsRefusedAgainAndAgainIsLeftAloneForLongerAndLonger() {
    var refused = named("a").cordoned(4).attempt(4, "new", Outcome.Refused);
    var first = new GivenUp(1, NOW.plusSeconds(30), GivenUp.REFUSED);
    assertThat(next(budget(1), refused))
        .containsExactly(new Action.Uncordon("a", Optional.of(first)));

    refused.givenUp = Optional.of(first);
    var second = new GivenUp(2, NOW.plusSeconds(60), GivenUp.REFUSED);
    assertThat(next(budget(1), refused))
        .containsExactly(new Action.Uncordon("a", Optional.of(second)));

    var waiting = named("a").attempt(4, "new", Outcome.Refused);
    waiting.givenUp = Optional.of(second);
    var decision = decide(budget(1), NOW.plusSeconds(59), waiting);
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits()).containsEntry("a", new Wait.Backoff(second));
    assertThat(decision.due()).contains(second.notBefore());
    assertThat(decide(budget(1), second.notBefore(), waiting).actions()).hasSize(1);
    assertThat(decide(budget(1), NOW.plusSeconds(30), waiting.target(new Target.Change("newer"))))
        .as("another change does not wait for it")
        .extracting(Decision::actions)
        .isNotEqualTo(List.of());

    var succeeded = named("a").cordoned(5).attempt(5, "new", Outcome.Succeeded);
    succeeded.givenUp = Optional.of(second);
    assertThat(next(budget(1), succeeded.target(new Target.Reached())))
        .containsExactly(uncordon("a"));
  }

  @Test
  void aSuccessThatSomebodyUndidIsHealedButNotInAHurry() {
    var undone = named("a").attempt(4, "new", Outcome.Succeeded);
    var later = NOW.plusSeconds(30);
    assertThat(next(budget(1), undone)).isEmpty();
    assertThat(decide(budget(1), later, undone).actions()).containsExactly(cordon("a", 5, later));
    assertThat(next(budget(1), undone.target(new Target.Change("newer"))))
        .containsExactly(cordon("a", 5));
  }

  @Test
  void pausingPutsWaitingNodesBackIntoService() {
    assertThat(next(paused(budget(1)), named("a"), named("b").cordoned(1)))
        .containsExactly(uncordon("b"));
  }

  /** A node with the startup taint is not in service: changing it takes nothing away. */
  @Test
  void aNewcomerIsChangedBesideTheBudget() {
    var settings = budget(1);
    assertThat(next(settings, named("a").newcomer(), named("b").newcomer(), named("c").notReady()))
        .containsExactly(cordon("a", 1), cordon("b", 1));
    assertThat(next(settings, named("a").newcomer().notReady(), named("b")))
        .containsExactly(cordon("b", 1));
    var failed = named("x").attempt(1, "new", Outcome.RolledBack);
    assertThat(next(settings, failed, named("a").newcomer())).isEmpty();
  }

  @Test
  void percentagesRoundDownToAtLeastOne() {
    assertThat(RolloutSettings.maxUnavailable("10%", 25)).isEqualTo(2);
    assertThat(RolloutSettings.maxUnavailable("10%", 4)).isEqualTo(1);
    assertThat(RolloutSettings.maxUnavailable("3", 4)).isEqualTo(3);
  }
}
