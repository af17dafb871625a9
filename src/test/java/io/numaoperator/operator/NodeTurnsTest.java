package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeTurnsTest {
  private final List<String> handed = new ArrayList<>();
  private long now;
  private final NodeTurns turns = new NodeTurns(2, handed::add, () -> now);

  @Test
  void fewAtATimeInTheOrderInWhichTheyWereNamed() {
    List.of("c", "a", "d", "b").forEach(turns::add);
    assertThat(handed).containsExactly("c", "a");
    turns.done("a");
    assertThat(handed).containsExactly("c", "a", "d");
    turns.done("c");
    turns.done("d");
    assertThat(handed).containsExactly("c", "a", "d", "b");
  }

  @Test
  void whoWaitsIsLookedAtOnceHoweverOftenItIsNamed() {
    List.of("a", "b", "c", "c", "c").forEach(turns::add);
    turns.done("a");
    turns.done("b");
    turns.done("c");
    assertThat(handed).containsExactly("a", "b", "c");
  }

  /** What is told of a node while it is looked at may have come too late for that look. */
  @Test
  void whoIsBeingLookedAtIsLookedAtAgain() {
    turns.add("a");
    turns.add("a");
    assertThat(handed).containsExactly("a", "a");
    turns.done("a");
    turns.add("a");
    assertThat(handed).containsExactly("a", "a", "a");
  }

  @Test
  void whoNeverComesBackKeepsNobodyWaiting() {
    List.of("a", "b", "c").forEach(turns::add);
    assertThat(handed).containsExactly("a", "b");
    now = NodeTurns.LOST.toNanos() + 1;
    turns.add("d");
    assertThat(handed).containsExactly("a", "b", "c", "d");
  }

  /** JOSDK never looks at it, so that nobody would say that it is done. */
  @Test
  void whoIsGoneTakesNoTurn() {
    List.of("a", "b", "c", "d").forEach(turns::add);
    turns.gone("c");
    turns.gone("a");
    assertThat(handed).containsExactly("a", "b", "d");
  }

  @Test
  void doneOfOneThatWasNotHandedIsNothing() {
    turns.done("x");
    List.of("a", "b", "c").forEach(turns::add);
    assertThat(handed).containsExactly("a", "b");
  }
}
