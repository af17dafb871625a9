package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.readiness.SchedulerSightings.Deployed;
import io.numaoperator.readiness.SchedulerSightings.Hold;
import io.numaoperator.readiness.SchedulerSightings.Replica;
import io.numaoperator.readiness.SchedulerSightings.Start;
import io.numaoperator.readiness.SchedulerSightings.Unattended;
import io.numaoperator.readiness.SchedulerSightings.Wanted;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A scheduler that works, then one thing broken at a time. */
class SchedulerSightingsTest {
  private static final Instant NOW = Instant.parse("2026-06-01T10:00:00Z");
  private static final Instant STARTED = NOW.minusSeconds(600);
  private static final Start START = new Start("image:1", "c1", "r2");

  private static final class World {
    Optional<Wanted> wanted = Optional.of(new Wanted(START));
    Optional<Deployed> deployed = Optional.of(new Deployed(START, true, 1));
    Optional<Hold> lease = Optional.of(new Hold("numa-scheduler-7-a_3c", NOW.minusSeconds(2)));
    Replica leader = new Replica("numa-scheduler-7-a", START, true, Optional.of(STARTED));
    Optional<Unattended> unattended = Optional.empty();

    SchedulerSightings sightings() {
      var standby = new Replica("numa-scheduler-7", START, false, Optional.empty());
      return new SchedulerSightings(
          wanted, deployed, lease, List.of(standby, leader), unattended, NOW);
    }
  }

  @Test
  void worksWhenTheWantedOneLeads() {
    assertThat(new World().sightings().fault()).isEmpty();
    assertThat(new World().sightings().hasRead(NOW)).isTrue();
  }

  static Stream<Arguments> broken() {
    return Stream.of(
        broken("is started when", w -> w.wanted = Optional.empty()),
        broken("not there yet", w -> w.deployed = Optional.empty()),
        broken(
            "another image or configuration",
            w -> w.deployed = Optional.of(new Deployed(new Start("old", "c1", "r2"), true, 1))),
        broken(
            "another image or configuration",
            w -> w.deployed = Optional.of(new Deployed(new Start("image:1", "c0", "r2"), true, 1))),
        broken("not carried out yet", w -> w.deployed = Optional.of(new Deployed(START, false, 1))),
        broken("no replica", w -> w.deployed = Optional.of(new Deployed(START, true, 0))),
        broken("no holder", w -> w.lease = Optional.empty()),
        broken("no holder", w -> w.lease = Optional.of(new Hold("", NOW))),
        broken(
            "has not renewed",
            w -> w.lease = Optional.of(new Hold("numa-scheduler-7-a_3c", NOW.minusSeconds(31)))),
        broken(
            "none of its pods", w -> w.lease = Optional.of(new Hold("numa-scheduler-9-z_3c", NOW))),
        broken(
            "leads with another image",
            w ->
                w.leader =
                    new Replica(
                        w.leader.pod(), new Start("old", "c1", "r2"), true, Optional.of(STARTED))),
        broken(
            "is not ready",
            w -> w.leader = new Replica(w.leader.pod(), START, false, Optional.of(STARTED))),
        broken(
            "is not ready",
            w -> w.leader = new Replica(w.leader.pod(), START, true, Optional.empty())),
        broken(
            "train/llm names it",
            w -> w.unattended = Optional.of(new Unattended("train/llm", NOW.minusSeconds(61)))));
  }

  private static Arguments broken(String said, Consumer<World> fault) {
    return Arguments.of(said, fault);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("broken")
  void saysWhatIsBroken(String said, Consumer<World> fault) {
    var world = new World();
    fault.accept(world);
    assertThat(world.sightings().fault()).hasValueSatisfying(f -> assertThat(f).contains(said));
  }

  @Test
  void aNewPodIsNotLateYet() {
    var world = new World();
    world.unattended = Optional.of(new Unattended("train/llm", NOW.minusSeconds(10)));
    assertThat(world.sightings().fault()).isEmpty();
  }

  /** While it is restarted for a new node, the others stay known. */
  @Test
  void anOlderLeaderHasReadWhatWasThereWhenItStarted() {
    var world = new World();
    world.wanted = Optional.of(new Wanted(new Start("image:1", "c1", "r3")));
    assertThat(world.sightings().fault()).isEmpty();
    assertThat(world.sightings().hasRead(STARTED.minusSeconds(1))).isTrue();
    assertThat(world.sightings().hasRead(STARTED)).isFalse();
    assertThat(world.sightings().hasRead(STARTED.plusSeconds(1))).isFalse();
  }
}
