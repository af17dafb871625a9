package io.numaoperator.kubelet;

import io.numaoperator.topology.Bytes;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** The value of {@code evictionHard["memory.available"]}. */
public final class EvictionThreshold {
  /** The signal whose hard threshold is part of what a node reserves. */
  public static final String MEMORY_AVAILABLE = "memory.available";

  /**
   * The value that switches the threshold off; an absolute 0 is an error (pkg/kubelet/eviction/
   * helpers.go, parseThresholdStatement).
   */
  public static final String OFF = "0%";

  private static final Pattern PERCENTAGE = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{0,9})?)%");

  private EvictionThreshold() {}

  /** Whether the kubelet ignores a threshold of this value. */
  public static boolean isOff(String value) {
    return value.equals(OFF) || value.equals("100%");
  }

  /**
   * The bytes that the kubelet takes for this value, with its own arithmetic in single precision
   * (pkg/kubelet/eviction/helpers.go, parsePercentage; eviction/api/types.go,
   * GetThresholdQuantity); 0 where it ignores it; empty where it would not accept it.
   *
   * @param capacity the node's memory capacity in bytes
   */
  public static OptionalLong bytes(String value, long capacity) {
    if (isOff(value)) {
      return OptionalLong.of(0);
    }
    var percentage = PERCENTAGE.matcher(value);
    if (!percentage.matches()) {
      var bytes = Bytes.parse(value);
      return bytes.isPresent() && bytes.getAsLong() > 0 ? bytes : OptionalLong.empty();
    }
    float share = Float.parseFloat(percentage.group(1)) / 100f;
    return share > 1 ? OptionalLong.empty() : OptionalLong.of((long) ((double) capacity * share));
  }
}
