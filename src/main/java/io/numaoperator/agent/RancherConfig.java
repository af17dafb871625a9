package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The kubelet flags that an owner gave to k3s. They reach the kubelet inside of its process, and
 * k3s hides its own arguments from /proc: the files have to be read (k3s, pkg/configfilearg;
 * docs.k3s.io, Configuration File).
 */
final class RancherConfig {
  private static final String KEY = "kubelet-arg";

  private final KubeletHost host;

  RancherConfig(KubeletHost host) {
    this.host = host;
  }

  /**
   * The flags, each as {@code --name=value}, in the order in which they count.
   *
   * @param product k3s or rke2
   * @param execStart the arguments in its unit; these come after those of the files
   * @throws IOException if a file cannot be read, or is not YAML
   */
  List<String> kubeletFlags(String product, List<String> execStart) throws IOException {
    var directory = "/etc/rancher/" + product;
    var flags = new ArrayList<String>();
    collect(directory + "/config.yaml", flags);
    for (var name : host.list(directory + "/config.yaml.d")) {
      if (name.endsWith(".yaml") || name.endsWith(".yml")) {
        collect(directory + "/config.yaml.d/" + name, flags);
      }
    }
    for (int i = 0; i < execStart.size(); i++) {
      var word = execStart.get(i);
      if (word.equals("--" + KEY) && i + 1 < execStart.size()) {
        flags.add(flag(execStart.get(i + 1)));
      } else if (word.startsWith("--" + KEY + "=")) {
        flags.add(flag(word.substring(KEY.length() + 3)));
      }
    }
    return flags;
  }

  /** In a later file the key replaces what earlier ones say; with a plus it is added to that. */
  private void collect(String path, List<String> flags) throws IOException {
    var bytes = host.read(path);
    if (bytes.isEmpty()) {
      return;
    }
    JsonNode file;
    try {
      file = new YAMLMapper().readTree(bytes.get());
    } catch (IOException e) {
      throw new IOException(path + " is not YAML: " + e.getMessage(), e);
    }
    if (file.has(KEY)) {
      flags.clear();
      add(file.get(KEY), flags);
    }
    add(file.path(KEY + "+"), flags);
  }

  private static void add(JsonNode values, List<String> flags) {
    if (values.isArray()) {
      values.forEach(value -> flags.add(flag(value.asText())));
    } else if (values.isValueNode()) {
      flags.add(flag(values.asText()));
    }
  }

  private static String flag(String argument) {
    return "--" + argument.replaceFirst("^--?", "");
  }
}
