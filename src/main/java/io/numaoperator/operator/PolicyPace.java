package io.numaoperator.operator;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Lets three times as much time go by between two passes over a policy as the first one took of a
 * core: each goes through all of its nodes, and while thousands change, passes one after the other
 * would take that core from whatever changes them. A change after a quiet time is passed over at
 * once. Safe for use by several threads.
 */
final class PolicyPace {
  private static final int SHARE = 3;

  private final Consumer<String> hand;
  private final Later later;
  private final LongSupplier nanoTime;
  private final Map<String, Pace> paces = new HashMap<>();

  /** Runs something after a while. */
  interface Later {
    void run(Duration delay, Runnable action);
  }

  /**
   * @param next from when on the next pass may begin, by nanoTime
   * @param waiting whether one will be asked for then
   */
  private record Pace(long next, boolean waiting) {}

  /**
   * @param hand has a policy passed over, some time after it returns
   */
  PolicyPace(Consumer<String> hand, Later later, LongSupplier nanoTime) {
    this.hand = hand;
    this.later = later;
    this.nanoTime = nanoTime;
  }

  /** Something that concerns it is different. */
  void add(String policy) {
    if (isDue(policy)) {
      hand.accept(policy);
    }
  }

  private synchronized boolean isDue(String policy) {
    var pace = paces.get(policy);
    if (pace == null || nanoTime.getAsLong() - pace.next() >= 0) {
      return true;
    }
    if (!pace.waiting()) {
      paces.put(policy, new Pace(pace.next(), true));
      later.run(
          Duration.ofNanos(pace.next() - nanoTime.getAsLong()),
          () -> {
            forget(policy);
            hand.accept(policy);
          });
    }
    return false;
  }

  private synchronized void forget(String policy) {
    paces.remove(policy);
  }

  /**
   * A pass is over.
   *
   * @param took its CPU time: what it waits for costs nobody anything
   */
  synchronized void passed(String policy, Duration took) {
    boolean waiting = paces.containsKey(policy) && paces.get(policy).waiting();
    paces.put(policy, new Pace(nanoTime.getAsLong() + SHARE * took.toNanos(), waiting));
  }
}
