package io.numaoperator.agent;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Tells differences that last from those that are on their way out: somebody else's updater
 * publishes at its own pace. What counts is how long the same published value has disagreed; the
 * kubelet's value may change meanwhile, as it does when the updater is dead.
 */
final class Lag {
  private final Map<String, Instant> since = new HashMap<>();

  /** Those that are there for longer than that. */
  List<String> lasting(List<String> differences, Duration allowed, Instant now) {
    since.keySet().retainAll(new HashSet<>(differences.stream().map(Lag::published).toList()));
    differences.forEach(difference -> since.putIfAbsent(published(difference), now));
    return differences.stream()
        .filter(d -> !since.get(published(d)).plus(allowed).isAfter(now))
        .toList();
  }

  /** Without the kubelet's part (see {@link TopologyReport#differences}). */
  private static String published(String difference) {
    int end = difference.indexOf(TopologyReport.KUBELET_HAS);
    return end < 0 ? difference : difference.substring(0, end);
  }
}
