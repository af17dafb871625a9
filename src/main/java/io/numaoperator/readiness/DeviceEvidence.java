package io.numaoperator.readiness;

import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.Wish;
import java.util.List;

/**
 * What is known about a node's device plugins.
 *
 * @param wish what they are to load
 * @param seen what runs, and what the Node says of it
 * @param accounts pods for which HAMi accounts other GPUs than the kubelet gave them, in words
 */
public record DeviceEvidence(Wish wish, NodeDevices seen, List<String> accounts) {
  /** Nothing is wanted, and no plugin is seen. */
  public static final DeviceEvidence NONE =
      new DeviceEvidence(new Wish.Nothing(), NodeDevices.UNKNOWN, List.of());

  public DeviceEvidence {
    accounts = List.copyOf(accounts);
  }
}
