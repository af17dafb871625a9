package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateSpec.Grant;
import io.numaoperator.api.NumaNodeStateSpec.ProofPod;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.rollout.Proof;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.rollout.Proof.Held;
import io.numaoperator.rollout.Proof.Noted;
import io.numaoperator.rollout.Proof.Seen;
import io.numaoperator.rollout.ProofPlan;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The proof of one node, from the objects.
 *
 * @param policy empty for a node that none has any more
 * @param pods the proof pods on it
 * @param arriving pods of others that may hold what its agent has not told of
 * @param refused what the API server said to the last pod that it did not take
 */
record ProofEvidence(
    NumaNodeState state,
    Node node,
    String namespace,
    Optional<NumaPolicy> policy,
    List<Pod> pods,
    List<String> arriving,
    boolean agentAlive,
    Optional<String> refused) {

  String name() {
    return node.getMetadata().getName();
  }

  /** Whether there is anything to decide: most nodes are not at it. */
  boolean isOfInterest() {
    return isProving() || !pods.isEmpty();
  }

  private NumaNodeStateStatus status() {
    return NodeAssessment.observed(state);
  }

  private boolean isProving() {
    var attempt = status().attempt;
    return attempt != null
        && attempt.number != null
        && attempt.step == Step.Proving
        && attempt.result == null;
  }

  /** As in a backup that was put back: not what its agent works on. */
  boolean isGrantedAnother() {
    return isProving()
        && state.getSpec().grant != null
        && state.getSpec().grant.attempt != attempt();
  }

  /** The attempt that is to be proven. */
  long attempt() {
    return status().attempt.number;
  }

  String scheduler() {
    return policy
        .map(p -> p.getSpec().scheduler.schedulerName)
        .orElseGet(() -> new SchedulerPolicy().schedulerName);
  }

  Proof.View view() {
    return new Proof.View(
        isProving(),
        noted(),
        this::plan,
        pods.stream().map(this::seen).toList(),
        held(),
        others(),
        arriving,
        refused,
        agentAlive && status().agentError == null,
        withdrawn(),
        since());
  }

  private Instant since() {
    return Optional.ofNullable(status().attempt)
        .flatMap(attempt -> Optional.ofNullable(attempt.since))
        .map(Instant::parse)
        .orElse(Instant.EPOCH);
  }

  private Optional<String> withdrawn() {
    return policy.isEmpty()
        ? Optional.of("no policy has the node any more")
        : policy
            .filter(p -> !Boolean.TRUE.equals(p.getSpec().rollout.verification.proofPod))
            .map(p -> "rollout.verification.proofPod is false");
  }

  // ---- what was noted in the grant

  /** Empty as well while nothing is proven. */
  private Optional<NumaNodeStateSpec.Proof> granted() {
    return Optional.ofNullable(state.getSpec().grant)
        .filter(grant -> isProving() && grant.attempt == attempt())
        .flatMap(grant -> Optional.ofNullable(grant.proof));
  }

  private Optional<Noted> noted() {
    return granted()
        .filter(proof -> proof.since != null || proof.verdict != null)
        .map(
            proof ->
                new Noted(
                    Optional.ofNullable(proof.since).map(Instant::parse).orElse(Instant.EPOCH),
                    asks(proof),
                    Optional.ofNullable(proof.verdict)));
  }

  private static List<Ask> asks(NumaNodeStateSpec.Proof proof) {
    return Optional.ofNullable(proof.pods).stream()
        .flatMap(List::stream)
        .map(pod -> new Ask(pod.pod, pod.cpus, Optional.ofNullable(pod.device)))
        .toList();
  }

  /** The grant of the attempt that is proven, also where somebody took it away meanwhile. */
  private Grant grant(NumaNodeStateSpec.Proof proof) {
    var grant = new Grant();
    grant.attempt = attempt();
    grant.hash = status().attempt.hash;
    grant.bootId = Nodes.bootId(node);
    grant.proof = proof;
    return grant;
  }

  Grant noted(List<Ask> asks, Instant now) {
    var proof = new NumaNodeStateSpec.Proof();
    proof.since = now.toString();
    proof.pods = asks.stream().map(ProofEvidence::wire).toList();
    return grant(proof);
  }

  Grant judged(ProofVerdict verdict, String message) {
    var proof = new NumaNodeStateSpec.Proof();
    granted()
        .ifPresent(
            noted -> {
              proof.since = noted.since;
              proof.pods = noted.pods;
            });
    proof.verdict = verdict;
    proof.message = message;
    return grant(proof);
  }

  private static ProofPod wire(Ask ask) {
    var pod = new ProofPod();
    pod.pod = ask.name();
    pod.cpus = ask.cpus();
    pod.device = ask.device().orElse(null);
    return pod;
  }

  // ---- what is to be asked

  private Optional<ProofPlan> plan() {
    var status = status();
    var running =
        Optional.ofNullable(status.inventory)
            .flatMap(inventory -> Optional.ofNullable(inventory.kubelet))
            .flatMap(kubelet -> Optional.ofNullable(kubelet.pid));
    return Optional.ofNullable(status.effective)
        .filter(effective -> running.isPresent() && running.get().equals(effective.pid))
        .map(effective -> plan(effective.settings));
  }

  private ProofPlan plan(KubeletFragment running) {
    try {
      return ProofPlan.of(
          Machine.of(status().inventory), running, heldByOthers(), devices(), podName());
    } catch (IllegalArgumentException e) {
      return new ProofPlan.Impossible("the node's inventory cannot be used: " + e.getMessage());
    }
  }

  private String podName() {
    return "%s/%s-%s-%d"
        .formatted(
            namespace, io.numaoperator.plan.agent.ProofPod.NAME, ContentHash.of(name()), attempt());
  }

  /**
   * As many as the Node says, since a device on several zones is listed with each; a Node that is
   * told of them late still says 0. None of a resource that another pod has of. HAMi's plugin hands
   * a GPU only to a pod that HAMi's scheduler has placed.
   */
  private Map<String, Long> devices() {
    if (policy.isEmpty() || policy.get().getSpec().devicePlugin.provider == Provider.HAMi) {
      return Map.of();
    }
    var told =
        Optional.ofNullable(node.getStatus())
            .flatMap(s -> Optional.ofNullable(s.getAllocatable()))
            .orElse(Map.of());
    var counts = new HashMap<String, Long>();
    for (var zone : status().inventory.zones) {
      for (var device : zone.devices) {
        long count = whole(told.get(device.resource));
        counts.put(device.resource, count > 0 ? count : Long.MAX_VALUE);
      }
    }
    placed(containers -> containers.placed)
        .flatMap(container -> container.devices.stream())
        .forEach(device -> counts.remove(device.resource));
    return counts;
  }

  private CpuSet heldByOthers() {
    return placed(containers -> containers.placed)
        .map(container -> CpuSet.parse(Objects.requireNonNullElse(container.cpus, "")))
        .reduce(CpuSet.EMPTY, CpuSet::union);
  }

  private static long whole(Quantity amount) {
    return amount == null ? 0 : amount.getNumericalAmount().longValue();
  }

  // ---- what is there

  private Seen seen(Pod pod) {
    var status = Optional.ofNullable(pod.getStatus());
    var name = Residents.name(pod);
    return new Seen(
        name,
        switch (status.map(s -> s.getPhase()).orElse("Pending")) {
          case "Running" -> Seen.Phase.Running;
          case "Failed", "Succeeded" -> Seen.Phase.Ended;
          default -> Seen.Phase.Waiting;
        },
        status.flatMap(s -> Optional.ofNullable(s.getReason())).orElse("ended"),
        status.flatMap(s -> Optional.ofNullable(s.getMessage())).orElse("no reason given"),
        ask(name)
            .map(
                ask -> io.numaoperator.plan.agent.ProofPod.isAsAsked(pod, ask.cpus(), ask.device()))
            .orElse(true),
        pod.getMetadata().getDeletionTimestamp() != null);
  }

  private Optional<Ask> ask(String name) {
    return granted().stream()
        .flatMap(proof -> asks(proof).stream())
        .filter(ask -> ask.name().equals(name))
        .findFirst();
  }

  private Stream<PlacedContainer> placed(
      Function<NumaNodeStateStatus.Containers, List<PlacedContainer>> list) {
    return Optional.ofNullable(status().containers).map(list).stream().flatMap(List::stream);
  }

  /** Memory alone is in nobody's way, unless it is on several zones: the kubelet keeps these so. */
  private List<String> others() {
    return placed(containers -> containers.placed)
        .filter(c -> !c.cpuZones.isEmpty() || !c.devices.isEmpty() || c.memoryZones.size() > 1)
        .map(c -> c.pod)
        .distinct()
        .toList();
  }

  private Map<String, Held> held() {
    return placed(containers -> containers.proofs)
        .collect(Collectors.toMap(c -> c.pod, this::held, (one, other) -> one));
  }

  private Held held(PlacedContainer container) {
    var device = ask(container.pod).flatMap(Ask::device);
    boolean memory =
        "Static"
            .equalsIgnoreCase(
                status().effective == null ? "" : status().effective.settings.memoryManagerPolicy);
    boolean hasDevice =
        device.isEmpty()
            || container.devices.stream().anyMatch(d -> d.resource.equals(device.get()));
    boolean whole =
        !container.cpuZones.isEmpty() && hasDevice && (!memory || !container.memoryZones.isEmpty());
    // a device without a zone is no evidence against alignment elsewhere; here it was to have one
    boolean aligned =
        container.placement == Placement.Aligned
            && (device.isEmpty() || container.deviceZones.containsAll(container.cpuZones));
    return new Held(
        container.pod, aligned, whole, Set.copyOf(container.cpuZones), described(container));
  }

  private static String described(PlacedContainer container) {
    var parts = new TreeSet<String>();
    container.devices.forEach(d -> parts.add(d.count + " " + d.resource));
    return "CPUs %s of zone %s%s%s"
        .formatted(
            container.cpus,
            zones(container.cpuZones),
            container.memoryZones.isEmpty()
                ? ""
                : ", memory of zone " + zones(container.memoryZones),
            parts.isEmpty()
                ? ""
                : ", " + String.join(", ", parts) + " of zone " + zones(container.deviceZones));
  }

  private static String zones(List<Integer> zones) {
    return zones.isEmpty()
        ? "(none)"
        : zones.stream().sorted().map(String::valueOf).collect(Collectors.joining("+"));
  }
}
