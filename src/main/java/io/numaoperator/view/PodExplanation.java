package io.numaoperator.view;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.explain.Crossing;
import io.numaoperator.explain.NodeAnswer;
import io.numaoperator.explain.NodeAnswer.Outcome;
import io.numaoperator.explain.NodeFacts;
import io.numaoperator.explain.Obstacles;
import io.numaoperator.explain.Rejection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Why a pod is where it is, or is nowhere, and which nodes could take it now.
 *
 * @param headline what became of it
 * @param details what is known of that, a sentence each
 * @param well whether there is nothing to complain of
 * @param nodes those that could take it first, then those that cannot; its own node before all
 */
public record PodExplanation(
    String headline, List<String> details, boolean well, List<Candidate> nodes) {
  public PodExplanation {
    details = List.copyOf(details);
    nodes = List.copyOf(nodes);
  }

  /**
   * A node that the pod could be on.
   *
   * @param answer what its kubelet would say
   * @param obstacle what keeps the pod from it whatever its NUMA nodes have, see {@link Obstacles}
   */
  public record Candidate(NodeAnswer answer, Optional<String> obstacle) {
    /** Whether the pod could run there now, as far as it was looked at. */
    public boolean takesIt() {
      return obstacle.isEmpty() && answer.takesIt();
    }
  }

  /**
   * @param facts of each node that a policy has
   * @param states of the same nodes, by name
   * @param nodes by name
   */
  public static PodExplanation of(
      Pod pod, List<NodeFacts> facts, Map<String, NumaNodeState> states, Map<String, Node> nodes) {
    var own = Objects.requireNonNullElse(pod.getSpec().getNodeName(), "");
    var candidates =
        facts.stream()
            .map(f -> candidate(pod, f, Optional.ofNullable(nodes.get(f.node()))))
            .sorted(
                Comparator.comparing((Candidate c) -> !c.answer().node().equals(own))
                    .thenComparing(c -> !c.takesIt())
                    .thenComparing(c -> c.obstacle().isPresent())
                    .thenComparing(c -> c.answer().outcome())
                    .thenComparing(c -> c.answer().node()))
            .toList();
    var rejection = Rejection.of(pod);
    if (rejection.isPresent()) {
      return rejected(rejection.get(), candidates);
    }
    return switch (phase(pod)) {
      case "Pending" -> own.isEmpty() ? pending(pod, candidates) : starting(pod, candidates);
      case "Running" -> running(pod, Optional.ofNullable(states.get(own)), candidates);
      default ->
          new PodExplanation(
              "pod %s has ended: %s".formatted(name(pod), phase(pod)),
              reason(pod),
              phase(pod).equals("Succeeded"),
              List.of());
    };
  }

  private static Candidate candidate(Pod pod, NodeFacts facts, Optional<Node> node) {
    return new Candidate(
        NodeAnswer.of(pod, facts),
        node.map(n -> Obstacles.of(pod, n)).orElse(Optional.of("there is no Node of that name")));
  }

  private static PodExplanation rejected(Rejection rejection, List<Candidate> candidates) {
    var details = new ArrayList<String>();
    details.add("the kubelet said: " + rejection.message());
    rejection
        .owner()
        .ifPresentOrElse(
            owner -> details.add("%s makes it again".formatted(owner.text())),
            () -> details.add("nobody makes it again: delete it and create it anew"));
    return new PodExplanation(
        "pod %s was rejected by the kubelet of node %s: %s"
            .formatted(rejection.pod(), rejection.node(), rejection.reason()),
        details,
        false,
        candidates);
  }

  private static PodExplanation pending(Pod pod, List<Candidate> candidates) {
    var details = new ArrayList<String>();
    details.add(
        "its scheduler is "
            + Objects.requireNonNullElse(pod.getSpec().getSchedulerName(), "default-scheduler"));
    conditions(pod).stream()
        .filter(c -> "PodScheduled".equals(c.getType()) && c.getMessage() != null)
        .map(c -> "it said: " + c.getMessage())
        .forEach(details::add);
    return new PodExplanation(
        "pod %s is pending: it is on no node yet".formatted(name(pod)), details, false, candidates);
  }

  private static PodExplanation starting(Pod pod, List<Candidate> candidates) {
    return new PodExplanation(
        "pod %s is bound to node %s and has not started yet"
            .formatted(name(pod), pod.getSpec().getNodeName()),
        reason(pod),
        false,
        candidates);
  }

  private static PodExplanation running(
      Pod pod, Optional<NumaNodeState> state, List<Candidate> candidates) {
    var where = "pod %s runs on node %s".formatted(name(pod), pod.getSpec().getNodeName());
    var containers = state.flatMap(s -> Optional.ofNullable(s.getStatus())).map(s -> s.containers);
    if (containers.isEmpty()) {
      return new PodExplanation(
          where + "; how it is placed there is not known",
          List.of(
              state.isEmpty()
                  ? "no NumaPolicy has that node, so no agent looks at its containers"
                  : "the node's agent has not reported its containers yet"),
          false,
          List.of());
    }
    var its = containers.get().placed.stream().filter(c -> c.pod.equals(name(pod))).toList();
    var details = its.stream().map(PodExplanation::sentence).toList();
    if (its.stream().anyMatch(c -> c.placement == Placement.CrossNUMA)) {
      return new PodExplanation(where + " across NUMA nodes", details, false, candidates);
    }
    if (its.isEmpty() && NodeMaps.leftOut(state.orElseThrow().getStatus()) > 0) {
      return new PodExplanation(
          where + "; how it is placed there is not known",
          List.of("the node's agent lists 64 containers, and it is not among them"),
          false,
          List.of());
    }
    if (its.isEmpty()) {
      return new PodExplanation(
          where + " and is pinned to no NUMA node",
          List.of(
              "it holds no exclusive CPUs, no pinned memory and no devices: it is no Guaranteed pod"
                  + " with whole CPUs, or its node's kubelet pins nothing"),
          true,
          List.of());
    }
    boolean known =
        its.stream()
            .allMatch(c -> c.placement == Placement.Aligned || c.placement == Placement.NotPinned);
    boolean aligned = its.stream().anyMatch(c -> c.placement == Placement.Aligned);
    var verdict = aligned ? " and is aligned" : " and holds devices, but is pinned to no NUMA node";
    return new PodExplanation(
        where + (known ? verdict : "; whether it is aligned is not known"),
        details,
        known,
        List.of());
  }

  private static String sentence(PlacedContainer container) {
    return "container %s is %s: %s"
        .formatted(container.container, word(container.placement), Crossing.sentence(container));
  }

  private static String word(Placement placement) {
    return switch (placement) {
      case Aligned -> "aligned";
      case CrossNUMA -> "across NUMA nodes";
      case NotPinned -> "not pinned";
      case Unknown -> "on CPUs whose NUMA node is not known";
      case Unsupported ->
          "of a pod that uses ResourceClaims (DRA), which the kubelet does not align";
    };
  }

  private static List<String> reason(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).stream()
        .flatMap(s -> java.util.stream.Stream.of(s.getReason(), s.getMessage()))
        .filter(Objects::nonNull)
        .toList();
  }

  private static String phase(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).map(s -> s.getPhase()).orElse("Pending");
  }

  private static List<PodCondition> conditions(Pod pod) {
    return Optional.ofNullable(pod.getStatus()).map(s -> s.getConditions()).orElse(List.of());
  }

  private static String name(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }

  /** How many nodes could take it now, as far as it was looked at. */
  public long takers() {
    return nodes.stream().filter(Candidate::takesIt).count();
  }

  /** Whether a node's kubelet gives the pod anything of its own at all. */
  public boolean isAboutNuma() {
    return nodes.stream().anyMatch(c -> c.answer().outcome() != Outcome.NotAligned);
  }
}
