package io.numaoperator.plan.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.Zone;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A fake. It stands for the start of a real kubelet: how that merges a drop-in over its main file,
 * and the conditions that it exits on, transcribed from k8s.io/kubernetes v1.36.3 (cmd/kubelet/app/
 * server.go, pkg/kubelet/apis/config/validation, cm/cpumanager, cm/memorymanager,
 * cm/topologymanager). It shares no arithmetic with the planner: amounts are the client library's.
 * The lab asks real kubelets.
 */
final class FakeKubelet {
  private static final Map<String, int[]> OPTIONS = // alpha, beta, GA
      Map.of(
          "full-pcpus-only", new int[] {22, 23, 33},
          "distribute-cpus-across-numa", new int[] {23, 33, 999},
          "align-by-socket", new int[] {25, 999, 999},
          "distribute-cpus-across-cores", new int[] {31, 999, 999},
          "strict-cpu-reservation", new int[] {32, 33, 35},
          "prefer-align-cpus-by-uncorecache", new int[] {32, 34, 36},
          "prefer-closest-numa-nodes", new int[] {26, 28, 32},
          "max-allowable-numa-nodes", new int[] {31, 31, 35});

  private final int minor;
  private final Machine machine;
  private final ObjectNode config;

  private FakeKubelet(int minor, Machine machine, ObjectNode config) {
    this.minor = minor;
    this.machine = machine;
    this.config = config;
  }

  /** Starts it with a main file and drop-ins, in order. */
  static FakeKubelet of(int minor, Machine machine, JsonNode mainFile, byte[]... dropIns) {
    var config = (ObjectNode) mainFile.deepCopy();
    if (!config.has("evictionHard")) {
      config.set(
          "evictionHard", Fragments.config("{memory.available: 100Mi, nodefs.available: 10%}"));
    }
    dropEmpty(config); // the main file goes through Go's omitempty before the merge
    for (var dropIn : dropIns) {
      merge(config, Fragments.config(new String(dropIn, StandardCharsets.UTF_8)));
    }
    dropEmpty(config);
    defaults(config);
    countReservedCpus(config);
    return new FakeKubelet(minor, machine, config);
  }

  /** cmd/kubelet/app/server.go, run; a map that it has to make there is not seen in /configz. */
  private static void countReservedCpus(ObjectNode config) {
    var cpus = CpuSet.parse(config.path("reservedSystemCPUs").asText());
    if (cpus.isEmpty()) {
      return;
    }
    if (config.get("kubeReserved") instanceof ObjectNode kube) {
      kube.remove("cpu");
    }
    if (config.get("systemReserved") instanceof ObjectNode system) {
      system.put("cpu", Integer.toString(cpus.size()));
    }
  }

  /** The kubeletconfig object of its /configz. */
  JsonNode configz() {
    var shown = config.deepCopy();
    dropEmpty(shown);
    return shown;
  }

  private static void defaults(ObjectNode config) {
    Map.of(
            "apiVersion", "kubelet.config.k8s.io/v1beta1",
            "kind", "KubeletConfiguration",
            "cpuManagerPolicy", "none",
            "memoryManagerPolicy", "None",
            "topologyManagerPolicy", "none",
            "topologyManagerScope", "container")
        .forEach(
            (field, value) -> {
              if (!config.has(field)) {
                config.put(field, value);
              }
            });
    if (!config.has("enforceNodeAllocatable")) {
      config.putArray("enforceNodeAllocatable").add("pods");
    }
  }

  private static void dropEmpty(ObjectNode config) {
    config
        .properties()
        .removeIf(
            e ->
                e.getValue().isNull()
                    || e.getValue().isTextual() && e.getValue().asText().isEmpty()
                    || e.getValue().isContainerNode() && e.getValue().isEmpty());
  }

