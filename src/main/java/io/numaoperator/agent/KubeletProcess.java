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
 */
record KubeletProcess(
    String unit,
    long pid,
    long restarts,
    CommandLine commandLine,
    String rootDirectory,
    Optional<String> dropInDirectory,
    List<String> servingCertificates) {

  /** Everything but the version, which the API server knows. */
  KubeletFacts facts() {
    var facts = new KubeletFacts();
    facts.service = unit;
    facts.configFile = commandLine.flag("config").orElse(null);
    facts.dropInDirectory = dropInDirectory.orElse(null);
    facts.rootDirectory = rootDirectory;
    facts.managedByFlag = commandLine.managedByFlag();
    facts.pid = pid;
    facts.restarts = restarts;
    return facts;
  }

  /** The socket of PodResources. */
  String podResourcesSocket() {
    return rootDirectory + "/pod-resources/kubelet.sock";
  }
}
