package io.numaoperator.kubelet;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.topology.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** What differs between two settings of a kubelet, value by value, in the kubelet's own names. */
public final class SettingsDiff {
  /** So that zone 2 comes before zone 10. */
  private static final Comparator<String> ORDER =
      Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

  private SettingsDiff() {}

  /**
   * One value.
   *
   * @param field as in KubeletConfiguration; of a map with its key ({@code
   *     evictionHard[memory.available]}), of reservedMemory with zone and resource ({@code
   *     reservedMemory[0].memory})
   * @param from empty when it is not set
   * @param to empty when it is not set
   */
  public record Change(String field, Optional<String> from, Optional<String> to) {}

  /**
   * The values that differ, in the order of the drop-in file. Amounts and cpusets are compared by
   * value; not set equals the kubelet's default, and empty equals not set, as in /configz.
   */
  public static List<Change> between(KubeletFragment from, KubeletFragment to) {
    var changes = new ArrayList<Change>();
    for (var field : ManagedField.values()) {
      var before = values(field, from);
      var after = values(field, to);
      var names = new TreeMap<String, String>(ORDER);
      names.putAll(before);
      names.putAll(after);
      for (var name : names.keySet()) {
        var was = Optional.ofNullable(before.get(name));
        var is = Optional.ofNullable(after.get(name));
        if (!was.map(SettingsDiff::amount).equals(is.map(SettingsDiff::amount))) {
          changes.add(new Change(name, was, is));
        }
      }
    }
    return List.copyOf(changes);
  }

  private static SortedMap<String, String> values(ManagedField field, KubeletFragment of) {
    var name = field.fieldName();
    return switch (field) {
      case CPU_MANAGER_POLICY -> one(field, of.cpuManagerPolicy);
      case CPU_MANAGER_POLICY_OPTIONS -> map(name, of.cpuManagerPolicyOptions);
      case RESERVED_SYSTEM_CPUS -> one(field, ConfigComparison.canonical(of.reservedSystemCPUs));
      case MEMORY_MANAGER_POLICY -> one(field, of.memoryManagerPolicy);
      case RESERVED_MEMORY -> zones(name, of);
      case TOPOLOGY_MANAGER_POLICY -> one(field, of.topologyManagerPolicy);
      case TOPOLOGY_MANAGER_SCOPE -> one(field, of.topologyManagerScope);
      case TOPOLOGY_MANAGER_POLICY_OPTIONS -> map(name, of.topologyManagerPolicyOptions);
      case KUBE_RESERVED -> map(name, of.kubeReserved);
      case SYSTEM_RESERVED -> map(name, of.systemReserved);
      case EVICTION_HARD -> map(name, of.evictionHard);
      case KUBE_RESERVED_CGROUP -> one(field, of.kubeReservedCgroup);
      case SYSTEM_RESERVED_CGROUP -> one(field, of.systemReservedCgroup);
      case ENFORCE_NODE_ALLOCATABLE ->
          one(
              field,
              of.enforceNodeAllocatable == null
                  ? ""
                  : String.join(",", of.enforceNodeAllocatable.stream().sorted().toList()));
    };
  }

  private static SortedMap<String, String> one(ManagedField field, String value) {
    var shown = KubeletSettings.orDefault(field, value);
    var values = new TreeMap<String, String>();
    if (!shown.isEmpty()) {
      values.put(field.fieldName(), shown);
    }
    return values;
  }

  private static SortedMap<String, String> map(String name, Map<String, String> map) {
    var values = new TreeMap<String, String>();
    if (map != null) {
      map.forEach((key, value) -> values.put("%s[%s]".formatted(name, key), value));
    }
    return values;
  }

  private static SortedMap<String, String> zones(String name, KubeletFragment of) {
    var values = new TreeMap<String, String>();
    for (var reservation : of.reservedMemoryOrEmpty()) {
      if (reservation.limits != null) {
        reservation.limits.forEach(
            (resource, amount) ->
                values.put("%s[%d].%s".formatted(name, reservation.numaNode, resource), amount));
      }
    }
    return values;
  }

  /** 4Gi and 4294967296 are the same. */
  private static String amount(String value) {
    var bytes = Bytes.parse(value);
    return bytes.isPresent() ? Bytes.format(bytes.getAsLong()) : value;
  }
}
