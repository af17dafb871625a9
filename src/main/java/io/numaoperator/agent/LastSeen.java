package io.numaoperator.agent;

import java.util.List;
import java.util.Optional;

/**
 * Where the kubelet was last seen: what the clients of its APIs go by, also while it is down or the
 * API server is away.
 */
final class LastSeen {
  private volatile Optional<KubeletProcess> kubelet = Optional.empty();
  private volatile Optional<NodeView> node = Optional.empty();

  void kubelet(KubeletProcess found) {
    kubelet = Optional.of(found);
  }

  void node(NodeView found) {
    node = Optional.of(found);
  }

  Optional<KubeletProcess> kubelet() {
    return kubelet;
  }

  Optional<NodeView> node() {
    return node;
  }

  /** The agent is in the node's network: the loopback address serves where no other is known. */
  String address() {
    return node.flatMap(NodeView::internalIp).orElse("127.0.0.1");
  }

  int port() {
    return node.map(NodeView::kubeletPort).orElse(10250);
  }

  String podResourcesSocket() {
    return kubelet
        .map(KubeletProcess::podResourcesSocket)
        .orElse("/var/lib/kubelet/pod-resources/kubelet.sock");
  }

  String rootDirectory() {
    return kubelet.map(k -> k.facts().rootDirectory).orElse("/var/lib/kubelet");
  }

  List<String> servingCertificates() {
    return kubelet
        .map(KubeletProcess::servingCertificates)
        .orElse(
            List.of(
                "/var/lib/kubelet/pki/kubelet-server-current.pem",
                "/var/lib/kubelet/pki/kubelet.crt"));
  }
}
