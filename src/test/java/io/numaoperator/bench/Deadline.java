package io.numaoperator.bench;

import io.numaoperator.bench.OperatorPart.WrongException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** When the whole run has to be over. What is not begun by then is left out, and told so. */
final class Deadline {
  private static final long POLL_MILLIS = 5;

  private final long end;

  Deadline(Duration whole) {
    end = System.nanoTime() + whole.toNanos();
  }

  /** What is left; none when it is over. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, end - System.nanoTime()));
  }

  Duration atMost(Duration limit) {
    return limit.compareTo(left()) < 0 ? limit : left();
  }

  private boolean isOver() {
    return left().isZero();
  }

  /**
   * Waits until it is so.
   *
   * @throws WrongException if it is not so in time
   * @throws OutOfTimeException if the whole run's time is over
   */
  void await(Duration limit, String what, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (isOver()) {
        throw new OutOfTimeException(what);
      }
      if (System.nanoTime() > until) {
        throw new WrongException(what + ": not within " + limit);
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** No result, and no wrong one. */
  static final class OutOfTimeException extends RuntimeException {
    OutOfTimeException(String what) {
      super("out of time, waiting for: " + what);
    }
  }
}
