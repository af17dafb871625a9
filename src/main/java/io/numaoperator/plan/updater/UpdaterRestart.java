package io.numaoperator.plan.updater;

import java.time.Instant;
import java.util.Optional;

/**
 * When a node's NFD updater has to be started anew: it reads the zones' resources once a process,
 * so it never learns of other reservations, nor of a device plugin that came later (seen: 12 GPUs
 * allocatable, 4+4 published).
 */
public final class UpdaterRestart {
  private UpdaterRestart() {}

  /**
   * Once for each change, and once for each time that what is published went stale: what comes of
   * it afterwards has another cause.
   *
   * @param started when the updater's container last started
   * @param kubeletChanged when the node's kubelet was last set otherwise
   * @param staleSince when what it publishes began to differ from the kubelet for good
   * @return why; empty when there is no need
   */
  public static Optional<String> why(
      Instant started, Optional<Instant> kubeletChanged, Optional<Instant> staleSince) {
    if (kubeletChanged.filter(started::isBefore).isPresent()) {
      return Optional.of("the kubelet was changed at " + kubeletChanged.get());
    }
    return staleSince
        .filter(started::isBefore)
        .map(since -> "what it publishes differs from the kubelet since " + since);
  }
}
