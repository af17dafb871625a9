package io.numaoperator.topology.fit;

import java.util.List;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;

/**
 * A set of zones that would serve a request.
 *
 * @param preferred whether no smaller set would serve it on an empty node
 */
record Hint(long mask, boolean preferred) {

  /**
   * The hints over some zones: what serves now, and of these what has the fewest zones that could
   * ever serve. The CPU, Device and Memory Manager all do it this way.
   *
   * @param narrow only sets of one zone, for a policy that looks at no other
   * @param servesEmpty whether a set would serve if nobody held anything
   * @param serves whether it serves now
   */
  static List<Hint> of(
      long zones, boolean narrow, LongPredicate servesEmpty, LongPredicate serves) {
    int fewest =
        masks(zones, narrow)
            .filter(servesEmpty)
            .mapToInt(Long::bitCount)
            .min()
            .orElse(Long.bitCount(zones));
    return masks(zones, narrow)
        .filter(serves)
        .mapToObj(mask -> new Hint(mask, Long.bitCount(mask) == fewest))
        .toList();
  }

  private static LongStream masks(long zones, boolean narrow) {
    return narrow ? Masks.singles(zones) : Masks.subsets(zones);
  }
}
