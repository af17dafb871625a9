package io.numaoperator.topology.fit;

import java.util.Collection;
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Sets of zones as the kubelet has them: bit n is zone n (topologymanager/bitmask). */
final class Masks {
  /** Fewer zones first, then lower ids: bitmask.go, IsNarrowerThan. */
  static final Comparator<Long> NARROWEST =
      Comparator.<Long>comparingInt(Long::bitCount).thenComparing(Long::compareUnsigned);

  private Masks() {}

  static long of(Collection<Integer> zones) {
    return zones.stream().mapToLong(zone -> 1L << zone).reduce(0, (a, b) -> a | b);
  }

  static Set<Integer> zones(long mask) {
    var zones = new TreeSet<Integer>();
    for (long rest = mask; rest != 0; rest &= rest - 1) {
      zones.add(Long.numberOfTrailingZeros(rest));
    }
    return zones;
  }

  static boolean has(long mask, int zone) {
    return (mask >>> zone & 1) != 0;
  }

  /** Whether the other has all zones of the first. */
  static boolean within(long mask, long other) {
    return (mask & ~other) == 0;
  }

  /** The subsets of one zone. */
  static LongStream singles(long universe) {
    return LongStream.iterate(universe, rest -> rest != 0, rest -> rest & (rest - 1))
        .map(Long::lowestOneBit);
  }

  /** Every non-empty subset. The order does not matter: all choices among them are by value. */
  static LongStream subsets(long universe) {
    return LongStream.iterate(universe, mask -> mask != 0, mask -> mask - 1 & universe);
  }
}
