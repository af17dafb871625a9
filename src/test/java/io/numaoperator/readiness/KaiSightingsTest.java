package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.readiness.KaiSightings.Report;
import io.numaoperator.readiness.KaiSightings.Report.Said;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A KAI that works, then one thing broken at a time. */
class KaiSightingsTest {
  private static final Instant KIND = Instant.parse("2026-06-01T10:00:00Z");

  private static final class World {
    Optional<Report> config = Optional.of(report("Config kai-config", true, true));
    Optional<Report> shard = Optional.of(report("SchedulingShard default", true, true));
    boolean plugin = true;
    List<Instant> schedulers = List.of(KIND.plusSeconds(1));

    KaiSightings sightings() {
      return new KaiSightings(config, shard, plugin, KIND, schedulers, Set.of("n"));
    }
  }

  private static Report report(String object, boolean available, boolean current) {
    return new Report(
        object,
        List.of(
            new Said("DependenciesFulfilled", true, true, ""),
            new Said("Deployed", true, true, ""),
            new Said("Available", available, current, "a pod is missing")));
  }

  @Test
  void works() {
    assertThat(new World().sightings().fault()).isEmpty();
    assertThat(new World().sightings().doubt()).isEmpty();
  }

  static Stream<Arguments> broken() {
    return Stream.of(
        broken("no Config", w -> w.config = Optional.empty()),
        broken("not there", w -> w.shard = Optional.empty()),
        broken("numa is not enabled", w -> w.plugin = false),
        broken(
            "a pod is missing",
            w -> w.config = Optional.of(report("Config kai-config", false, true))),
        broken(
            "has not said Available of SchedulingShard default",
            w -> w.shard = Optional.of(report("SchedulingShard default", true, false))),
        broken(
            "has not said DependenciesFulfilled",
            w -> w.config = Optional.of(new Report("Config kai-config", List.of()))),
        broken("before there were", w -> w.schedulers = List.of(KIND.plusSeconds(9), KIND)));
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

  /** Its pods may carry other labels than those that are known. */
  @Test
  void withoutItsPodsNobodyKnowsWhatItReadAtItsStart() {
    var world = new World();
    world.schedulers = List.of();
    assertThat(world.sightings().fault()).isEmpty();
    assertThat(world.sightings().doubt()).isPresent();
  }
}
