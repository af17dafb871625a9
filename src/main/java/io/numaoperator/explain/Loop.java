package io.numaoperator.explain;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * An owner whose pods kubelets reject again and again: its controller makes another one each time,
 * without end (kubernetes#84869).
 *
 * @param owner whose they are
 * @param since when the first of them was rejected
 * @param pods how many were in the last 10 minutes
 * @param nodes which nodes did
 * @param newest the last one
 */
public record Loop(Owner owner, Instant since, int pods, Set<String> nodes, Rejection newest) {
  /** Looked back on. */
  public static final Duration WINDOW = Duration.ofMinutes(10);

  /** Rejections within the window that make a loop. */
  public static final int ENOUGH = 3;

  public Loop {
    nodes = Collections.unmodifiableSet(new TreeSet<>(nodes));
  }

  /**
   * The loops at a time, the most rejections first.
   *
   * @param rejections all that are known; those before the window play no part
   * @param before the loops that were known: one that goes on keeps its beginning
   */
  public static List<Loop> among(
      Collection<Rejection> rejections, Collection<Loop> before, Instant now) {
    var byOwner = new TreeMap<String, List<Rejection>>();
    for (var rejection : rejections) {
      if (rejection.owner().isPresent() && rejection.at().isAfter(now.minus(WINDOW))) {
        byOwner.computeIfAbsent(rejection.subject(), o -> new ArrayList<>()).add(rejection);
      }
    }
    return byOwner.values().stream()
        .filter(list -> list.size() >= ENOUGH)
        .map(list -> of(list, before))
        .sorted(Comparator.<Loop>comparingInt(loop -> -loop.pods()).thenComparing(Loop::name))
        .toList();
  }

  private static Loop of(List<Rejection> rejections, Collection<Loop> before) {
    rejections.sort(Comparator.comparing(Rejection::at).thenComparing(Rejection::pod));
    var newest = rejections.getLast();
    var nodes = new TreeSet<String>();
    rejections.forEach(r -> nodes.add(r.node()));
    return new Loop(
        newest.owner().orElseThrow(),
        before.stream()
            .filter(loop -> loop.name().equals(newest.subject()))
            .map(Loop::since)
            .findFirst()
            .orElse(rejections.getFirst().at()),
        rejections.size(),
        nodes,
        newest);
  }

  /** Kind and namespace/name of the owner. */
  public String name() {
    return owner.text();
  }

  /**
   * The count as it is told: the next lower of 3, 5, 10, 20, 50, 100…, so that a loop which turns
   * every second is not written down every second.
   */
  public int podsTold() {
    int told = ENOUGH;
    for (int power = 1; power <= pods; power *= 10) {
      for (int step : new int[] {power, 2 * power, 5 * power}) {
        if (step > told && step <= pods) {
          told = step;
        }
      }
    }
    return told;
  }
}
