package io.numaoperator.agent;

import java.time.Duration;
import java.time.Instant;

/** The clock, and waiting on it: one thing, so that a test's time passes only while waited for. */
interface Time {
  Instant now();

  void sleep(Duration duration) throws InterruptedException;

  /** The machine's clock. */
  static Time system() {
    return new Time() {
      @Override
      public Instant now() {
        return Instant.now();
      }

      @Override
      public void sleep(Duration duration) throws InterruptedException {
        Thread.sleep(duration);
      }
    };
  }
}
