package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.VersionGates;
import java.io.IOException;
import java.time.Instant;
import java.util.regex.Pattern;

/**
 * The kubelet's own account of its configuration; where it gives none to us, its files. Before
 * KubeletFineGrainedAuthz (on since 1.33) /configz takes nodes/proxy, which is as strong as root;
 * Bottlerocket switches it off.
 */
final class ConfigReader implements KubeletApi {
  /** k3s and RKE2 write it at each start, before their kubelet reads it. */
  private static final Pattern WRITTEN_AT_START = Pattern.compile("00-(k3s|rke2)-defaults\\.conf");

  private final KubeletApi configz;
  private final KubeletFiles files;
  private final KubeletHost host;
  private final LastSeen seen;
  private final Processes processes;

  ConfigReader(KubeletApi configz, KubeletHost host, LastSeen seen, Processes processes) {
    this.configz = configz;
    this.files = new KubeletFiles(host);
    this.host = host;
    this.seen = seen;
    this.processes = processes;
  }

  @Override
  public Configz configz() {
    var kubelet = seen.kubelet();
    if (kubelet.isEmpty()) {
      return configz.configz();
    }
    try {
      var merged = files.merged(kubelet.get().facts());
      return merged.isEmpty() || serves(merged.get())
          ? configz.configz()
          : onDisk(kubelet.get(), merged.get());
    } catch (IOException e) {
      return new Configz.Unreachable(Errors.text(e));
    }
  }

  /** One whose version is not known yet is asked. */
  private boolean serves(JsonNode config) {
    return config.path("enableDebuggingHandlers").asBoolean(true)
        && seen.node()
            .flatMap(node -> KubeletVersion.parse(node.kubeletVersion()))
            .map(version -> new VersionGates(version, KubeletSettings.featureGates(config)))
            .map(VersionGates::servesConfigzWithoutNodesProxy)
            .orElse(true);
  }

  /** Files tell what a kubelet runs with only if it started after their last change. */
  private Configz onDisk(KubeletProcess kubelet, JsonNode config) throws IOException {
    var flags = kubelet.commandLine().managedByFlag();
    if (!flags.isEmpty()) {
      return new Configz.Denied(
          "this kubelet's /configz takes more rights than the agent has, and its files do not tell"
              + " what flags set: "
              + String.join(", ", flags));
    }
    // to the tick that both of its times are rounded by; no kubelet has read its files by then
    var started = processes.startedAt(kubelet.pid()).plusMillis(2 * Processes.TICK_MILLIS);
    for (var path : files.paths(kubelet.facts())) {
      if (!WRITTEN_AT_START.matcher(path.substring(path.lastIndexOf('/') + 1)).matches()
          && host.modified(path).orElse(Instant.MIN).isAfter(started)) {
        return new Configz.Denied(
            path + " was changed after the kubelet started: what it runs with is not known");
      }
    }
    return new Configz.OnDisk(config);
  }
}