  /** RFC 7386. */
  private static void merge(ObjectNode target, JsonNode patch) {
    for (var field : patch.properties()) {
      if (field.getValue().isNull()) {
        target.remove(field.getKey());
      } else if (field.getValue().isObject()) {
        merge(target.withObjectProperty(field.getKey()), field.getValue());
      } else {
        target.set(field.getKey(), field.getValue());
      }
    }
  }

  /** What it would print before it exits; empty when it runs. */
  Optional<String> exit() {
    return Stream.of(
            validation(), cpuManager(), memoryManager(), topologyManager(), nodeAllocatable())
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Optional<String> validation() {
    var enforced = new HashSet<String>();
    for (var item : (ArrayNode) config.get("enforceNodeAllocatable")) {
      enforced.add(item.asText());
    }
    if (enforced.contains("none") && enforced.size() > 1) {
      return Optional.of("may not contain additional enforcements");
    }
    for (var which : List.of("system", "kube")) {
      boolean needed =
          enforced.contains(which + "-reserved")
              || enforced.contains(which + "-reserved-compressible");
      if (needed && !config.has(which + "ReservedCgroup")) {
        return Optional.of(which + "ReservedCgroup must be specified");
      }
    }
    boolean cgroups = config.has("systemReservedCgroup") || config.has("kubeReservedCgroup");
    if (config.has("reservedSystemCPUs") && cgroups) {
      return Optional.of("can't use reservedSystemCPUs with systemReservedCgroup");
    }
    if (!machine.cpus().containsAll(reservedCpus())) {
      return Optional.of("reserved-cpus is not a subset of online-cpus");
    }
    var seen = new HashSet<Integer>();
    for (var reservation : config.path("reservedMemory")) {
      for (var limit : reservation.path("limits").properties()) {
        if (!limit.getKey().equals("memory") || !seen.add(reservation.path("numaNode").asInt())) {
          return Optional.of("reserved memory is not supported or has a duplicate value");
        }
        if (bytes(limit.getValue().asText()).signum() == 0) {
          return Optional.of("reserved memory may not be zero");
        }
      }
    }
    return minor >= 36 && config.path("featureGates").has("MemoryManager")
        ? Optional.of("unrecognized feature gate: MemoryManager")
        : Optional.empty();
  }

  private CpuSet reservedCpus() {
    return CpuSet.parse(config.path("reservedSystemCPUs").asText());
  }

  private Optional<String> cpuManager() {
    var options = config.path("cpuManagerPolicyOptions");
    if (config.get("cpuManagerPolicy").asText().equals("none")) {
      return options.isEmpty() ? Optional.empty() : Optional.of("None policy: unsupported options");
    }
    boolean reserves =
        !reservedCpus().isEmpty()
            || config.path("kubeReserved").has("cpu")
            || config.path("systemReserved").has("cpu");
    if (!reserves) {
      return Optional.of("unable to determine reserved CPU resources for static policy");
    }
    var on = new HashSet<String>();
    for (var option : options.properties()) {
      var refused = available(option.getKey(), "CPUManagerPolicy");
      if (refused.isPresent()) {
        return refused;
      }
      if (option.getValue().asText().equals("true")) {
        on.add(option.getKey());
      }
    }
    var cores = "distribute-cpus-across-cores";
    var numa = "distribute-cpus-across-numa";
    var cache = "prefer-align-cpus-by-uncorecache";
    for (var pair :
        List.of(
            Set.of("full-pcpus-only", cores),
            Set.of(numa, cores),
            Set.of(cache, cores),
            Set.of(cache, numa))) {
      if (on.containsAll(pair)) {
        return Optional.of("static policy options %s can not be used together".formatted(pair));
      }
    }
    boolean single = config.get("topologyManagerPolicy").asText().equals("single-numa-node");
    boolean sockets =
        machine.zones().stream().flatMap(z -> z.sockets().stream()).distinct().count()
            > machine.zones().stream().filter(z -> !z.cpus().isEmpty()).count();
    return on.contains("align-by-socket") && (single || sockets)
        ? Optional.of("incompatible with CPUManager align-by-socket policy option")
        : Optional.empty();
  }

  private Optional<String> available(String option, String prefix) {
    var since = OPTIONS.get(option);
    if (since == null || minor < since[0]) {
      return Optional.of("unknown Policy option: " + option);
    }
    var gates = config.path("featureGates");
    boolean allowed =
        minor >= since[2]
            || (minor >= since[1]
                ? gates.path(prefix + "BetaOptions").asBoolean(true)
                : gates.path(prefix + "AlphaOptions").asBoolean(false));
    return allowed ? Optional.empty() : Optional.of("options not enabled, but provided: " + option);
  }

  private Optional<String> memoryManager() {
    if (config.get("memoryManagerPolicy").asText().equals("None")) {
      return Optional.empty();
    }
    var sum = BigDecimal.ZERO;
    for (var reservation : config.path("reservedMemory")) {
      var amount = bytes(reservation.path("limits").path("memory").asText());
      var id = reservation.path("numaNode").asInt();
      var zone = machine.zones().stream().filter(z -> z.id() == id).findFirst();
      if (zone.isEmpty()) {
        return Optional.of("references a NUMA node that does not exist on this machine");
      }
      if (amount.compareTo(BigDecimal.valueOf(regular(zone.get()))) > 0) {
        return Optional.of("(does not exit, but underflows) zone " + id);
      }
      sum = sum.add(amount);
    }
    if (sum.compareTo(reserved()) != 0) {
      return Optional.of("total amount %s is not equal to %s".formatted(sum, reserved()));
    }
    return sum.signum() == 0
        ? Optional.of("[memorymanager] you should specify the system reserved memory")
        : Optional.empty();
  }

  private static long regular(Zone zone) {
    return zone.memory() - zone.hugepages();
  }

  /** kubeReserved + systemReserved + evictionHard. */
  BigDecimal reserved() {
    return bytes(config.path("kubeReserved").path("memory").asText("0"))
        .add(bytes(config.path("systemReserved").path("memory").asText("0")))
        .add(eviction(config.path("evictionHard").path("memory.available").asText("0%")));
  }

  private BigDecimal eviction(String threshold) {
    if (!threshold.endsWith("%")) {
      return bytes(threshold);
    }
    if (threshold.equals("0%") || threshold.equals("100%")) {
      return BigDecimal.ZERO;
    }
    float share = Float.parseFloat(threshold.substring(0, threshold.length() - 1)) / 100;
    return BigDecimal.valueOf((long) ((double) machine.memoryTotal() * (double) share));
  }

  private static BigDecimal bytes(String quantity) {
    return Quantity.getAmountInBytes(new Quantity(quantity));
  }

  private Optional<String> topologyManager() {
    if (config.get("topologyManagerPolicy").asText().equals("none")) {
      return Optional.empty();
    }
    int limit = 8;
    for (var option : config.path("topologyManagerPolicyOptions").properties()) {
      var refused = available(option.getKey(), "TopologyManagerPolicy");
      if (refused.isPresent()) {
        return refused;
      }
      if (option.getKey().equals("max-allowable-numa-nodes")) {
        limit = Integer.parseInt(option.getValue().asText());
      }
    }
    return limit < 8 || machine.zoneCount() > limit
        ? Optional.of("unsupported on machines with more than %d NUMA Nodes".formatted(limit))
        : Optional.empty();
  }

  private Optional<String> nodeAllocatable() {
    return reserved().compareTo(BigDecimal.valueOf(machine.memoryTotal())) > 0
        ? Optional.of("invalid Node Allocatable configuration")
        : Optional.empty();
  }

  /** Bytes that reservedMemory keeps, by zone. */
  Map<Integer, BigDecimal> reservedByZone() {
    var byZone = new HashMap<Integer, BigDecimal>();
    for (var reservation : config.path("reservedMemory")) {
      byZone.put(
          reservation.path("numaNode").asInt(),
          bytes(reservation.path("limits").path("memory").asText()));
    }
    return byZone;
  }
}
