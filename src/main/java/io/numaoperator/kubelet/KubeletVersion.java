package io.numaoperator.kubelet;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A kubelet's version. Ordered by major and minor only: features come with minor versions, and a
 * distribution's suffix ({@code +k3s1}, {@code -eks-abc}) says nothing about them.
 */
public record KubeletVersion(int major, int minor, int patch)
    implements Comparable<KubeletVersion> {
  private static final Pattern FORMAT =
      Pattern.compile("v?([0-9]{1,4})\\.([0-9]{1,4})(?:\\.([0-9]{1,4}))?(?:[+-].*)?");

  /** Reads {@code v1.36.3}, {@code v1.34.1+k3s1}, {@code v1.35.4-eks-abc}; else empty. */
  public static Optional<KubeletVersion> parse(String text) {
    var match = FORMAT.matcher(text);
    return match.matches()
        ? Optional.of(
            new KubeletVersion(
                Integer.parseInt(match.group(1)),
                Integer.parseInt(match.group(2)),
                match.group(3) == null ? 0 : Integer.parseInt(match.group(3))))
        : Optional.empty();
  }

  /** Whether it is at least Kubernetes 1.{@code minor}. */
  public boolean isAtLeast(int minor) {
    return compareTo(new KubeletVersion(1, minor, 0)) >= 0;
  }

  /** By major and minor; the patch does not count. */
  @Override
  public int compareTo(KubeletVersion other) {
    return Comparator.comparingInt(KubeletVersion::major)
        .thenComparingInt(KubeletVersion::minor)
        .compare(this, other);
  }

  @Override
  public String toString() {
    return "v%d.%d.%d".formatted(major, minor, patch);
  }
}
