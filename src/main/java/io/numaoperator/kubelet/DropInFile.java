package io.numaoperator.kubelet;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a drop-in file on a disk says. The kubelet itself reads drop-ins leniently (an unknown field
 * vanishes, a name matches without regard to case); this does not.
 */
public sealed interface DropInFile {
  /** It says nothing but managed fields, with values that {@link FragmentRules} accept. */
  record Valid(KubeletFragment fragment) implements DropInFile {}

  /** It is not a drop-in file of the operator; why not, for a person. */
  record Invalid(List<String> faults) implements DropInFile {
    public Invalid {
      faults = List.copyOf(faults);
    }
  }

  /** Reads a file's content. */
  static DropInFile parse(byte[] content) {
    JsonNode file;
    try {
      file =
          YAMLMapper.builder()
              .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
              .build()
              .readTree(content);
    } catch (IOException notYaml) {
      return new Invalid(List.of("not YAML: " + notYaml.getMessage()));
    }
    var faults = new ArrayList<String>();
    demand(file, "apiVersion", DropIn.API_VERSION, faults);
    demand(file, "kind", DropIn.KIND, faults);
    for (var field : file.properties()) {
      if (!List.of("apiVersion", "kind").contains(field.getKey())) {
        ManagedField.named(field.getKey())
            .ifPresentOrElse(
                managed -> shape(managed, field.getValue(), faults),
                () -> faults.add("%s is not a managed field".formatted(field.getKey())));
      }
    }
    if (!faults.isEmpty()) {
      return new Invalid(faults);
    }
    var fragment = KubeletSettings.of(file);
    var broken = FragmentRules.violations(fragment);
    return broken.isEmpty() ? new Valid(fragment) : new Invalid(broken);
  }

  private static void demand(JsonNode file, String name, String value, List<String> faults) {
    if (!file.path(name).asText().equals(value)) {
      faults.add("%s is not %s".formatted(name, value));
    }
  }

  private static void shape(ManagedField field, JsonNode value, List<String> faults) {
    boolean fits =
        switch (field) {
          case CPU_MANAGER_POLICY_OPTIONS -> value.isNull() || isMapOfText(value);
          case TOPOLOGY_MANAGER_POLICY_OPTIONS, KUBE_RESERVED, SYSTEM_RESERVED, EVICTION_HARD ->
              isMapOfText(value);
          case ENFORCE_NODE_ALLOCATABLE -> isListOfText(value);
          case RESERVED_MEMORY -> isListOfReservations(value);
          case CPU_MANAGER_POLICY,
              RESERVED_SYSTEM_CPUS,
              MEMORY_MANAGER_POLICY,
              TOPOLOGY_MANAGER_POLICY,
              TOPOLOGY_MANAGER_SCOPE,
              KUBE_RESERVED_CGROUP,
              SYSTEM_RESERVED_CGROUP ->
              value.isTextual();
        };
    if (!fits) {
      faults.add("%s has the wrong type".formatted(field.fieldName()));
    }
  }

  private static boolean isMapOfText(JsonNode value) {
    return value.isObject() && value.properties().stream().allMatch(e -> e.getValue().isTextual());
  }

  private static boolean isListOfText(JsonNode value) {
    return value.isArray() && value.valueStream().allMatch(JsonNode::isTextual);
  }

  private static boolean isListOfReservations(JsonNode value) {
    return value.isArray()
        && value
            .valueStream()
            .allMatch(
                item ->
                    item.isObject()
                        && item.path("numaNode").isInt()
                        && isMapOfText(item.path("limits"))
                        && item.properties().stream()
                            .map(Map.Entry::getKey)
                            .allMatch(List.of("numaNode", "limits")::contains));
  }
}
