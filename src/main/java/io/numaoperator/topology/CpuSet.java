package io.numaoperator.topology;

import java.util.BitSet;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.IntStream;

/**
 * A set of CPU ids, immutable. Reads and writes the list format of the kernel and the kubelet
 * ({@code 0-3,8-11}; k8s.io/utils/cpuset), for any number of CPUs: masks that end at 512 CPUs broke
 * a peer of ours.
 */
public final class CpuSet {
  /** No CPU; formats as the empty string. */
  public static final CpuSet EMPTY = new CpuSet(new BitSet());

  /** Far above the kernel's largest NR_CPUS (8192); keeps a hostile range from taking memory. */
  private static final int MAX_ID = 65_535;

  private final BitSet ids;

  private CpuSet(BitSet ids) {
    this.ids = ids;
  }

  /** The set of these ids. */
  public static CpuSet of(int... ids) {
    return of(IntStream.of(ids));
  }

  /** The set of these ids, in any order and with duplicates. */
  public static CpuSet of(IntStream ids) {
    var bits = new BitSet();
    ids.forEach(bits::set);
    return new CpuSet(bits);
  }

  /**
   * Reads the list format; the empty string is the empty set.
   *
   * @throws IllegalArgumentException if it is not in that format, as the kubelet reads it: no
   *     spaces, no descending range
   */
  public static CpuSet parse(String list) {
    var bits = new BitSet();
    if (!list.isEmpty()) {
      for (var range : list.split(",", -1)) {
        int dash = range.indexOf('-');
        int first = id(list, dash < 0 ? range : range.substring(0, dash));
        int last = dash < 0 ? first : id(list, range.substring(dash + 1));
        if (first > last) {
          throw new IllegalArgumentException(
              "not a cpuset: \"%s\" (%s runs backwards)".formatted(list, range));
        }
        bits.set(first, last + 1);
      }
    }
    return new CpuSet(bits);
  }

  /** Like {@link #parse}, for input that people wrote: empty if it is not a cpuset. */
  public static Optional<CpuSet> tryParse(String list) {
    try {
      return Optional.of(parse(list));
    } catch (IllegalArgumentException notACpuSet) {
      return Optional.empty();
    }
  }

  private static int id(String list, String text) {
    boolean digits = !text.isEmpty() && text.length() <= 5;
    for (int i = 0; digits && i < text.length(); i++) {
      digits = text.charAt(i) >= '0' && text.charAt(i) <= '9';
    }
    if (!digits || Integer.parseInt(text) > MAX_ID) {
      throw new IllegalArgumentException(
          "not a cpuset: \"%s\" (\"%s\" is not a CPU id)".formatted(list, text));
    }
    return Integer.parseInt(text);
  }

  public boolean isEmpty() {
    return ids.isEmpty();
  }

  public int size() {
    return ids.cardinality();
  }

  public boolean contains(int cpu) {
    return cpu >= 0 && ids.get(cpu);
  }

  /** Whether every CPU of the other set is in this one. */
  public boolean containsAll(CpuSet other) {
    return other.minus(this).isEmpty();
  }

  public CpuSet union(CpuSet other) {
    var bits = (BitSet) ids.clone();
    bits.or(other.ids);
    return new CpuSet(bits);
  }

  public CpuSet minus(CpuSet other) {
    var bits = (BitSet) ids.clone();
    bits.andNot(other.ids);
    return new CpuSet(bits);
  }

  public CpuSet intersect(CpuSet other) {
    var bits = (BitSet) ids.clone();
    bits.and(other.ids);
    return new CpuSet(bits);
  }

  /** The ids, ascending. */
  public IntStream stream() {
    return ids.stream();
  }

  /**
   * The lowest id.
   *
   * @throws java.util.NoSuchElementException if the set is empty
   */
  public int lowest() {
    return ids.stream().findFirst().orElseThrow();
  }

  /** The list format, canonical: ascending, ranges as long as possible. */
  public String format() {
    var list = new StringJoiner(",");
    for (int first = ids.nextSetBit(0); first >= 0; ) {
      int end = ids.nextClearBit(first);
      list.add(end == first + 1 ? "" + first : first + "-" + (end - 1));
      first = ids.nextSetBit(end);
    }
    return list.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CpuSet set && ids.equals(set.ids);
  }

  @Override
  public int hashCode() {
    return ids.hashCode();
  }

  @Override
  public String toString() {
    return format();
  }
}
