package io.numaoperator.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Measured values, of which the nearest ranks are told. */
final class Quantiles {
  private final List<Double> values = Collections.synchronizedList(new ArrayList<>());

  void add(double value) {
    values.add(value);
  }

  int count() {
    return values.size();
  }

  /**
   * @param share 0.5 is the median, 1 the largest
   */
  double at(double share) {
    var sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted.isEmpty()
        ? Double.NaN
        : sorted.get((int) Math.min(sorted.size() - 1, Math.ceil(share * sorted.size()) - 1));
  }
}
