package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.ConfigFiles;
import io.numaoperator.kubelet.Merge;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.topology.Machine;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A start of the node's kubelet with a fragment, before it happens.
 *
 * @param fragment what would be written
 * @param settings the managed settings that the kubelet would read: its other files merged with the
 *     fragment
 * @param below its other files before the fragment, explicit empty values included
 * @param running what it runs with now
 * @param overriding its drop-ins after the fragment that set managed fields
 */
record Start(
    Machine machine,
    VersionGates gates,
    KubeletFragment fragment,
    KubeletFragment settings,
    KubeletFragment below,
    KubeletFragment running,
    List<String> overriding) {

  /** Where the files were not read, the node's own settings stand for them. */
  static Start of(Preflight.Input node, KubeletFragment fragment) {
    var files =
        Optional.ofNullable(node.status().files)
            .filter(f -> f.below != null)
            .orElseGet(() -> own(node));
    var above = Objects.requireNonNullElseGet(files.above, KubeletFragment::new);
    return new Start(
        Machine.of(node.status().inventory),
        new VersionGates(node.version().orElseThrow(), node.featureGates()),
        fragment,
        Merge.settings(files.below, fragment, above),
        files.below,
        node.status().effective.settings,
        Objects.requireNonNullElse(files.overriding, List.of()));
  }

  private static ConfigFiles own(Preflight.Input node) {
    var files = new ConfigFiles();
    files.below = NodePlan.ownSettings(node.status());
    return files;
  }

  boolean cpuStatic() {
    return "static".equals(settings.cpuManagerPolicy);
  }

  boolean memoryStatic() {
    return "Static".equals(settings.memoryManagerPolicy);
  }

  boolean aligns() {
    return settings.topologyManagerPolicy != null && !settings.topologyManagerPolicy.equals("none");
  }

  static Map<String, String> orEmpty(Map<String, String> map) {
    return Objects.requireNonNullElse(map, Map.of());
  }

  static boolean isSet(String text) {
    return text != null && !text.isEmpty();
  }
}
