package io.numaoperator.rollout;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.kubelet.KubeletOption;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.Zone;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Which pods would prove a node, beside those that hold something there. */
public sealed interface ProofPlan {
  /** GPUs first: the order in which zones are asked for a device is that in which pods are made. */
  Comparator<String> PREFERRED =
      Comparator.comparing((String resource) -> !resource.endsWith("/gpu"))
          .thenComparing(resource -> resource);

  /**
   * These, which a kubelet that aligns puts into one zone each.
   *
   * @param asks those that ask for the same side by side: of these all may be made at once, the
   *     next when these have their zones
   */
  record Pods(List<Ask> asks) implements ProofPlan {
    public Pods {
      asks = List.copyOf(asks);
    }
  }

  /** The kubelet is not set to align anything. */
  record NotNeeded(String why) implements ProofPlan {}

  /** No zone can be shown. */
  record Impossible(String why) implements ProofPlan {}

  /** Whether a kubelet with these settings aligns what a pod could show. */
  static Optional<String> needless(KubeletFragment kubelet) {
    if (!"static".equalsIgnoreCase(kubelet.cpuManagerPolicy)) {
      return Optional.of("the CPU Manager hands out no CPUs of a pod's own");
    }
    var topology = Objects.requireNonNullElse(kubelet.topologyManagerPolicy, "none");
    if (topology.isEmpty() || topology.equalsIgnoreCase("none")) {
      return Optional.of("the Topology Manager aligns nothing");
    }
    return isOn(KubeletOption.ALIGN_BY_SOCKET, kubelet)
        ? Optional.of("CPUs are aligned by socket, not by NUMA node")
        : Optional.empty();
  }

  /**
   * All pods ask for as many CPUs as only one of them finds in any zone: more than half of what the
   * zone with the most has. So each takes a zone of its own, whichever the kubelet looks at first,
   * and what the node's other pods request still fits beside them. Zones that have less are not
   * shown. Pods with a device come first, since one without would take their place.
   *
   * @param kubelet the settings that it runs with
   * @param held CPUs that other pods have for themselves
   * @param devices how many of each extended resource pods may ask for; empty for none
   * @param name of the pods, a number is added
   */
  static ProofPlan of(
      Machine machine,
      KubeletFragment kubelet,
      CpuSet held,
      Map<String, Long> devices,
      String name) {
    var needless = needless(kubelet);
    if (needless.isPresent()) {
      return new NotNeeded(needless.get());
    }
    var reserved = Objects.requireNonNullElse(kubelet.reservedSystemCPUs, "");
    if (reserved.isEmpty()) {
      return new Impossible("which CPUs the kubelet keeps for the system is not in its settings");
    }
    var kept = CpuSet.parse(reserved).union(held);
    var whole = isOn(KubeletOption.FULL_PCPUS_ONLY, kubelet);
    int cpus = size(machine, kept);
    var zones =
        machine.zones().stream()
            .filter(zone -> cpus > 0 && (whole ? wholeCores(zone, kept) : free(zone, kept)) >= cpus)
            .toList();
    if (zones.isEmpty()) {
      return new Impossible("no NUMA node has enough CPUs for pods");
    }
    var left = new HashMap<>(devices);
    var wanted = new ArrayList<String>();
    zones.forEach(zone -> wanted.add(device(zone, left)));
    wanted.sort(Comparator.comparing(String::isEmpty).thenComparing(PREFERRED));
    var asks = new ArrayList<Ask>();
    for (var device : wanted) {
      asks.add(
          new Ask(
              name + "-" + asks.size(), cpus, Optional.of(device).filter(text -> !text.isEmpty())));
    }
    return new Pods(asks);
  }

  /** A multiple of the threads of a core, so that no core is shared. */
  private static int size(Machine machine, CpuSet kept) {
    int threads =
        machine.zones().stream()
            .flatMap(zone -> zone.cores().stream())
            .mapToInt(CpuSet::size)
            .max()
            .orElse(1);
    int most = machine.zones().stream().mapToInt(zone -> free(zone, kept)).max().orElse(0);
    return most == 0 ? 0 : (most / 2 / threads + 1) * threads;
  }

  private static int free(Zone zone, CpuSet kept) {
    return zone.cpus().minus(kept).size();
  }

  private static int wholeCores(Zone zone, CpuSet kept) {
    return zone.cores().stream()
        .filter(core -> core.intersect(kept).isEmpty())
        .mapToInt(CpuSet::size)
        .sum();
  }

  /** GPUs rather than others; empty where the zone has none that is left. */
  private static String device(Zone zone, Map<String, Long> left) {
    var device =
        zone.devices().entrySet().stream()
            .filter(entry -> entry.getValue() > 0)
            .map(Map.Entry::getKey)
            .filter(resource -> left.getOrDefault(resource, 0L) > 0)
            .min(PREFERRED)
            .orElse("");
    left.computeIfPresent(device, (resource, count) -> count - 1);
    return device;
  }

  private static boolean isOn(KubeletOption option, KubeletFragment kubelet) {
    return Optional.ofNullable(kubelet.cpuManagerPolicyOptions)
        .map(options -> "true".equalsIgnoreCase(options.get(option.optionName())))
        .orElse(false);
  }
}
