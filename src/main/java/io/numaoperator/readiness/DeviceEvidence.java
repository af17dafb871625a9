package io.numaoperator.readiness;

import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.Wish;

/**
 * What is known about a node's device plugins.
 *
 * @param wish what they are to load
 * @param seen what runs, and what the Node says of it
 */
public record DeviceEvidence(Wish wish, NodeDevices seen) {
  /** Nothing is wanted, and no plugin is seen. */
  public static final DeviceEvidence NONE =
      new DeviceEvidence(new Wish.Nothing(), NodeDevices.UNKNOWN);
}
