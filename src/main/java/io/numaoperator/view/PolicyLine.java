package io.numaoperator.view;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.readiness.PolicyReadiness;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How one policy stands, in one line.
 *
 * @param name its name
 * @param mode Enforce or Observe
 * @param ready whether every node is as the policy wants it
 * @param reason why, in one word
 * @param next why, for a person, with what happens or what to do next
 * @param nodes how many it has
 * @param readyNodes how many of these are ready
 * @param updating how many are being changed now
 * @param failed how many could not be changed
 */
public record PolicyLine(
    String name,
    String mode,
    Condition.Status ready,
    String reason,
    String next,
    OptionalInt nodes,
    OptionalInt readyNodes,
    OptionalInt updating,
    OptionalInt failed) {

  /** Of one that the operator has not looked at yet, little is known. */
  public static PolicyLine of(NumaPolicy policy) {
    var status = Objects.requireNonNullElseGet(policy.getStatus(), NumaPolicyStatus::new);
    var ready = Conditions.find(status.conditions, PolicyReadiness.READY);
    var nodes = Optional.ofNullable(status.nodes);
    return new PolicyLine(
        policy.getMetadata().getName(),
        policy.getSpec() == null || policy.getSpec().mode == null
            ? ""
            : policy.getSpec().mode.name(),
        ready.map(c -> c.status).orElse(Condition.Status.Unknown),
        ready.map(c -> c.reason).orElse("NotJudged"),
        ready
            .map(c -> c.message)
            .orElse("the operator has not looked at this policy: does it run?"),
        NodeLine.number(nodes.map(n -> n.matched)),
        NodeLine.number(nodes.map(n -> n.ready)),
        NodeLine.number(nodes.map(n -> n.updating)),
        NodeLine.number(nodes.map(n -> n.failed)));
  }
}
