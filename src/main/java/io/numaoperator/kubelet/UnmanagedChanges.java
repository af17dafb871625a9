package io.numaoperator.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * What changed in a kubelet's configuration beside the managed fields. Any such change is a failure
 * of an attempt: explicit empty values of the main file, for one, are lost when drop-ins are
 * merged.
 */
public final class UnmanagedChanges {
  private final List<String> paths = new ArrayList<>();

  private UnmanagedChanges() {}

  /**
   * The JSON paths that differ, for example {@code evictionHard["nodefs.available"]}, sorted; empty
   * when nothing does. Lists are compared as a whole. Absent equals null. Of the maps that the
   * operator shares with the node's owner, only the operator's keys are left out.
   *
   * @param before the {@code kubeletconfig} object of /configz before the change
   * @param after the same after it
   */
  public static List<String> between(JsonNode before, JsonNode after) {
    var changes = new UnmanagedChanges();
    changes.compare("", before, after);
    return List.copyOf(changes.paths);
  }

  private void compare(String path, JsonNode before, JsonNode after) {
    if (isManaged(path) || absentOrEqual(before, after)) {
      return;
    }
    if (isObjectOrAbsent(before) && isObjectOrAbsent(after)) {
      var names = new TreeSet<String>();
      before.fieldNames().forEachRemaining(names::add);
      after.fieldNames().forEachRemaining(names::add);
      for (var name : names) {
        compare(child(path, name), before.path(name), after.path(name));
      }
    } else {
      paths.add(path);
    }
  }

  private static boolean absentOrEqual(JsonNode before, JsonNode after) {
    return before.equals(after) || (isAbsent(before) && isAbsent(after));
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }

  private static boolean isObjectOrAbsent(JsonNode value) {
    return value.isObject() || isAbsent(value);
  }

  private static String child(String path, String name) {
    if (!name.matches("[A-Za-z0-9_]+")) {
      return "%s[\"%s\"]".formatted(path, name);
    }
    return path.isEmpty() ? name : path + "." + name;
  }

  private static boolean isManaged(String path) {
    return switch (path) {
      case "apiVersion", "kind" -> true; // no settings; not every version of configz shows them
      // Shared maps: the rest of them is the node owner's. cpu is rewritten by the kubelet itself.
      case "kubeReserved", "systemReserved", "evictionHard" -> false;
      case "kubeReserved.memory", "kubeReserved.cpu" -> true;
      case "systemReserved.memory", "systemReserved.cpu" -> true;
      case "evictionHard[\"memory.available\"]" -> true;
      default -> ManagedField.named(path).isPresent();
    };
  }
}
