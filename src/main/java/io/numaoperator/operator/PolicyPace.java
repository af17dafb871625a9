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

  /** Of one policy; guarded by this object's lock. */
  private static final class Pace {
    /** From when on a pass may begin, by nanoTime. */
    long next;

    boolean running;

    /** Another pass is to come. */
    boolean asked;

    /** It will be asked for at that time. */
    boolean scheduled;

    Pace(long next) {
      this.next = next;
    }
  }

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
    var pace = pace(policy);
    if (!pace.running && nanoTime.getAsLong() - pace.next >= 0) {
      return true;
    }
    pace.asked = true;
    schedule(policy, pace);
    return false;
  }

  private Pace pace(String policy) {
    return paces.computeIfAbsent(policy, p -> new Pace(nanoTime.getAsLong()));
  }

  /** The one that is to come is scheduled when it is known when it may. */
  private void schedule(String policy, Pace pace) {
    if (pace.asked && !pace.running && !pace.scheduled) {
      pace.scheduled = true;
      later.run(Duration.ofNanos(pace.next - nanoTime.getAsLong()), () -> ask(policy));
    }
  }

  private void ask(String policy) {
    synchronized (this) {
      var pace = pace(policy);
      pace.asked = false;
      pace.scheduled = false;
    }
    hand.accept(policy);
  }

  /** A pass begins: what is told from now on is for the next one. */
  synchronized void began(String policy) {
    pace(policy).running = true;
  }

  /**
   * A pass is over.
   *
   * @param took its CPU time: what it waits for costs nobody anything
   */
  synchronized void passed(String policy, Duration took) {
    var pace = pace(policy);
    pace.running = false;
    pace.next = nanoTime.getAsLong() + SHARE * took.toNanos();
    schedule(policy, pace);
  }
}
