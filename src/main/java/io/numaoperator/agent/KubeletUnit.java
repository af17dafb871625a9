package io.numaoperator.agent;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The systemd units that run kubelets, and what differs between them.
 *
 * @param name of the unit
 * @param product k3s or rke2; empty for a unit whose main process is the kubelet
 */
record KubeletUnit(String name, String product) {
  static final List<KubeletUnit> ALL =
      List.of(
          new KubeletUnit("kubelet.service", ""),
          new KubeletUnit("k3s.service", "k3s"),
          new KubeletUnit("k3s-agent.service", "k3s"),
          new KubeletUnit("rke2-server.service", "rke2"),
          new KubeletUnit("rke2-agent.service", "rke2"));

  /** A unit by name; one that is not known is taken for one whose main process is the kubelet. */
  static KubeletUnit named(String name) {
    return ALL.stream()
        .filter(unit -> unit.name().equals(name))
        .findFirst()
        .orElseGet(() -> new KubeletUnit(name, ""));
  }

  boolean isPlain() {
    return product.isEmpty();
  }

  /** k3s has the kubelet inside of its process; RKE2 starts it (rke2, pkg/podexecutor). */
  boolean startsIt() {
    return product.equals("rke2");
  }

  /** Whether the kubelet is a part of the unit's main process, whose arguments are its own. */
  boolean embeds() {
    return product.equals("k3s");
  }

  /** Where k3s and RKE2 have the kubelet's files. */
  String agentDirectory() {
    return "/var/lib/rancher/" + product + "/agent";
  }

  /** A server has its database and API server to start first. */
  Duration startLimit() {
    return isPlain() ? Duration.ofSeconds(30) : Duration.ofMinutes(5);
  }

  /** The file that has the kubelet's own lines. */
  String logFile() {
    return startsIt() ? agentDirectory() + "/logs/kubelet.log" : KubeletLog.FILE;
  }

  /** k3s passes --config-dir inside its own process since 1.32, and RKE2 likewise. */
  Optional<String> dropInDirectory(CommandLine commandLine, KubeletHost host) {
    var flag = commandLine.flag("config-dir").map(dir -> dir.replaceFirst("(?<=.)/+$", ""));
    return isPlain() || flag.isPresent()
        ? flag
        : Optional.of(agentDirectory() + "/etc/kubelet.conf.d").filter(host::isDirectory);
  }

  /** Where its serving certificate may be, the likeliest first. */
  List<String> servingCertificates(CommandLine commandLine, String root) {
    var pki = commandLine.flag("cert-dir").orElse(root + "/pki");
    return Stream.of(
            commandLine.flag("tls-cert-file").orElse(""),
            isPlain() ? "" : agentDirectory() + "/serving-kubelet.crt",
            // with serverTLSBootstrap the first is in use, else the second, which the kubelet made
            pki + "/kubelet-server-current.pem",
            pki + "/kubelet.crt")
        .filter(file -> !file.isEmpty())
        .toList();
  }
}
