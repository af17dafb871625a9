package io.numaoperator.rollout;

import static io.numaoperator.rollout.TestNode.NOW;
import static io.numaoperator.rollout.TestNode.budget;
import static io.numaoperator.rollout.TestNode.canary;
import static io.numaoperator.rollout.TestNode.cordon;
import static io.numaoperator.rollout.TestNode.decide;
import static io.numaoperator.rollout.TestNode.goingOn;
import static io.numaoperator.rollout.TestNode.grant;
import static io.numaoperator.rollout.TestNode.named;
import static io.numaoperator.rollout.TestNode.next;
import static io.numaoperator.rollout.TestNode.uncordon;
import static io.numaoperator.rollout.TestNode.windows;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.Gangs.Gang;
import io.numaoperator.rollout.MaintenanceWindows.Window;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which nodes come next: canaries, maintenance windows, gangs. */
class StartsTest {
  private static final Duration SOAK = Duration.ofMinutes(10);
  private static final RolloutSettings CANARY = canary(budget(5), 1, SOAK);

  // ---- canaries

  @Test
  void aChangeIsTriedOnTheFirstNodesOnly() {
    var decision = decide(CANARY, NOW, named("a"), named("b"), named("c"));
    assertThat(decision.actions()).containsExactly(cordon("a", 1));
    assertThat(decision.waits())
        .containsOnlyKeys("b", "c")
        .containsEntry("b", new Wait.Canary(List.of("a"), Optional.empty()));
    assertThat(next(canary(budget(5), 2, SOAK), named("a"), named("b"), named("c")))
        .containsExactly(cordon("a", 1), cordon("b", 1));
  }

  @Test
  void theBudgetHoldsForCanariesToo() {
    assertThat(next(canary(budget(1), 2, SOAK), named("a"), named("b"), named("c")))
        .containsExactly(cordon("a", 1));
  }

