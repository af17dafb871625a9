package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.kubelet.EvictionThreshold;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.topology.Bytes;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A node's own threshold memory.available may be a percentage, of which a plan takes the amount. A
 * new kernel changes MemTotal by some pages, and no node is to be changed anew for that: what our
 * plan set, and still is about right, stays.
 */
final class RunningThreshold {
  /** A hundredth: pages come and go below it, a DIMM does not. */
  private static final long TOLERANCE = 100;

  private RunningThreshold() {}

  /** The node's own settings, with the amount in place of the percentage where it stays. */
  static KubeletFragment kept(KubeletFragment own, NumaNodeStateStatus status) {
    var running = threshold(status.effective.settings);
    boolean keeps =
        status.dropInHash != null
            && threshold(own).filter(value -> value.endsWith("%")).isPresent()
            && running.isPresent()
            && near(
                Bytes.parse(running.get()),
                EvictionThreshold.bytes(threshold(own).get(), status.inventory.memoryTotal));
    return keeps ? with(own, running.get()) : own;
  }

  private static Optional<String> threshold(KubeletFragment settings) {
    return Optional.ofNullable(settings.evictionHard)
        .map(thresholds -> thresholds.get(EvictionThreshold.MEMORY_AVAILABLE));
  }

  /** Never of a threshold that is off: that is 0. */
  private static boolean near(OptionalLong running, OptionalLong wanted) {
    return running.isPresent()
        && wanted.isPresent()
        && wanted.getAsLong() > 0
        && Math.abs(running.getAsLong() - wanted.getAsLong()) <= wanted.getAsLong() / TOLERANCE;
  }

  private static KubeletFragment with(KubeletFragment own, String threshold) {
    var fragment = new KubeletFragment();
    fragment.evictionHard = Map.of(EvictionThreshold.MEMORY_AVAILABLE, threshold);
    return OwnSettings.written(own, fragment);
  }
}
