package io.numaoperator.plan.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.topology.Machine;
import java.util.List;
import java.util.Random;

/** Main files of kubelets that run: defaults, EKS-like, or with managers that are set already. */
final class RandomMainFile {
  private static final List<String> AMOUNTS =
      List.of("100Mi", "1Gi", "0", "0.5Gi", "200M", "123456789", "1e8", "77Ki", "500000000m");
  private static final List<String> THRESHOLDS =
      List.of("100Mi", "5%", "0%", "100%", "1.5%", "750Mi", "123456789", "99999k");
  private static final List<String> CPU_OPTIONS =
      List.of(
          "full-pcpus-only",
          "distribute-cpus-across-numa",
          "align-by-socket",
          "distribute-cpus-across-cores",
          "strict-cpu-reservation",
          "prefer-align-cpus-by-uncorecache");

  private RandomMainFile() {}

  static JsonNode of(int minor, Machine machine, Random random) {
    while (true) {
      var file = draw(machine, random);
      if (FakeKubelet.of(minor, machine, file).exit().isEmpty()) {
        return file;
      }
    }
  }

  private static ObjectNode draw(Machine machine, Random random) {
    var file = JsonNodeFactory.instance.objectNode();
    file.put("maxPods", 110);
    if (random.nextBoolean()) {
      file.putObject("kubeReserved").put("cpu", "100m").put("ephemeral-storage", "1Gi");
      if (random.nextInt(4) > 0) {
        file.withObjectProperty("kubeReserved").put("memory", any(AMOUNTS, random));
      }
    }
    if (random.nextBoolean()) {
      file.putObject("systemReserved").put("memory", any(AMOUNTS, random)).put("pid", "1000");
    }
    if (random.nextBoolean()) {
      file.putObject("evictionHard").put("nodefs.available", "10%");
      if (random.nextInt(4) > 0) {
        file.withObjectProperty("evictionHard").put("memory.available", any(THRESHOLDS, random));
      }
    }
    if (random.nextInt(3) == 0) {
      file.put("systemReservedCgroup", "/system").put("kubeReservedCgroup", "/runtime");
      var enforced = file.putArray("enforceNodeAllocatable");
      List.of("pods", "system-reserved", "kube-reserved-compressible").stream()
          .filter(e -> random.nextBoolean())
          .forEach(enforced::add);
    } else if (random.nextInt(8) == 0) {
      file.putArray("enforceNodeAllocatable").add("none");
    }
    if (random.nextBoolean()) {
      file.putObject("featureGates")
          .put("CPUManagerPolicyAlphaOptions", random.nextInt(4) > 0)
          .put("CPUManagerPolicyBetaOptions", random.nextInt(3) > 0);
    }
    if (random.nextBoolean()) {
      managers(file, machine, random);
    }
    return file;
  }

  private static void managers(ObjectNode file, Machine machine, Random random) {
    file.put(
        "topologyManagerPolicy",
        any(List.of("none", "best-effort", "restricted", "single-numa-node"), random));
    if (random.nextBoolean()) {
      file.putObject("topologyManagerPolicyOptions")
          .put("max-allowable-numa-nodes", Integer.toString(8 + random.nextInt(10)))
          .put("prefer-closest-numa-nodes", "true");
    }
    if (random.nextBoolean()) {
      file.put("cpuManagerPolicy", "static");
      file.withObjectProperty("systemReserved").put("cpu", "1");
      var options = file.putObject("cpuManagerPolicyOptions");
      CPU_OPTIONS.stream()
          .filter(option -> random.nextInt(3) == 0)
          .forEach(option -> options.put(option, "true"));
    }
    if (random.nextBoolean()) {
      file.put("memoryManagerPolicy", "Static");
      file.withObjectProperty("systemReserved").put("memory", "300Mi");
      file.putObject("evictionHard").put("memory.available", "100Mi");
      file.remove("kubeReserved");
      file.putArray("reservedMemory")
          .addObject()
          .put("numaNode", machine.zones().getFirst().id())
          .putObject("limits")
          .put("memory", "400Mi");
    }
  }

  private static String any(List<String> values, Random random) {
    return values.get(random.nextInt(values.size()));
  }
}
