package io.numaoperator.plan.delivery;

import io.numaoperator.api.KubeletFragment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Bottlerocket's settings.kubernetes (bottlerocket-core-kit, packages/kubernetes-1.33/
 * kubelet-config). With reserved-cpus it leaves out the reserved cgroups itself.
 */
final class BottlerocketToml {
  /** The options that its template passes on; it can only switch them on. */
  private static final Set<String> OPTIONS =
      Set.of("full-pcpus-only", "strict-cpu-reservation", "distribute-cpus-across-numa");

  private static final Set<String> SAID =
      Set.of(
          "cpuManagerPolicy",
          "cpuManagerPolicyOptions",
          "topologyManagerPolicy",
          "topologyManagerScope",
          "reservedSystemCPUs",
          "memoryManagerPolicy",
          "kubeReserved",
          "systemReserved",
          "evictionHard",
          "reservedMemory");

  private final StringBuilder toml = new StringBuilder("[settings.kubernetes]\n");
  private final Set<String> leftOut = new TreeSet<>();

  private BottlerocketToml() {}

  static ExternalFormat.Rendered of(KubeletFragment fragment) {
    var settings = new BottlerocketToml();
    settings.put("cpu-manager-policy", fragment.cpuManagerPolicy);
    settings.options(fragment.cpuManagerPolicyOptions);
    settings.put("topology-manager-policy", fragment.topologyManagerPolicy);
    settings.put("topology-manager-scope", fragment.topologyManagerScope);
    settings.put("reserved-cpus", fragment.reservedSystemCPUs);
    settings.put("memory-manager-policy", fragment.memoryManagerPolicy);
    settings.table("kube-reserved", fragment.kubeReserved);
    settings.table("system-reserved", fragment.systemReserved);
    settings.table("eviction-hard", fragment.evictionHard);
    for (var reservation : fragment.reservedMemoryOrEmpty()) {
      settings.toml.append(
          "\n[settings.kubernetes.memory-manager-reserved-memory.%d]\nenabled = true\n"
              .formatted(reservation.numaNode));
      settings.put("memory", reservation.limits.get("memory"));
    }
    settings.leftOut.addAll(ExternalFormat.leftOut(fragment, SAID));
    return new ExternalFormat.Rendered(settings.toml.toString(), List.copyOf(settings.leftOut));
  }

  private void options(Map<String, String> options) {
    var on = new ArrayList<String>();
    new TreeMap<>(Objects.requireNonNullElse(options, Map.<String, String>of()))
        .forEach(
            (name, value) -> {
              if (value.equals("true") && OPTIONS.contains(name)) {
                on.add("\"" + name + "\"");
              } else if (value.equals("true")) {
                leftOut.add("cpuManagerPolicyOptions[" + name + "]");
              }
            });
    if (!on.isEmpty()) {
      toml.append("cpu-manager-policy-options = [").append(String.join(", ", on)).append("]\n");
    }
  }

  private void table(String name, Map<String, String> values) {
    if (values != null && !values.isEmpty()) {
      toml.append("\n[settings.kubernetes.").append(name).append("]\n");
      new TreeMap<>(values)
          .forEach((key, value) -> toml.append("\"%s\" = \"%s\"\n".formatted(key, value)));
    }
  }

  private void put(String name, String value) {
    if (value != null) {
      toml.append("%s = \"%s\"\n".formatted(name, value));
    }
  }
}
