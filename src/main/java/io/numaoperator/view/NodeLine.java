package io.numaoperator.view;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.readiness.NodeReadiness;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How one node stands, in one line.
 *
 * @param node its name
 * @param policy the NumaPolicy that has it
 * @param ready whether a pod put there now will be aligned; Unknown where nobody judged it yet
 * @param reason why, in one word
 * @param next why, for a person, with what happens or what to do next: the message of its
 *     AlignmentReady condition
 * @param step of the attempt to change its kubelet, running or ended
 * @param zones how many NUMA nodes it has, where it is known
 * @param gpus how many GPUs its kubelet can hand out, where it is known
 * @param aligned containers on one NUMA node
 * @param cross containers across NUMA nodes
 * @param kubeletVersion for example v1.36.3
 * @param topologyPolicy of its running kubelet, in the kubelet's words (single-numa-node); empty
 *     when it is not known
 * @param topologyScope container or pod; empty when it is not known
 */
public record NodeLine(
    String node,
    String policy,
    Condition.Status ready,
    String reason,
    String next,
    Optional<Step> step,
    OptionalInt zones,
    OptionalInt gpus,
    OptionalInt aligned,
    OptionalInt cross,
    Optional<String> kubeletVersion,
    Optional<String> topologyPolicy,
    Optional<String> topologyScope) {
  /** Of a node; of one that is just being taken over, little is known. */
  public static NodeLine of(NumaNodeState state) {
    var status = Objects.requireNonNullElseGet(state.getStatus(), NumaNodeStateStatus::new);
    var alignment = Conditions.find(status.conditions, NodeReadiness.ALIGNMENT);
    var containers = Optional.ofNullable(status.containers);
    var inventory = Optional.ofNullable(status.inventory);
    var settings = Optional.ofNullable(status.effective).map(effective -> effective.settings);
    return new NodeLine(
        state.getMetadata().getName(),
        state.getSpec() == null ? "" : Objects.requireNonNullElse(state.getSpec().policy, ""),
        alignment.map(c -> c.status).orElse(Condition.Status.Unknown),
        alignment.map(c -> c.reason).orElse("NotJudged"),
        alignment.map(c -> c.message).orElse("the operator has not judged this node yet"),
        Optional.ofNullable(status.attempt).map(attempt -> attempt.step),
        number(inventory.map(i -> i.zoneCount)),
        number(inventory.map(i -> i.gpuCount)),
        number(containers.map((Containers c) -> c.aligned)),
        number(containers.map((Containers c) -> c.crossNuma)),
        inventory.map(i -> i.kubelet).map(kubelet -> kubelet.version),
        settings.map(s -> s.topologyManagerPolicy),
        settings.map(s -> s.topologyManagerScope));
  }

  public boolean isReady() {
    return ready == Condition.Status.True;
  }

  static OptionalInt number(Optional<Integer> number) {
    return number.map(OptionalInt::of).orElseGet(OptionalInt::empty);
  }
}
