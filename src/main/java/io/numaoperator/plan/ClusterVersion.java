package io.numaoperator.plan;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;

/** Minor version of a Kubernetes component; the patch level never decides a plan. */
public record ClusterVersion(int major, int minor) implements Comparable<ClusterVersion> {
  // v1.34.2, 1.34.2-gke.100, v1.32.4+k3s1; a cloud's version endpoint says minor "34+"
  private static final Pattern VERSION = Pattern.compile("v?(\\d{1,4})\\.(\\d{1,4})(\\D.*)?");

  /** Reads a gitVersion such as {@code v1.34.2+k3s1}; empty when it is none. */
  public static Optional<ClusterVersion> parse(String gitVersion) {
    var matcher = VERSION.matcher(gitVersion.strip());
    return matcher.matches()
        ? Optional.of(
            new ClusterVersion(
                Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }

  /** Whether this is 1.{@code minor} or newer. */
  public boolean atLeast(int minor) {
    return compareTo(new ClusterVersion(1, minor)) >= 0;
  }

  @Override
  public int compareTo(ClusterVersion other) {
    return Comparator.comparingInt(ClusterVersion::major)
        .thenComparingInt(ClusterVersion::minor)
        .compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
