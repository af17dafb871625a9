package io.numaoperator.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.KubeletFragment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Reads a KubeletConfiguration, for example the {@code kubeletconfig} object of /configz. */
public final class KubeletSettings {
  private KubeletSettings() {}

  /**
   * The managed fields with their values as they are, full maps included. A field that is not there
   * stays null, as on the wire; an explicit empty list or string stays what it is.
   */
  public static KubeletFragment of(JsonNode config) {
    var settings = new KubeletFragment();
    settings.cpuManagerPolicy = text(config, ManagedField.CPU_MANAGER_POLICY);
    settings.cpuManagerPolicyOptions = map(config, ManagedField.CPU_MANAGER_POLICY_OPTIONS);
    settings.reservedSystemCPUs = text(config, ManagedField.RESERVED_SYSTEM_CPUS);
    settings.memoryManagerPolicy = text(config, ManagedField.MEMORY_MANAGER_POLICY);
    settings.reservedMemory = reservations(config);
    settings.topologyManagerPolicy = text(config, ManagedField.TOPOLOGY_MANAGER_POLICY);
    settings.topologyManagerScope = text(config, ManagedField.TOPOLOGY_MANAGER_SCOPE);
    settings.topologyManagerPolicyOptions =
        map(config, ManagedField.TOPOLOGY_MANAGER_POLICY_OPTIONS);
    settings.kubeReserved = map(config, ManagedField.KUBE_RESERVED);
    settings.systemReserved = map(config, ManagedField.SYSTEM_RESERVED);
    settings.evictionHard = map(config, ManagedField.EVICTION_HARD);
    settings.kubeReservedCgroup = text(config, ManagedField.KUBE_RESERVED_CGROUP);
    settings.systemReservedCgroup = text(config, ManagedField.SYSTEM_RESERVED_CGROUP);
    var enforced = config.get(ManagedField.ENFORCE_NODE_ALLOCATABLE.fieldName());
    settings.enforceNodeAllocatable =
        enforced == null || enforced.isNull()
            ? null
            : enforced.valueStream().map(JsonNode::asText).toList();
    return settings;
  }

  /** The feature gates that a KubeletConfiguration sets; those it does not set have defaults. */
  public static Map<String, Boolean> featureGates(JsonNode config) {
    var gates = new TreeMap<String, Boolean>();
    config
        .path("featureGates")
        .properties()
        .forEach(e -> gates.put(e.getKey(), e.getValue().asBoolean()));
    return gates;
  }

  /**
   * The value in force of a setting that is null or empty when nobody set it; the defaults are
   * those of pkg/kubelet/apis/config/v1beta1/defaults.go.
   */
  static String orDefault(ManagedField field, String value) {
    if (value != null && !value.isEmpty()) {
      return value;
    }
    return switch (field) {
      case CPU_MANAGER_POLICY, TOPOLOGY_MANAGER_POLICY -> "none";
      case MEMORY_MANAGER_POLICY -> "None";
      case TOPOLOGY_MANAGER_SCOPE -> "container";
      default -> "";
    };
  }

  private static String text(JsonNode config, ManagedField field) {
    var value = config.get(field.fieldName());
    return value == null || value.isNull() ? null : value.asText();
  }

  private static Map<String, String> map(JsonNode config, ManagedField field) {
    var value = config.get(field.fieldName());
    return value == null || value.isNull() ? null : strings(value);
  }

  private static Map<String, String> strings(JsonNode object) {
    var map = new TreeMap<String, String>();
    object.properties().forEach(e -> map.put(e.getKey(), e.getValue().asText()));
    return map;
  }

  private static List<KubeletFragment.MemoryReservation> reservations(JsonNode config) {
    var value = config.get(ManagedField.RESERVED_MEMORY.fieldName());
    if (value == null || value.isNull()) {
      return null;
    }
    return value
        .valueStream()
        .filter(Objects::nonNull)
        .map(
            item -> {
              var reservation = new KubeletFragment.MemoryReservation();
              reservation.numaNode = item.path("numaNode").asInt();
              reservation.limits = strings(item.path("limits"));
              return reservation;
            })
        .toList();
  }
}
