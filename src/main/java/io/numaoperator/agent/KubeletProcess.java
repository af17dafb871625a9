package io.numaoperator.agent;

import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import java.util.List;
import java.util.Optional;

/**
 * The running kubelet, as systemd and /proc show it.
 *
 * @param unit its systemd unit
 * @param restarts systemd's restart counter
 * @param servingCertificates where its serving certificate may be, the likeliest first
 * @param execStart the command of its unit, to which a flag can be added; empty where that cannot
 *     be
 */
record KubeletProcess(
    String unit,
    long pid,
    long restarts,
    CommandLine commandLine,
    String rootDirectory,
    Optional<String> dropInDirectory,
    List<String> servingCertificates,
    List<String> execStart) {

  /** Where drop-ins go on a node that has no directory for them yet. */
  private static final String OWN_DIRECTORY = "/etc/kubernetes/kubelet.conf.d";

  /** Everything but the version, which the API server knows. */
  KubeletFacts facts() {
    var facts = new KubeletFacts();
    facts.service = unit.isEmpty() ? null : unit;
    facts.configFile = commandLine.flag("config").orElse(null);
    facts.dropInDirectory = dropInDirectory.orElse(null);
    facts.newDropInDirectory = newDropInDirectory().orElse(null);
    facts.rootDirectory = rootDirectory;
    facts.managedByFlag = commandLine.managedByFlag();
    facts.pid = pid;
    facts.restarts = restarts;
    return facts;
  }

  /**
   * The directory that it can be given, where it has none: nodeadm's own place where nodeadm
   * configures it, so that both mean the same.
   */
  Optional<String> newDropInDirectory() {
    if (dropInDirectory.isPresent() || execStart.isEmpty()) {
      return Optional.empty();
    }
    var config = commandLine.flag("config").orElse("");
    return Optional.of(config.endsWith("/kubelet/config.json") ? config + ".d" : OWN_DIRECTORY);
  }

  /** The socket of PodResources. */
  String podResourcesSocket() {
    return rootDirectory + "/pod-resources/kubelet.sock";
  }
}
