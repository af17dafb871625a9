package io.numaoperator.plan.device;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.DevicePluginPolicy.DeviceAccess;
import io.numaoperator.plan.ContentHash;
import java.util.Locale;

/**
 * A named configuration of the NVIDIA device plugin: {@code version: v1}, {@code flags}, {@code
 * sharing}. Ours are others' with one setting more, named by their content, since the plugin's
 * config-manager loads anew only when the node's label changes (cmd/config-manager).
 */
public final class NvidiaConfig {
  /** Names the configuration of a node. */
  public static final String NODE_LABEL = "nvidia.com/device-plugin.config";

  /** For nodes without the label (config-manager's fallback strategy "named"). */
  static final String DEFAULT = "default";

  static final String EMPTY = "version: v1\n";

  private static final String PREFIX = "numaoperator-";

  private NvidiaConfig() {}

  /** Whether a configuration's name, or a node's label, is one of ours. */
  public static boolean isOurs(String name) {
    return name.startsWith(PREFIX);
  }

  static String name(String content) {
    return PREFIX + ContentHash.of(content);
  }

  /** What is made of others' configuration. */
  sealed interface Result {}

  /** It has what is wanted. */
  record Sufficient() implements Result {}

  record Derived(String content) implements Result {}

  /** The plugin could not read it either; why completes a sentence. */
  record Invalid(String why) implements Result {}

  static Result derive(String base, DeviceAccess access) {
    var yaml = mapper();
    JsonNode parsed;
    try {
      parsed = yaml.readTree(base);
    } catch (JsonProcessingException e) {
      return new Invalid(e.getOriginalMessage());
    }
    var root = parsed == null || parsed instanceof MissingNode ? yaml.createObjectNode() : parsed;
    if (!(root instanceof ObjectNode config)) {
      return new Invalid("it is not a YAML object");
    }
    if (access == DeviceAccess.Unchanged || keepsDevices(config.at("/flags/plugin"))) {
      return new Sufficient();
    }
    try {
      if (!config.has("version")) {
        config.put("version", "v1");
      }
      var plugin = config.withObject("/flags").withObject("/plugin");
      if (access == DeviceAccess.CDI) {
        plugin.putArray("deviceListStrategy").add("cdi-cri");
      } else {
        plugin.put("passDeviceSpecs", true);
      }
      return new Derived(yaml.writeValueAsString(config));
    } catch (JsonProcessingException | UnsupportedOperationException e) {
      return new Invalid("flags or flags.plugin is not a YAML object");
    }
  }

  private static boolean keepsDevices(JsonNode plugin) {
    return plugin.path("passDeviceSpecs").asText().equals("true")
        || usesCdi(plugin.path("deviceListStrategy").toString());
  }

  static boolean usesCdi(String strategies) {
    return strategies.toLowerCase(Locale.ROOT).contains("cdi");
  }

  private static YAMLMapper mapper() {
    return YAMLMapper.builder()
        .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
        .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
        .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
        .build();
  }
}
