package io.numaoperator.plan.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.plan.agent.AgentReplacement.Agent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AgentReplacementTest {
  private static Agent outdated(String pod) {
    return new Agent(pod, false, true, false);
  }

  private static Agent current(String pod) {
    return new Agent(pod, true, true, false);
  }

  private static final Agent NONE = new Agent("", false, false, false);

  @Test
  void oneAfterTheOtherWhereThereAreFew() {
    assertThat(AgentReplacement.next(List.of(outdated("a"), outdated("b")))).containsExactly("a");
    assertThat(AgentReplacement.next(List.of(NONE, outdated("b")))).isEmpty();
    assertThat(AgentReplacement.next(List.of(new Agent("a2", true, false, false), outdated("b"))))
        .isEmpty();
    assertThat(AgentReplacement.next(List.of(current("a2"), outdated("b")))).containsExactly("b");
    assertThat(AgentReplacement.next(List.of(current("a2"), current("b2")))).isEmpty();
  }

  @Test
  void oneInTwentyWhereThereAreMany() {
    var agents =
        new ArrayList<>(IntStream.range(0, 99).mapToObj(i -> outdated("pod-" + i)).toList());
    agents.add(NONE);
    assertThat(AgentReplacement.next(agents)).hasSize(4);
  }

  @Test
  void notInTheMiddleOfAnAttempt() {
    var busy = new Agent("a", false, true, true);
    assertThat(AgentReplacement.next(List.of(busy, outdated("b")))).containsExactly("b");
    assertThat(AgentReplacement.next(List.of(busy))).isEmpty();
  }

  /** Else an agent that does not start would keep its own cure away. */
  @Test
  void oneWithoutSignsOfLifeAtOnce() {
    var silent = new Agent("a", false, false, true);
    assertThat(AgentReplacement.next(List.of(silent, NONE, outdated("c")))).containsExactly("a");
  }
}
