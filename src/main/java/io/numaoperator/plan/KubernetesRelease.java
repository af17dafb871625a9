package io.numaoperator.plan;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A release of Kubernetes, by the tag of its images.
 *
 * @param tag for example v1.36.3
 */
public record KubernetesRelease(String tag) {
  // v1.34.2+k3s1, v1.34.1-gke.100, v1.33.5-eks-3025e55 are built from the release before the
  // suffix;
  // alpha, beta and rc are releases with images of their own
  private static final Pattern GIT_VERSION =
      Pattern.compile("v?(?<release>\\d+\\.\\d+\\.\\d+(-(alpha|beta|rc)\\.\\d+)?)(\\D.*)?");

  /** Reads a gitVersion; empty when it is none. */
  public static Optional<KubernetesRelease> parse(String gitVersion) {
    var match = GIT_VERSION.matcher(gitVersion.strip());
    return match.matches()
        ? Optional.of(new KubernetesRelease("v" + match.group("release")))
        : Optional.empty();
  }

  static KubernetesRelease firstOf(ClusterVersion version) {
    return new KubernetesRelease("v%s.0".formatted(version));
  }
}
