package io.numaoperator.plan.device;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A running pod with shares of GPUs: what the kubelet gave it against what HAMi accounts to it.
 *
 * @param name {@code namespace/name}
 * @param given UUIDs of the GPUs that the kubelet gave to its containers
 * @param annotations of the pod
 * @param refit whether the node's plugin can have an allocation moved; empty where that is not
 *     known
 */
public record HamiPod(
    String name, Set<String> given, Map<String, String> annotations, Optional<Boolean> refit) {
  static final String MODE = "hami.io/numa-alignment";
  static final String PINNED = "nvidia.com/use-gpuuuid";
  static final String BOUND = "nvidia.com/numa-bind";

  public HamiPod {
    given = Set.copyOf(given);
    annotations = Map.copyOf(annotations);
  }

  /** That both differ, and why HAMi did not bring them together; empty where they agree. */
  public Optional<String> disagreement() {
    return allocation()
        .filter(hami -> !hami.gpus().equals(given))
        .map(
            hami ->
                "pod %s runs on %s and HAMi accounts for %s: %s"
                    .formatted(
                        name,
                        String.join(" ", new TreeSet<>(given)),
                        String.join(" ", hami.gpus()),
                        why(hami)));
  }

  private Optional<HamiAllocation> allocation() {
    return Optional.ofNullable(annotations.get(HamiAllocation.ANNOTATION))
        .flatMap(HamiAllocation::parse)
        .filter(hami -> !hami.gpus().isEmpty());
  }

  /** The first that applies, in the order in which HAMi's plugin would stop at it. */
  private String why(HamiAllocation hami) {
    var mode = annotations.getOrDefault(MODE, "").toLowerCase(Locale.ROOT);
    if (mode.isEmpty()) {
      return "it has no annotation " + MODE + ", so nothing is moved" + bound();
    }
    if (annotations.containsKey(PINNED)) {
      return "it pins its GPU (" + PINNED + "), which is never moved";
    }
    if (hami.isUneven()) {
      return "it has different amounts on its GPUs, which are never moved";
    }
    if (refit.isPresent() && !refit.get()) {
      return mode.equals("strict")
          ? "strict only logs while the refit is off (devicePlugin.numaRefit.enabled)"
          : "the refit is off (devicePlugin.numaRefit.enabled)";
    }
    return mode.equals("strict")
        ? "strict should have failed it: the kubelet does not ask the plugin when just as many GPUs"
            + " are left as are needed"
        : "best-effort leaves the kubelet's choice where the scheduler cannot move its own";
  }

  /** It is about a pod's own GPUs and says nothing about its CPUs. */
  private String bound() {
    return annotations.containsKey(BOUND)
        ? " (" + BOUND + " keeps its GPUs together, not beside its CPUs)"
        : "";
  }

  /** What its owner should know though nothing is wrong yet. */
  public Optional<String> warning() {
    var strict = "strict".equalsIgnoreCase(annotations.getOrDefault(MODE, ""));
    return strict && refit.isPresent() && !refit.get()
        ? Optional.of(
            "%s: strict has %s only log while the refit is off: it is not kept from running misaligned"
                .formatted(MODE, name))
        : Optional.empty();
  }
}
