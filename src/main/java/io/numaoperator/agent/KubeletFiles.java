package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.kubelet.ConfigFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** Reads the kubelet's configuration files, and who else is in its directories. */
final class KubeletFiles {
  /** As the API has them. */
  private static final int LISTED = 16;

  private final KubeletHost host;

  KubeletFiles(KubeletHost host) {
    this.host = host;
  }

  /**
   * The files of this kubelet; empty where its --config file is none that the agent's mounts show.
   *
   * @throws IOException if one cannot be read, or is not YAML
   */
  Optional<ConfigFiles> read(KubeletFacts kubelet) throws IOException {
    var main = main(kubelet);
    if (kubelet.configFile != null && main.isEmpty()) {
      return Optional.empty();
    }
    var owners =
        main.isPresent()
            ? Optional.of(new MainFileEdit(host).owners(kubelet.configFile))
            : Optional.<byte[]>empty();
    return Optional.of(ConfigFiles.read(owners, dropIns(kubelet)));
  }

  /**
   * All that the kubelet's files say, ours included; empty where its main file cannot be seen.
   *
   * @throws IOException if one cannot be read, or is not YAML
   */
  Optional<JsonNode> merged(KubeletFacts kubelet) throws IOException {
    var main = main(kubelet);
    if (kubelet.configFile != null && main.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(ConfigFiles.merged(main, dropIns(kubelet)));
  }

  /** Where they are. */
  List<String> paths(KubeletFacts kubelet) throws IOException {
    var paths = new ArrayList<String>();
    if (kubelet.configFile != null) {
      paths.add(kubelet.configFile);
    }
    dropIns(kubelet).keySet().forEach(name -> paths.add(kubelet.dropInDirectory + "/" + name));
    return paths;
  }

  private Optional<byte[]> main(KubeletFacts kubelet) throws IOException {
    return kubelet.configFile == null ? Optional.empty() : host.read(kubelet.configFile);
  }

  private Map<String, byte[]> dropIns(KubeletFacts kubelet) throws IOException {
    return dropIns(Objects.requireNonNullElse(kubelet.dropInDirectory, ""));
  }

  private Map<String, byte[]> dropIns(String directory) throws IOException {
    var dropIns = new TreeMap<String, byte[]>();
    if (!directory.isEmpty()) {
      collect(directory, directory, dropIns);
    }
    return dropIns;
  }

  /**
   * The operator's drop-in of the kubelet's unit, if it goes with the operator's settings. It does
   * not while somebody else has files in the directory that it gives to the kubelet: they count for
   * the node's own settings by now.
   *
   * @param dropInDirectory the kubelet's; empty where it has none
   */
  Optional<String> unitDropIn(String unit, String dropInDirectory) throws IOException {
    var path = UnitDropIn.path(unit);
    return host.read(path).isPresent()
            && dropIns(dropInDirectory).keySet().stream().allMatch(Names.DROP_IN_FILE::equals)
        ? Optional.of(path)
        : Optional.empty();
  }

  private void collect(String root, String directory, Map<String, byte[]> found)
      throws IOException {
    for (var name : host.list(directory)) {
      var path = directory + "/" + name;
      if (host.isDirectory(path)) {
        collect(root, path, found);
      } else if (name.endsWith(".conf")) {
        host.read(path).ifPresent(content -> found.put(path.substring(root.length() + 1), content));
      }
    }
  }

  /** As it is published. */
  static NumaNodeStateStatus.ConfigFiles wire(ConfigFiles files) {
    var wire = new NumaNodeStateStatus.ConfigFiles();
    wire.below = files.settingsBelow();
    wire.above = files.settingsAbove();
    wire.overriding = files.overriding().stream().limit(LISTED).toList();
    return wire;
  }

  /**
   * The DRA drivers, by the directory that each has below plugins/ (k8s.io/dynamic-resource-
   * allocation, kubeletplugin: dra.sock, or dra-UID.sock while one replaces another).
   */
  List<String> draDrivers(String rootDirectory) throws IOException {
    var plugins = rootDirectory + "/plugins";
    var drivers = new ArrayList<String>();
    for (var name : host.list(plugins)) {
      if (host.list(plugins + "/" + name).stream()
          .anyMatch(file -> file.startsWith("dra") && file.endsWith(".sock"))) {
        drivers.add(name);
      }
    }
    return drivers.stream().limit(LISTED).toList();
  }
}
