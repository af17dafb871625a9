package io.numaoperator.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a kubelet makes of its configuration files, as far as the managed fields go (cmd/kubelet/
 * app/server.go, loadConfigFile and mergeKubeletConfigurations).
 */
public final class ConfigFiles {
  /** pkg/kubelet/eviction/defaults_linux.go; of the others nothing is ever asked. */
  private static final String DEFAULT_EVICTION = "100Mi";

  private static final YAMLMapper YAML = new YAMLMapper();

  private ConfigFiles() {}

  /**
   * The settings of a kubelet with a drop-in directory.
   *
   * @param main content of its --config file; empty when it has none
   * @param dropIns contents of the files of its --config-dir, in the order in which it reads them
   * @throws IllegalArgumentException when a file is no YAML object
   */
  public static KubeletFragment settings(Optional<byte[]> main, List<byte[]> dropIns) {
    var config = main.map(ConfigFiles::parse).orElseGet(YAML::createObjectNode);
    dropEmpty(config); // it writes the main file as JSON, without empty values, before it merges
    if (main.isPresent()) {
      setEviction(config);
    }
    dropIns.forEach(file -> merge(config, parse(file)));
    var settings = KubeletSettings.of(config);
    setDefaults(settings);
    OwnSettings.countReservedCpus(settings);
    return settings;
  }

  /**
   * A configuration file as it is.
   *
   * @throws IllegalArgumentException when it is no YAML object
   */
  public static ObjectNode parse(byte[] file) {
    try {
      if (YAML.readTree(file) instanceof ObjectNode object) {
        return object;
      }
    } catch (IOException notYaml) {
      throw new IllegalArgumentException("not YAML: " + notYaml.getMessage(), notYaml);
    }
    throw new IllegalArgumentException("not a KubeletConfiguration");
  }

  private static void dropEmpty(ObjectNode config) {
    config
        .properties()
        .removeIf(
            e ->
                e.getValue().isNull()
                    || (e.getValue().isTextual() && e.getValue().asText().isEmpty())
                    || (e.getValue().isContainerNode() && e.getValue().isEmpty()));
  }

  /** Only for --config, and not again after drop-ins were merged. */
  private static void setEviction(ObjectNode config) {
    var key = EvictionThreshold.MEMORY_AVAILABLE;
    if (!config.has("evictionHard")) {
      config.putObject("evictionHard").put(key, DEFAULT_EVICTION);
    } else if (config.path("mergeDefaultEvictionSettings").asBoolean(false)
        && config.get("evictionHard") instanceof ObjectNode thresholds
        && !thresholds.has(key)) {
      thresholds.put(key, DEFAULT_EVICTION);
    }
  }

  /** RFC 7386. */
  private static void merge(ObjectNode target, ObjectNode patch) {
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      switch (field.getValue()) {
        case ObjectNode object when target.get(field.getKey()) instanceof ObjectNode into ->
            merge(into, object);
        case ObjectNode object -> merge(target.putObject(field.getKey()), object);
        case JsonNode value when value.isNull() -> target.remove(field.getKey());
        case JsonNode value -> target.set(field.getKey(), value);
      }
    }
  }

  private static void setDefaults(KubeletFragment settings) {
    settings.cpuManagerPolicy =
        KubeletSettings.orDefault(ManagedField.CPU_MANAGER_POLICY, settings.cpuManagerPolicy);
    settings.memoryManagerPolicy =
        KubeletSettings.orDefault(ManagedField.MEMORY_MANAGER_POLICY, settings.memoryManagerPolicy);
    settings.topologyManagerPolicy =
        KubeletSettings.orDefault(
            ManagedField.TOPOLOGY_MANAGER_POLICY, settings.topologyManagerPolicy);
    settings.topologyManagerScope =
        KubeletSettings.orDefault(
            ManagedField.TOPOLOGY_MANAGER_SCOPE, settings.topologyManagerScope);
    if (settings.enforceNodeAllocatable == null) {
      settings.enforceNodeAllocatable = List.of("pods");
    } else if (settings.enforceNodeAllocatable.isEmpty()) {
      settings.enforceNodeAllocatable = null; // as /configz shows it
    }
    settings.kubeReserved = orNull(settings.kubeReserved);
    settings.systemReserved = orNull(settings.systemReserved);
    settings.evictionHard = orNull(settings.evictionHard);
  }

  private static Map<String, String> orNull(Map<String, String> map) {
    return map == null || map.isEmpty() ? null : new TreeMap<>(map);
  }
}
