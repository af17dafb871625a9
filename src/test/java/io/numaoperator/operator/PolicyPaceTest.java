package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyPaceTest {
  private final List<String> handed = new ArrayList<>();
  private final List<Duration> delays = new ArrayList<>();
  private final List<Runnable> later = new ArrayList<>();
  private Duration now = Duration.ZERO;
  private final PolicyPace pace =
      new PolicyPace(
          handed::add,
          (delay, action) -> {
            delays.add(delay);
            later.add(action);
          },
          () -> now.toNanos());

  private void pass(Duration took) {
    pace.began("p");
    now = now.plus(took);
    pace.passed("p", took);
  }

  @Test
  void aChangeAfterAQuietTimeIsPassedOverAtOnce() {
    pace.add("p");
    pass(Duration.ofSeconds(2));
    now = now.plusSeconds(6);
    pace.add("p");
    assertThat(handed).containsExactly("p", "p");
    assertThat(later).isEmpty();
  }

  @Test
  void threeTimesAsMuchTimeGoesByAsTheLastPassTook() {
    pace.add("p");
    pass(Duration.ofSeconds(2));
    now = now.plusMillis(500);
    pace.add("p");
    pace.add("p");
    pace.add("q");
    assertThat(handed).containsExactly("p", "q");
    assertThat(delays).containsExactly(Duration.ofMillis(5500));
    now = now.plusMillis(5500);
    later.getFirst().run();
    assertThat(handed).containsExactly("p", "q", "p");
  }

  /** Nothing that is told while one waits is lost, and a pass that came otherwise stops nobody. */
  @Test
  void whoWaitsIsPassedOverOnce() {
    pass(Duration.ofSeconds(2));
    pace.add("p");
    pass(Duration.ofSeconds(1));
    pace.add("p");
    assertThat(later).hasSize(1);
    later.getFirst().run();
    assertThat(handed).containsExactly("p");
    pass(Duration.ofSeconds(1));
    pace.add("p");
    assertThat(later).hasSize(2);
  }

  /** It may have come too late for the pass that is under way. */
  @Test
  void whatIsToldDuringAPassIsForTheNextOne() {
    pace.began("p");
    pace.add("p");
    pace.add("p");
    assertThat(handed).isEmpty();
    assertThat(later).isEmpty();
    now = now.plusSeconds(1);
    pace.passed("p", Duration.ofSeconds(1));
    assertThat(delays).containsExactly(Duration.ofSeconds(3));
    now = now.plusSeconds(3);
    later.getFirst().run();
    assertThat(handed).containsExactly("p");
  }
}
