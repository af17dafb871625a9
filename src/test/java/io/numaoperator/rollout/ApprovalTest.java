package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.plan.kubelet.PlanHash;
import io.numaoperator.rollout.Approval.Noted;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ApprovalTest {
  private static Optional<String> hash(String... plans) {
    return PlanHash.ofAll(List.of(plans));
  }

  @Test
  void withoutADemandEverythingMayGo() {
    var approval = Approval.of(Optional.empty(), Optional.empty(), List.of("a"));
    assertThat(approval.allows("a")).isTrue();
    assertThat(approval.allows("b")).isTrue();
    assertThat(approval.noted()).isEmpty();
  }

  @Test
  void anotherHashHoldsEverything() {
    var approval = Approval.of(Optional.of("other"), Optional.empty(), List.of("a"));
    assertThat(approval.allows("a")).isFalse();
    assertThat(approval.plan()).isEqualTo(hash("a"));
    assertThat(approval.noted()).isEmpty();
  }

  @Test
  void thePlanAsItIsIsApprovedAndNoted() {
    var approval = Approval.of(hash("a", "b"), Optional.empty(), List.of("b", "a", "a"));
    assertThat(approval.allows("a")).isTrue();
    assertThat(approval.allows("b")).isTrue();
    assertThat(approval.allows("c")).isFalse();
    assertThat(approval.noted())
        .contains(new Noted(hash("a", "b").orElseThrow(), List.of("a", "b")));
  }

  /** Pools scale: a kind of node that leaves, or comes back, was approved; a new kind was not. */
  @Test
  void nodesMayComeAndGo() {
    var noted = Approval.of(hash("a", "b"), Optional.empty(), List.of("a", "b")).noted();
    for (var now : List.of(List.of("a"), List.<String>of(), List.of("a", "b", "c"))) {
      var approval = Approval.of(hash("a", "b"), noted, now);
      assertThat(approval.allows("a")).isTrue();
      assertThat(approval.allows("b")).isTrue();
      assertThat(approval.allows("c")).isFalse();
      assertThat(approval.noted()).isEqualTo(noted);
    }
  }

  @Test
  void whatWasNotedUnderAnotherHashIsForgotten() {
    var noted = Optional.of(new Noted("former", List.of("a")));
    var approval = Approval.of(hash("b"), noted, List.of("a"));
    assertThat(approval.allows("a")).isFalse();
    assertThat(approval.noted()).isEmpty();
  }
}
