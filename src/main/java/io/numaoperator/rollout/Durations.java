package io.numaoperator.rollout;

import java.time.Duration;
import java.util.Locale;

/** Go's notation for durations, as far as the API allows it in a rollout: 90s, 1h30m. */
public final class Durations {
  private Durations() {}

  /**
   * @throws java.time.format.DateTimeParseException when it is no such text
   */
  public static Duration parse(String text) {
    return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
  }
}
