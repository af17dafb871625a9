package io.numaoperator.plan.kubelet;

import io.numaoperator.topology.Bytes;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Splits an amount over zones so that not a byte is lost. */
final class MemorySplit {
  private MemorySplit() {}

  /**
   * Shares in proportion to the weights, in whole MiB (or KiB, or bytes) if the total is that:
   * people read them. What is left over goes, one unit each, to the zones that were rounded down
   * most; of equals, to the lower id. A zone of weight 0 gets nothing.
   *
   * @param total bytes
   * @param weights by zone, not all zero
   * @return bytes by zone, whose sum is the total
   */
  static SortedMap<Integer, Long> split(long total, SortedMap<Integer, Long> weights) {
    long unit = total % Bytes.MI == 0 ? Bytes.MI : total % Bytes.KI == 0 ? Bytes.KI : 1;
    var units = BigInteger.valueOf(total / unit);
    var weight =
        weights.values().stream().map(BigInteger::valueOf).reduce(BigInteger.ZERO, BigInteger::add);
    var shares = new TreeMap<Integer, Long>();
    var remainders = new TreeMap<Integer, BigInteger>();
    long left = total / unit;
    for (var zone : weights.entrySet()) {
      var exact = units.multiply(BigInteger.valueOf(zone.getValue())).divideAndRemainder(weight);
      shares.put(zone.getKey(), exact[0].longValueExact() * unit);
      remainders.put(zone.getKey(), exact[1]);
      left -= exact[0].longValueExact();
    }
    remainders.entrySet().stream()
        .sorted(
            Map.Entry.<Integer, BigInteger>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(left)
        .forEach(zone -> shares.merge(zone.getKey(), unit, Long::sum));
    return shares;
  }
}
