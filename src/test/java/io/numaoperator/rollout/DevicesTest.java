package io.numaoperator.rollout;

import static io.numaoperator.rollout.TestNode.NOW;
import static io.numaoperator.rollout.TestNode.budget;
import static io.numaoperator.rollout.TestNode.cordon;
import static io.numaoperator.rollout.TestNode.decide;
import static io.numaoperator.rollout.TestNode.grant;
import static io.numaoperator.rollout.TestNode.named;
import static io.numaoperator.rollout.TestNode.next;
import static io.numaoperator.rollout.TestNode.uncordon;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A device plugin loads its settings on a node that is out of service, within the budget. */
class DevicesTest {
  private static final Devices CHANGE = new Devices.Change("d", NOW);
  private static final Action LOAD = new Action.LoadDevices("a", "d");

  private static TestNode reached(String name) {
    return named(name).target(new Target.Reached());
  }

  private static Devices loading(boolean back) {
    return new Devices.Loading("d", back, NOW.plusSeconds(60));
  }

  @Test
  void takesNodesOutWithinTheBudget() {
    assertThat(next(budget(1), reached("a").devices(CHANGE), reached("b").devices(CHANGE)))
        .containsExactly(cordon("a", 1));
    assertThat(
            next(
                budget(1),
                reached("a").cordoned(1).devices(loading(false)),
                reached("b").devices(CHANGE)))
        .isEmpty();
  }

  @Test
  void loadsWhenThePodsAreGone() {
    assertThat(next(budget(1), reached("a").cordoned(1).devices(CHANGE).holders("train/llm")))
        .isEmpty();
    assertThat(next(budget(1), reached("a").cordoned(1).devices(CHANGE))).containsExactly(LOAD);
  }

  @Test
  void waitsForTheDevicesAndGoesBackIntoService() {
    var waiting = decide(budget(1), NOW, reached("a").cordoned(1).devices(loading(false)));
    assertThat(waiting.actions()).isEmpty();
    assertThat(waiting.due()).contains(NOW.plusSeconds(60));
    assertThat(next(budget(1), reached("a").cordoned(1).devices(loading(true))))
        .containsExactly(new Action.DevicesLoaded("a", "d", true));
    assertThat(next(budget(1), reached("a").cordoned(1))).containsExactly(uncordon("a"));
  }

  @Test
  void givesUpWhenTheDevicesDoNotComeBackAndStops() {
    var late = NOW.plusSeconds(60).plus(Duration.ofMinutes(10));
    assertThat(decide(budget(1), late, reached("a").cordoned(1).devices(loading(false))).actions())
        .containsExactly(new Action.DevicesLoaded("a", "d", false));
    var failed = reached("a").cordoned(1).devices(new Devices.Failed("d"));
    assertThat(next(budget(2), failed, reached("b").devices(CHANGE)))
        .containsExactly(uncordon("a"));
  }

  /** The plugin comes first: the kubelet is verified with its devices. */
  @Test
  void theKubeletFollowsInTheSameDrain() {
    assertThat(next(budget(1), named("a").cordoned(1).devices(CHANGE))).containsExactly(LOAD);
    assertThat(
            next(budget(1), named("a").cordoned(1).devices(new Devices.AsWanted(Optional.of(NOW)))))
        .containsExactly(grant("a", 1));
  }

  @Test
  void aKubeletThatIsHeldBackHoldsBackNoPlugin() {
    assertThat(next(budget(1), named("a").heldBack().devices(CHANGE)))
        .containsExactly(cordon("a", 1));
    assertThat(next(budget(1), named("a").heldBack().cordoned(1).devices(CHANGE)))
        .containsExactly(LOAD);
    assertThat(
            next(
                budget(1),
                named("a").heldBack().cordoned(1).devices(new Devices.AsWanted(Optional.of(NOW)))))
        .containsExactly(uncordon("a"));
  }

  @Test
  void anAttemptThatWasUsedDoesNotHideThePlugin() {
    assertThat(
            next(
                budget(1),
                reached("a").cordoned(1).attempt(1, "new", Outcome.Succeeded).devices(CHANGE)))
        .containsExactly(LOAD);
  }

  @Test
  void settingsThatThePluginMayNotFindYetAreWaitedFor() {
    var later = new Devices.Change("d", NOW.plusSeconds(90));
    var decision = decide(budget(1), NOW, reached("a").devices(later));
    assertThat(decision.actions()).isEmpty();
    assertThat(decision.waits()).containsEntry("a", new Wait.Settings(NOW.plusSeconds(90)));
    assertThat(decision.due()).contains(NOW.plusSeconds(90));
    assertThat(next(budget(1), reached("a").cordoned(1).devices(later))).isEmpty();
  }

  @Test
  void nothingIsStartedThatIsPausedSkippedOrNotApproved() {
    assertThat(next(TestNode.paused(budget(1)), reached("a").devices(CHANGE))).isEmpty();
    assertThat(next(budget(1), reached("a").skipped().devices(CHANGE))).isEmpty();
    assertThat(next(budget(1), named("a").target(new Target.Unapproved("p")).devices(CHANGE)))
        .isEmpty();
  }

  /** Whoever uncordoned it: what was begun is ended, and counts as unavailable meanwhile. */
  @Test
  void whatWasBegunIsEndedWithoutTheCordonToo() {
    assertThat(next(budget(1), reached("a").devices(loading(true)), reached("b").devices(CHANGE)))
        .containsExactly(new Action.DevicesLoaded("a", "d", true));
    var paused = TestNode.paused(budget(1));
    assertThat(next(paused, reached("a").cordoned(1).devices(loading(true))))
        .containsExactly(new Action.DevicesLoaded("a", "d", true));
  }

  @Test
  void theTimeOfTheLoadIsInWholeSeconds() {
    Instant begun = NOW.plusMillis(700);
    var node = named("a").heldBack().drained(1, new Drain.Phase.Waiting(begun));
    assertThat(next(budget(1), node.devices(new Devices.AsWanted(Optional.of(NOW)))))
        .containsExactly(uncordon("a"));
  }
}
