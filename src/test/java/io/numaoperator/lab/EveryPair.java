package io.numaoperator.lab;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;

/** Goes from each of some values to each other one. */
final class EveryPair {
  private EveryPair() {}

  /**
   * A walk that begins and ends at the first and makes each step from one value to another exactly
   * once: a complete graph has such a tour (Hierholzer).
   */
  static <T> List<T> tour(List<T> values) {
    var left = new HashMap<T, ArrayDeque<T>>();
    values.forEach(
        from ->
            left.put(
                from, new ArrayDeque<>(values.stream().filter(to -> !to.equals(from)).toList())));
    var path = new ArrayDeque<T>(List.of(values.getFirst()));
    var tour = new ArrayList<T>();
    while (!path.isEmpty()) {
      var here = path.getLast();
      if (left.get(here).isEmpty()) {
        tour.add(path.removeLast());
      } else {
        path.addLast(left.get(here).removeFirst());
      }
    }
    Collections.reverse(tour);
    return tour;
  }
}
