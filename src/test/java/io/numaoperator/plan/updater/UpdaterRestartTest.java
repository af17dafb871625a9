package io.numaoperator.plan.updater;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UpdaterRestartTest {
  private static final Instant STARTED = Instant.parse("2026-06-01T10:00:00Z");
  private static final Optional<Instant> BEFORE = Optional.of(STARTED.minusSeconds(1));
  private static final Optional<Instant> AFTER = Optional.of(STARTED.plusSeconds(1));

  @Test
  void followsAChangeOfTheKubeletOnce() {
    assertThat(UpdaterRestart.why(STARTED, AFTER, Optional.empty()))
        .hasValueSatisfying(why -> assertThat(why).contains("kubelet was changed"));
    assertThat(UpdaterRestart.why(STARTED, BEFORE, Optional.empty())).isEmpty();
  }

  /** A device plugin that registered later shows as numbers that stay wrong. */
  @Test
  void followsWhatStaysStaleOnce() {
    assertThat(UpdaterRestart.why(STARTED, BEFORE, AFTER))
        .hasValueSatisfying(why -> assertThat(why).contains("differs from the kubelet"));
    assertThat(UpdaterRestart.why(STARTED, BEFORE, BEFORE)).isEmpty();
  }

  @Test
  void isLeftAloneOtherwise() {
    assertThat(UpdaterRestart.why(STARTED, Optional.empty(), Optional.empty())).isEmpty();
  }
}
