package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.operator.SchedulerState.Down;
import io.numaoperator.operator.SchedulerState.Live;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Of a new cluster's nodes one after the other is read: only that one is judged anew. */
class SchedulerStateTest {
  private static Stream<String> concerned(SchedulerState now, SchedulerState former) {
    return Stream.of("a", "b", "c").filter(now.differsFrom(former));
  }

  @Test
  void aNodeThatIsReadConcernsItAlone() {
    var former = new Live(Set.of("a"), Map.of());
    var now = new Live(Set.of("a", "b"), Map.of());
    assertThat(concerned(now, former)).containsExactly("b");
    assertThat(concerned(former, now)).containsExactly("b");
    assertThat(concerned(now, now)).isEmpty();
  }

  @Test
  void podsOfAnotherSchedulerConcernTheirNode() {
    var former = new Live(Set.of("a", "b"), Map.of("a", 1, "b", 1));
    var now = new Live(Set.of("a", "b"), Map.of("a", 2));
    assertThat(concerned(now, former)).containsExactly("a", "b");
    assertThat(concerned(new Live(Set.of("a", "b"), Map.of("a", 1, "b", 2)), former))
        .containsExactly("b");
  }

  @Test
  void whatHoldsForTheOthersConcernsAll() {
    var former = new Live(Set.of("a"), Map.of(), "not read");
    assertThat(concerned(new Live(Set.of("a"), Map.of(), "not exported"), former)).hasSize(3);
  }

  @Test
  void aSchedulerThatGoesOrComesConcernsAll() {
    var live = new Live(Set.of("a"), Map.of());
    assertThat(concerned(new Down("gone"), live)).hasSize(3);
    assertThat(concerned(live, new SchedulerState.None())).hasSize(3);
    assertThat(concerned(new Down("gone"), new Down("not there yet"))).hasSize(3);
    assertThat(concerned(new Down("gone"), new Down("gone"))).isEmpty();
  }
}
