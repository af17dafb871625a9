package io.numaoperator.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DecisionsTest {
  private final PodView a = PodView.of(Given.pod("a", 1));
  private final PodView b = PodView.of(Given.pod("b", 1));

  @Test
  void isWrittenAndReadBack() {
    var decisions = Decisions.NONE.plus(a, Given.NOW).plus(b, Given.NOW.plusSeconds(1));
    assertThat(decisions.format())
        .isEqualTo("default/a/uid-a@1780315200,default/b/uid-b@1780315201");
    assertThat(Decisions.parse(decisions.format())).isEqualTo(decisions);
    assertThat(Decisions.parse("")).isEqualTo(Decisions.NONE);
    assertThat(Decisions.parse("of another version,default/b/uid-b@1780315201").all()).hasSize(1);
  }

  @Test
  void whoIsDecidedAgainIsLast() {
    var decisions = Decisions.NONE.plus(a, Given.NOW).plus(b, Given.NOW).plus(a, Given.NOW);
    assertThat(decisions.all()).extracting(Decisions.Decision::name).containsExactly("b", "a");
    assertThat(decisions.without("uid-b").all()).hasSize(1);
  }

  @Test
  void isForgottenAfterHalfAMinute() {
    var decisions = Decisions.NONE.plus(a, Given.NOW).plus(b, Given.NOW.plusSeconds(10));
    assertThat(decisions.at(Given.NOW.plusSeconds(29)).all()).hasSize(2);
    assertThat(decisions.at(Given.NOW.plusSeconds(30)).all()).hasSize(1);
  }
}
