package io.numaoperator.operator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Hands nodes that are to be looked at to JOSDK, few at a time and each once, however often it was
 * named. JOSDK's threads take what they are given in turn: a policy would wait behind all of its
 * nodes when thousands change at once, for minutes when the API server is busy. Safe for use by
 * several threads.
 */
final class NodeTurns {
  /** One that never comes back, because it was deleted meanwhile, keeps its turn no longer. */
  static final Duration LOST = Duration.ofMinutes(1);

  private final int atOnce;
  private final Consumer<String> hand;
  private final LongSupplier nanoTime;
  private final SequencedSet<String> waiting = new LinkedHashSet<>();
  private final Map<String, Long> handed = new HashMap<>();

  /**
   * @param atOnce how many are under way at most; what JOSDK tries again by itself is not counted
   * @param hand has a node looked at, some time after it returns
   */
  NodeTurns(int atOnce, Consumer<String> hand, LongSupplier nanoTime) {
    this.atOnce = atOnce;
    this.hand = hand;
    this.nanoTime = nanoTime;
  }

  /** It is to be looked at; again, if it is being looked at. */
  void add(String node) {
    synchronized (this) {
      waiting.add(node);
    }
    next();
  }

  /** It is no longer: JOSDK looks at none that is gone, or on its way. */
  void gone(String node) {
    synchronized (this) {
      waiting.remove(node);
      handed.remove(node);
    }
    next();
  }

  /** It was looked at. */
  void done(String node) {
    synchronized (this) {
      handed.remove(node);
    }
    next();
  }

  private void next() {
    var now = new ArrayList<String>();
    synchronized (this) {
      long time = nanoTime.getAsLong();
      handed.values().removeIf(since -> time - since > LOST.toNanos());
      while (handed.size() < atOnce && !waiting.isEmpty()) {
        var node = waiting.removeFirst();
        handed.put(node, time);
        now.add(node);
      }
    }
    now.forEach(hand);
  }
}
