package io.numaoperator.topology;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Memory quantities as Kubernetes writes them, exact to the byte: the kubelet compares sums of them
 * for equality, so nothing is ever rounded here (apimachinery, pkg/api/resource/quantity.go).
 */
public final class Bytes {
  public static final long KI = 1L << 10;
  public static final long MI = 1L << 20;
  public static final long GI = 1L << 30;

  private static final int MAX_LENGTH = 64;
  private static final Pattern QUANTITY =
      Pattern.compile(
          "\\+?(?<number>[0-9]+\\.?[0-9]*|\\.[0-9]+)"
              + "(?:(?<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?<exponent>[+-]?[0-9]{1,2}))?");
  private static final Map<String, Integer> DECIMAL =
      Map.of("n", -9, "u", -6, "m", -3, "k", 3, "M", 6, "G", 9, "T", 12, "P", 15, "E", 18);
  private static final List<String> BINARY = List.of("Ki", "Mi", "Gi", "Ti", "Pi", "Ei");

  private Bytes() {}

  /**
   * Reads a quantity such as {@code 8092Mi}, {@code 4G}, {@code 1.5Gi}, {@code 12e6} or {@code
   * 4096000m}. Empty when it is not a quantity, negative, not a whole number of bytes, or beyond
   * int64.
   */
  public static OptionalLong parse(String quantity) {
    var match = QUANTITY.matcher(quantity);
    if (quantity.length() > MAX_LENGTH || !match.matches()) {
      return OptionalLong.empty();
    }
    var number = new BigDecimal(match.group("number"));
    try {
      return OptionalLong.of(
          number.multiply(factor(match.group("suffix"), match.group("exponent"))).longValueExact());
    } catch (ArithmeticException fractionOrTooLarge) {
      return OptionalLong.empty();
    }
  }

  private static BigDecimal factor(String suffix, String exponent) {
    if (exponent != null) {
      return BigDecimal.ONE.scaleByPowerOfTen(Integer.parseInt(exponent));
    }
    if (suffix == null) {
      return BigDecimal.ONE;
    }
    return BINARY.contains(suffix)
        ? new BigDecimal(BigInteger.TWO.pow(10 * (BINARY.indexOf(suffix) + 1)))
        : BigDecimal.ONE.scaleByPowerOfTen(DECIMAL.get(suffix));
  }

  /**
   * The canonical form: the largest binary unit of which it is a whole multiple ({@code 8092Mi},
   * {@code 8Gi}), else plain bytes. The same bytes always give the same text.
   */
  public static String format(long bytes) {
    int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, BINARY.size());
    return unit == 0 ? Long.toString(bytes) : (bytes >> (10 * unit)) + BINARY.get(unit - 1);
  }

  /** For messages: the canonical form, and where that is plain bytes, about how many MiB it is. */
  public static String describe(long bytes) {
    var text = format(bytes);
    return text.endsWith("i") || Math.abs(bytes) < MI
        ? text
        : "%s bytes (about %dMi)".formatted(text, bytes / MI);
  }

  /** The sum; empty beyond int64, where the kubelet could not hold it either. */
  public static OptionalLong sum(long... amounts) {
    try {
      long sum = 0;
      for (long amount : amounts) {
        sum = Math.addExact(sum, amount);
      }
      return OptionalLong.of(sum);
    } catch (ArithmeticException overflow) {
      return OptionalLong.empty();
    }
  }
}
