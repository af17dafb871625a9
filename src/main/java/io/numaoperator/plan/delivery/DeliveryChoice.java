package io.numaoperator.plan.delivery;

import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import java.util.Optional;

/** Which delivery a node gets. */
public final class DeliveryChoice {
  private DeliveryChoice() {}

  /**
   * Never Auto. A platform that is not recognised is the agent's, which then says what it misses.
   *
   * @param wanted by the policy; null is Auto
   */
  public static Delivery of(Delivery wanted, Optional<Platform> platform) {
    if (wanted != null && wanted != Delivery.Auto) {
      return wanted;
    }
    return platform.map(DeliveryChoice::natural).orElse(Delivery.Agent);
  }

  /** How kubelets of this platform are configured without breaking what owns them. */
  public static Delivery natural(Platform platform) {
    return switch (platform) {
      case Kubeadm, K3s, RKE2, EKS, Systemd -> Delivery.Agent;
      case OpenShift -> Delivery.OpenShift;
      // read-only machines, or node pools that a cloud replaces at will
      case Bottlerocket, Talos, GKE, AKS -> Delivery.External;
    };
  }

  /** The class that does it. */
  public static KubeletDelivery delivery(Delivery chosen) {
    return switch (chosen) {
      case Auto, Agent -> new AgentDelivery();
      case OpenShift -> new OpenShiftDelivery();
      case External -> new ExternalDelivery();
    };
  }
}
