package io.numaoperator.rollout;

import io.numaoperator.api.RolloutPolicy;
import io.numaoperator.api.RolloutPolicy.DrainMode;
import java.time.Duration;
import java.util.Optional;

/**
 * The owner's limits.
 *
 * @param maxUnavailable how many of the policy's nodes may be unavailable at a time, at least 1
 * @param enforce false: nothing is started (mode Observe, or paused)
 * @param pauseOnFailure start no further node after one failed
 * @param retryDelay how long to wait after an agent refused a grant, or after a success that
 *     somebody undid
 * @param canary the nodes that come before all others
 * @param windows when an attempt may be started
 * @param drain how a node gets free of its pods
 */
public record RolloutSettings(
    int maxUnavailable,
    boolean enforce,
    boolean pauseOnFailure,
    Duration retryDelay,
    Optional<Canary> canary,
    MaintenanceWindows windows,
    DrainSettings drain) {

  /**
   * @param soak how long ago they must have been changed
   */
  public record Canary(int nodes, Duration soak) {}

  /**
   * @param evict pods that hold devices or exclusive CPUs are evicted too, instead of waited for
   * @param timeout how long evictions may take
   * @param waitTimeout how long such pods are waited for; empty: as long as it takes
   */
  public record DrainSettings(boolean evict, Duration timeout, Optional<Duration> waitTimeout) {}

  /** Nothing is started; what is under way is brought to its end. */
  public static final RolloutSettings WIND_DOWN =
      new RolloutSettings(
          1,
          false,
          true,
          Duration.ZERO,
          Optional.empty(),
          MaintenanceWindows.ALWAYS,
          new DrainSettings(false, Duration.ZERO, Optional.empty()));

  /**
   * From the policy's words.
   *
   * @param nodes how many nodes the policy has
   */
  public static RolloutSettings of(
      RolloutPolicy policy, int nodes, boolean enforce, Duration retryDelay) {
    return new RolloutSettings(
        maxUnavailable(String.valueOf(policy.maxUnavailable.getValue()), nodes),
        enforce,
        policy.pauseOnFailure,
        retryDelay,
        Optional.ofNullable(policy.canary).map(c -> new Canary(c.nodes, Durations.parse(c.soak))),
        MaintenanceWindows.of(policy.maintenanceWindows),
        new DrainSettings(
            policy.drain.mode == DrainMode.Evict,
            Durations.parse(policy.drain.timeout),
            Optional.ofNullable(policy.drain.waitTimeout).map(Durations::parse)));
  }

  /** What in it cannot be understood, which keeps everything from being started. */
  public static Optional<String> fault(RolloutPolicy policy) {
    return MaintenanceWindows.of(policy.maintenanceWindows).fault();
  }

  /** How long an evicted pod has to end; empty: as long as it says itself. */
  public static Optional<Duration> gracePeriod(RolloutPolicy policy) {
    return Optional.ofNullable(policy.drain.gracePeriod).map(Durations::parse);
  }

  /** How long what was changed must be well before that is believed. */
  public static Duration window(RolloutPolicy policy) {
    return Durations.parse(policy.verification.window);
  }

  /** Resolves a number or a percentage, which is rounded down to at least 1. */
  static int maxUnavailable(String numberOrPercent, int nodes) {
    if (numberOrPercent.endsWith("%")) {
      var percent = Integer.parseInt(numberOrPercent.substring(0, numberOrPercent.length() - 1));
      return Math.max(1, (int) ((long) nodes * percent / 100));
    }
    return Math.max(1, Integer.parseInt(numberOrPercent));
  }
}
