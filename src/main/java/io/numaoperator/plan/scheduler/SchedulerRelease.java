package io.numaoperator.plan.scheduler;

import io.numaoperator.plan.ClusterVersion;
import java.util.Optional;
import java.util.regex.Pattern;

/** Which release of scheduler-plugins runs against which API server. */
final class SchedulerRelease {
  /** Reason of a refusal: there is no release for this cluster. */
  static final String NONE_FITS = "NoReleaseForClusterVersion";

  // v0.34.7: the minor is Kubernetes'; other tags say nothing
  private static final Pattern TAG =
      Pattern.compile(".*:v0\\.(?<minor>[0-9]{1,3})\\.[0-9]+([-.@].*)?");

  private static final String REPOSITORY = "registry.k8s.io/scheduler-plugins/kube-scheduler";

  private SchedulerRelease() {}

  /**
   * The image, built from Kubernetes of the tag's minor. kube-scheduler may be as old as one minor
   * before the API server and never newer (Kubernetes' version skew policy), and 0.34.7 is the
   * newest release: 1.35 is the last that it serves.
   */
  static Optional<String> imageFor(ClusterVersion server) {
    if (server.major() != 1) {
      return Optional.empty();
    }
    return switch (server.minor()) {
      case 32 -> Optional.of(REPOSITORY + ":v0.32.7");
      case 33 -> Optional.of(REPOSITORY + ":v0.33.5");
      case 34, 35 -> Optional.of(REPOSITORY + ":v0.34.7");
      default -> Optional.empty();
    };
  }

  /**
   * Kubernetes' minor that the image was built from, by its tag; empty where the tag does not say.
   */
  static Optional<Integer> minorOf(String image) {
    var tag = TAG.matcher(image);
    return tag.matches() ? Optional.of(Integer.valueOf(tag.group("minor"))) : Optional.empty();
  }

  /** As old as one minor before the API server, and never newer. */
  static boolean isWithinSkew(int minor, ClusterVersion server) {
    return server.major() == 1 && (minor == server.minor() || minor == server.minor() - 1);
  }
}
