package io.numaoperator.agent;

import io.numaoperator.api.NumaNodeStateStatus.Platform;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Who configures a node's kubelet, by what is seen of its process, its unit and its Node. */
final class Platforms {
  private Platforms() {}

  /**
   * What is looked at.
   *
   * @param unit the kubelet's systemd unit; empty where there is none
   * @param configFile its --config; empty where there is none
   * @param node the Node object; empty while the API server has not been asked yet
   */
  record Seen(String unit, String configFile, Optional<NodeView> node) {
    boolean osIs(String start) {
      return node.filter(n -> n.osImage().startsWith(start)).isPresent();
    }

    boolean marked(String name) {
      return node.filter(n -> n.marks().contains(name)).isPresent();
    }

    boolean versionHas(String suffix) {
      return node.filter(n -> n.kubeletVersion().contains(suffix)).isPresent();
    }
  }

  private record Sign(Platform platform, Predicate<Seen> seen) {}

  /** The first that fits: who owns the machine comes before how the kubelet was started. */
  private static final List<Sign> SIGNS =
      List.of(
          // the Machine Config Daemon's own mark on each node that it manages
          new Sign(
              Platform.OpenShift,
              seen -> seen.marked("machineconfiguration.openshift.io/currentConfig")),
          new Sign(Platform.Talos, seen -> seen.osIs("Talos")),
          new Sign(Platform.Bottlerocket, seen -> seen.osIs("Bottlerocket OS")),
          new Sign(Platform.GKE, seen -> seen.marked("cloud.google.com/gke-nodepool")),
          new Sign(
              Platform.AKS,
              seen ->
                  seen.marked("kubernetes.azure.com/agentpool")
                      || seen.marked("kubernetes.azure.com/cluster")),
          new Sign(Platform.K3s, seen -> seen.unit().startsWith("k3s") || seen.versionHas("+k3s")),
          new Sign(
              Platform.RKE2, seen -> seen.unit().startsWith("rke2") || seen.versionHas("+rke2")),
          // nodeadm's, on Amazon Linux 2023
          new Sign(
              Platform.EKS,
              seen -> seen.configFile().equals("/etc/kubernetes/kubelet/config.json")),
          new Sign(
              Platform.Kubeadm,
              seen ->
                  seen.unit().equals("kubelet.service")
                      && seen.configFile().equals("/var/lib/kubelet/config.yaml")),
          new Sign(Platform.Systemd, seen -> !seen.unit().isEmpty()));

  /** Empty where nothing is recognised. */
  static Optional<Platform> of(Seen seen) {
    return SIGNS.stream().filter(sign -> sign.seen().test(seen)).map(Sign::platform).findFirst();
  }
}