  @Test
  void theOthersWaitUntilTheCanariesSoaked() {
    var a = named("a").done(NOW);
    var end = NOW.plus(SOAK);
    var decision = decide(CANARY, end.minusSeconds(1), a, named("b"));
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits())
        .containsEntry("b", new Wait.Canary(List.of("a"), Optional.of(end)));
    assertThat(decision.due()).contains(end);
    assertThat(decide(CANARY, end, a, named("b"), named("c")).actions())
        .containsExactly(cordon("b", 1, end), cordon("c", 1, end));
  }

  @Test
  void aCanaryThatIsNotWellHoldsTheOthers() {
    var end = NOW.plus(SOAK);
    var unwell = named("a").done(NOW);
    unwell.settled = false;
    assertThat(decide(CANARY, end, unwell, named("b")).actions()).isEmpty();
    assertThat(decide(CANARY, end, unwell, named("b")).waits())
        .containsEntry("b", new Wait.Canary(List.of("a"), Optional.empty()));
    var draining = named("a").cordoned(1).holders("train/llm");
    assertThat(decide(CANARY, end, draining, named("b")).actions()).isEmpty();
  }

  @Test
  void aCanaryThatFailedHoldsTheOthersEvenIfFailuresDoNotStopThePolicy() {
    var failed = named("a").attempt(1, "new", Outcome.RolledBack);
    assertThat(next(goingOn(CANARY), failed, named("b"))).isEmpty();
  }

  /** Nodes that cannot be tried now are no canaries; they would hold up all others for nothing. */
  @Test
  void theFirstThatCanBeChangedAreTheCanaries() {
    assertThat(
            next(
                CANARY,
                named("a").skipped(),
                named("b").silent(),
                named("c").givenUp(1, NOW.plusSeconds(60)),
                named("d"),
                named("e")))
        .containsExactly(cordon("d", 1));
  }

  @Test
  void driftAndNewNodesNeedNoCanaryAgain() {
    var soaked = NOW.plus(SOAK);
    var right = named("a").target(new Target.Reached());
    right.settled = true;
    assertThat(decide(CANARY, soaked, right, named("b"), named("c")).actions()).hasSize(2);
    var drifted = named("b").attempt(1, "new", Outcome.Succeeded);
    assertThat(decide(CANARY, soaked, named("a").done(NOW), drifted, named("c")).actions())
        .hasSize(2);
  }

  /** A node that a change of the spec left as it is says nothing about that change. */
  @Test
  void onlyNodesThatWentThroughTheChangeProveIt() {
    var later = NOW.plus(Duration.ofDays(1));
    var untouched = named("a").done(NOW).revision(1);
    var b = named("b").revision(2);
    var c = named("c").revision(2);
    assertThat(decide(CANARY, later, untouched, b, c).actions())
        .containsExactly(cordon("b", 1, later));
    assertThat(
            decide(CANARY, later.plus(SOAK), untouched, b.done(later), c, named("d").revision(2))
                .actions())
        .hasSize(2);
  }

  @Test
  void aPolicyOfFewerNodesThanCanariesIsDone() {
    var settings = canary(budget(5), 3, SOAK);
    assertThat(next(settings, named("a").done(NOW), named("b"))).containsExactly(cordon("b", 1));
  }

  // ---- maintenance windows

  private static final Instant THURSDAY = NOW; // 2026-01-01
  private static final RolloutSettings WINDOW =
      windows(
          budget(5),
          new MaintenanceWindows(
              List.of(
                  new Window(
                      EnumSet.of(DayOfWeek.THURSDAY),
                      LocalTime.of(22, 0),
                      Duration.ofHours(4),
                      ZoneOffset.UTC)),
              Optional.empty()));

  private static Instant at(int hour) {
    return THURSDAY.plus(Duration.ofHours(hour));
  }

  @Test
  void nothingIsStartedOutsideAWindow() {
    var decision = decide(WINDOW, at(21), named("a"));
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits()).containsEntry("a", new Wait.Window(Optional.of(at(22))));
    assertThat(decision.due()).contains(at(22));
    assertThat(decide(WINDOW, at(22), named("a")).actions())
        .containsExactly(cordon("a", 1, at(22)));
    assertThat(decide(WINDOW, at(25), named("a")).actions()).hasSize(1);
    assertThat(decide(WINDOW, at(26), named("a")).waits())
        .containsEntry("a", new Wait.Window(Optional.of(at(22 + 7 * 24))));
  }

  @Test
  void whenItClosesDrainsEndAndAttemptsGoOn() {
    var draining = named("a").cordoned(1).holders("train/llm");
    var free = named("b").cordoned(1);
    var granted = named("c").cordoned(1).grant(1, "new");
    var running = named("d").cordoned(1).grant(1, "new").attempt(1, "new", Outcome.Running);
    assertThat(decide(WINDOW, at(23), draining).due()).contains(at(26));
    assertThat(decide(WINDOW, at(26), draining, free, granted, running).actions())
        .containsExactly(uncordon("a"), uncordon("b"), new Action.Revoke("c"));
    assertThat(decide(WINDOW, at(25), granted).due())
        .as("looked at when it closes")
        .contains(at(26));
  }

  @Test
  void whatEndedGoesBackIntoServiceAtAnyTime() {
    var done = named("a").done(NOW).cordoned(1);
    assertThat(decide(WINDOW, at(12), done).actions()).containsExactly(uncordon("a"));
  }

  @Test
  void aNewcomerNeedsNoWindow() {
    assertThat(decide(WINDOW, at(12), named("a").newcomer(), named("b")).actions())
        .containsExactly(cordon("a", 1, at(12)));
    assertThat(decide(WINDOW, at(12), named("a").newcomer().cordoned(1)).actions())
        .containsExactly(grant("a", 1));
  }

  // ---- gangs

  private static final Gang JOB = new Gang("Job train/llm", Set.of("b", "d", "f"));
  private static final Gangs ONE_JOB =
      node -> JOB.nodes().contains(node) ? Optional.of(JOB) : Optional.empty();

  private static TestNode busy(String name) {
    return named(name).holders("train/llm-" + name);
  }

  private static Action together(String node) {
    return new Action.Cordon(node, 1, new Phase.Waiting(NOW), Optional.of("Job train/llm"));
  }

  @Test
  void nodesOfOneJobAreTakenTogether() {
    assertThat(
            decide(budget(4), ONE_JOB, NOW, named("a"), busy("b"), named("c"), busy("d"), busy("f"))
                .actions())
        .containsExactly(cordon("a", 1), together("b"), together("d"), together("f"));
  }

  @Test
  void aGangWaitsUntilItFitsAndNobodyOvertakesIt() {
    var decision =
        decide(
            budget(3),
            ONE_JOB,
            NOW,
            named("a").cordoned(1).grant(1, "new"),
            busy("b"),
            named("c"),
            busy("d"),
            busy("f"));
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits())
        .containsEntry("b", new Wait.Together("Job train/llm", 3, 3))
        .containsEntry("c", new Wait.Turn(3, List.of()));
  }

  @Test
  void aGangThatNeverFitsIsTakenAsFarAsTheBudgetGoes() {
    assertThat(decide(budget(2), ONE_JOB, NOW, busy("b"), busy("d"), busy("f")).actions())
        .containsExactly(together("b"), together("d"));
    assertThat(
            decide(
                    budget(3),
                    ONE_JOB,
                    NOW,
                    busy("b"),
                    busy("d"),
                    busy("f"),
                    named("x").cordonedByOthers())
                .actions())
        .containsExactly(together("b"), together("d"));
  }

  @Test
  void membersThatNeedNoChangeDoNotCount() {
    assertThat(
            decide(
                    budget(2),
                    ONE_JOB,
                    NOW,
                    busy("b"),
                    busy("d").target(new Target.Reached()),
                    busy("f").skipped())
                .actions())
        .containsExactly(cordon("b", 1));
  }

  @Test
  void anIdleNodeIsNotAskedAbout() {
    Gangs nobody =
        node -> {
          throw new AssertionError("asked");
        };
    assertThat(decide(budget(2), nobody, NOW, named("a")).actions())
        .containsExactly(cordon("a", 1));
  }
}
