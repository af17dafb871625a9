package io.numaoperator.topology.fit;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.Fit.DoesNotFit;
import io.numaoperator.topology.fit.Fit.Fits;
import io.numaoperator.topology.fit.Fit.NotAligned;
import io.numaoperator.topology.fit.Fit.Place;
import io.numaoperator.topology.fit.HintProvider.Claim;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** One pod before the Topology Manager (topologymanager/scope_pod.go, scope_container.go). */
final class Admission {
  /** 2^16 sets of zones for each resource; a kubelet with more would not admit in time either. */
  private static final int MAX_ZONES = 16;

  private final NodeFree node;
  private final PodRequest pod;
  private final TopologyPolicy policy;
  private final DeviceManager devices;
  private final CpuManager cpus;
  private final MemoryManager memory;
  private final List<Place> places = new ArrayList<>();

  private Admission(NodeFree node, PodRequest pod, boolean first) {
    this.node = node;
    this.pod = pod;
    this.policy = new TopologyPolicy(node);
    this.devices = new DeviceManager(node, first);
    this.cpus = new CpuManager(node, first);
    this.memory = new MemoryManager(node);
  }

  static Fit of(NodeFree node, PodRequest pod) {
    if (!aligned(node, pod)) {
      return new NotAligned();
    }
    if (node.zones().size() > MAX_ZONES) {
      return new DoesNotFit(
          "%d zones are more than can be checked (%d)".formatted(node.zones().size(), MAX_ZONES));
    }
    var fit = new Admission(node, pod, true).run();
    return fit instanceof Fits fits
            && (reuseIsUncertain(node.rules(), pod) || sharesDevices(node, pod))
        ? switch (new Admission(node, pod, false).run()) {
          case Fits other -> new Fits(fits.containers(), fits.after().least(other.after()));
          case Fit refused -> refused;
        }
        : fit;
  }

  /** What the managers are asked for, before anything is given. */
  static List<Claimant> claimants(NodeFree node, PodRequest pod) {
    if (!aligned(node, pod)) {
      return List.of();
    }
    var rules = node.rules();
    var admission = new Admission(node, pod, true);
    return rules.policy() != Policy.None && rules.scope() == Scope.Pod
        ? List.of(new Claimant(Optional.empty(), admission.needs(p -> p.claim(pod))))
        : pod.containers().stream()
            .map(
                container ->
                    new Claimant(
                        Optional.of(container.name()),
                        admission.needs(p -> p.claim(pod, container))))
            .toList();
  }

  private static boolean aligned(NodeFree node, PodRequest pod) {
    var rules = node.rules();
    var resources = pod.devices().keySet();
    return (rules.staticCpus() && pod.exclusiveCpus() > 0)
        || (rules.staticMemory() && !pod.pinnedMemory().isEmpty())
        || node.devices().stream()
            .anyMatch(d -> !d.zones().isEmpty() && resources.contains(d.resource()));
  }

  /** See {@link CpuManager}: threads of half a core. */
  private static boolean reuseIsUncertain(KubeletRules rules, PodRequest pod) {
    return rules.staticCpus()
        && pod.containers().stream()
            .anyMatch(c -> c.kind() == Kind.Init && pod.exclusiveCpus(c) > 0)
        && pod.containers().stream()
            .anyMatch(c -> pod.exclusiveCpus(c) % rules.threadsPerCore() != 0);
  }

  /** Which of the devices on several zones a container got decides what the next one can have. */
  private static boolean sharesDevices(NodeFree node, PodRequest pod) {
    return node.devices().stream()
        .filter(device -> device.zones().size() > 1)
        .anyMatch(
            device ->
                pod.containers().stream()
                        .filter(c -> c.devices().containsKey(device.resource()))
                        .count()
                    > 1);
  }

  private Fit run() {
    var rules = node.rules();
    var whole = Optional.<Affinity>empty();
    if (rules.policy() != Policy.None && rules.scope() == Scope.Pod) {
      whole = merge(provider -> provider.claim(pod));
      if (whole.isEmpty()) {
        return new DoesNotFit(Shortage.explain(node, needs(provider -> provider.claim(pod))));
      }
    }
    for (var container : pod.containers()) {
      Function<HintProvider, Claim> claim = provider -> provider.claim(pod, container);
      var affinity = whole.or(() -> merge(claim));
      if (affinity.isEmpty()) {
        return refused(container, Shortage.explain(node, needs(claim)));
      }
      for (var provider : providers()) {
        var refusal = provider.allocate(pod, container, affinity.get());
        if (refusal.isPresent()) {
          return refused(
              container, refusal.get() + Shortage.detail(node, claim.apply(provider).needs()));
        }
      }
      places.add(new Place(container.name(), affinity.get().zones(), affinity.get().preferred()));
    }
    return new Fits(places, after());
  }

  private DoesNotFit refused(ContainerRequest container, String why) {
    return new DoesNotFit(
        pod.containers().size() == 1 ? why : "container %s: %s".formatted(container.name(), why));
  }

  /** In the order in which the kubelet asks (container_manager_linux.go, AddHintProvider). */
  private List<HintProvider> providers() {
    return List.of(devices, cpus, memory);
  }

  private Optional<Affinity> merge(Function<HintProvider, Claim> claim) {
    return policy.merge(
        providers().stream().flatMap(p -> claim.apply(p).hints().stream()).toList());
  }

  private List<Need> needs(Function<HintProvider, Claim> claim) {
    return providers().stream().flatMap(p -> claim.apply(p).needs().stream()).toList();
  }

  private NodeFree after() {
    return new NodeFree(
        node.rules(),
        node.zones().stream()
            .map(
                zone ->
                    new ZoneFree(
                        zone.id(),
                        zone.cpus(),
                        zone.allocatableCpus(),
                        zone.cpus() > 0 ? cpus.left(zone.id()) : zone.freeCpus(),
                        cpus.leftOnFreeCores(zone),
                        Map.copyOf(memory.left(zone.id())),
                        memory.group(zone.id()),
                        zone.distances()))
            .toList(),
        devices.left());
  }
}
