package io.numaoperator.rollout;

import java.time.Duration;

/**
 * The owner's limits.
 *
 * @param maxUnavailable how many of the policy's nodes may be unavailable at a time, at least 1
 * @param enforce false: nothing is started (mode Observe, or paused)
 * @param pauseOnFailure start no further node after one failed
 * @param retryDelay how long to wait after an agent refused a grant, or after a success that
 *     somebody undid
 */
public record RolloutSettings(
    int maxUnavailable, boolean enforce, boolean pauseOnFailure, Duration retryDelay) {

  /** Resolves a number or a percentage, which is rounded down to at least 1. */
  public static int maxUnavailable(String numberOrPercent, int nodes) {
    if (numberOrPercent.endsWith("%")) {
      var percent = Integer.parseInt(numberOrPercent.substring(0, numberOrPercent.length() - 1));
      return Math.max(1, (int) ((long) nodes * percent / 100));
    }
    return Math.max(1, Integer.parseInt(numberOrPercent));
  }
}
