package io.numaoperator.plan.device;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;

/** A release of HAMi, by the tag of its image. */
public record HamiVersion(int major, int minor, int patch) implements Comparable<HamiVersion> {
  private static final Pattern TAG = Pattern.compile(":v?(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4})");

  /** The last one without the NUMA refit (Project-HAMi/HAMi#2731). */
  private static final HamiVersion BEFORE_REFIT = new HamiVersion(2, 10, 0);

  /** Helm values of devicePlugin moved to devices.nvidia; the chart refuses the old ones. */
  private static final HamiVersion RENAMED = new HamiVersion(2, 11, 0);

  /** Empty for a tag that is no version, such as latest. */
  public static Optional<HamiVersion> ofImage(String image) {
    var tag = TAG.matcher(image);
    return tag.find()
        ? Optional.of(
            new HamiVersion(
                Integer.parseInt(tag.group(1)),
                Integer.parseInt(tag.group(2)),
                Integer.parseInt(tag.group(3))))
        : Optional.empty();
  }

  public boolean canRefit() {
    return compareTo(BEFORE_REFIT) > 0;
  }

  boolean hasRenamedValues() {
    return compareTo(RENAMED) >= 0;
  }

  @Override
  public int compareTo(HamiVersion other) {
    return Comparator.comparingInt(HamiVersion::major)
        .thenComparingInt(HamiVersion::minor)
        .thenComparingInt(HamiVersion::patch)
        .compare(this, other);
  }

  @Override
  public String toString() {
    return "v%d.%d.%d".formatted(major, minor, patch);
  }
}
