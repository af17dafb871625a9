package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.preflight.Divergence;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.Drain.GivenUp;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.Optional;

/**
 * Tells the steps of a node's change as Events of its Node, so that {@code kubectl describe node}
 * has the story, and counts them once each.
 */
@ApplicationScoped
class NodeStory {
  private static final String NOT_BEGUN = "ChangeRefused";

  private final Events events;
  private final Meters meters;

  @Inject
  NodeStory(Events events, Meters meters) {
    this.events = events;
    this.meters = meters;
  }

  /** What an Event says. */
  private record Line(String key, boolean warning, String reason, String message) {}

  /**
   * After an action was carried out.
   *
   * @param before the node's state that it was decided on
   */
  void acted(String policy, Action action, Node node, Optional<NumaNodeState> before) {
    switch (action) {
      case Action.Cordon cordon ->
          tell(
              node,
              normal(
                  cordon.attempt(),
                  "CordonedForChange",
                  "policy %s takes the node out of service for attempt %d to change its kubelet"
                      .formatted(policy, cordon.attempt())));
      case Action.Grant grant ->
          tell(
              node,
              normal(
                  grant.attempt(),
                  "ChangeGranted",
                  "attempt %d: the agent may change the kubelet now, to %s"
                      .formatted(grant.attempt(), grant.hash())));
      case Action.Revoke revoke -> before.ifPresent(state -> ended(node, state));
      case Action.Uncordon uncordon ->
          tell(
              node,
              uncordon
                  .givenUp()
                  .map(givenUp -> givenUp(policy, givenUp))
                  .orElseGet(
                      () ->
                          normal(
                              before.map(NodeStory::lastAttempt).orElse(0L),
                              "BackInService",
                              "policy %s has put the node back into service".formatted(policy))));
      case Action.LoadDevices load ->
          tell(
              node,
              new Line(
                  "DevicePluginLoading %s %s".formatted(load.hash(), Instant.now()),
                  false,
                  "DevicePluginLoading",
                  "policy %s has the device plugin load its settings (%s)"
                      .formatted(policy, load.hash())));
      case Action.DevicesLoaded loaded ->
          tell(
              node,
              new Line(
                  "DevicePluginLoaded %s %s".formatted(loaded.hash(), Instant.now()),
                  !loaded.back(),
                  loaded.back() ? "DevicePluginLoaded" : "DevicePluginFailed",
                  loaded.back()
                      ? "the device plugin runs with its settings and the kubelet has its devices"
                      : "the devices did not come back in time with the settings "
                          + loaded.hash()));
      case Action.BeginPhase begin -> {} // the node's condition names the pods
      case Action.Evict evict -> {} // the API server tells of each pod
    }
  }

  /** Somebody undid what was applied. */
  void drifted(Node node, NumaNodeState state, String what) {
    var status = state.getStatus();
    var line =
        new Line(
            "drift %d %s".formatted(lastAttempt(state), status.dropInHash),
            true,
            "KubeletDrifted",
            "what policy %s applied was undone: %s".formatted(state.getSpec().policy, what));
    if (tell(node, line)) {
      meters.drifted(state.getSpec().policy);
    }
  }

  /** A change stays that no pod has shown to align. */
  void notProven(Node node, long attempt, String why) {
    tell(
        node,
        new Line(
            "ChangeNotProven " + attempt,
            true,
            "ChangeNotProven",
            "attempt %d: the kubelet was verified and the change stays, but no proof pod has shown that it aligns: %s"
                .formatted(attempt, why)));
  }

  /** Something that its owner should know of a pod of theirs. */
  void pod(Pod pod, String reason, String message) {
    events.tell(pod, reason + message, true, reason, message);
  }

  /** A grant is taken back when it was used, or when it is no longer wanted. */
  private void ended(Node node, NumaNodeState state) {
    var grant = state.getSpec().grant;
    var attempt = Optional.ofNullable(state.getStatus()).map(s -> s.attempt);
    var answered =
        attempt.filter(a -> a.result != null && grant != null && grant.attempt.equals(a.number));
    if (answered.isEmpty()) {
      tell(
          node,
          normal(
              grant == null ? 0 : grant.attempt,
              "ChangeWithdrawn",
              "the grant was taken back before the agent used it: it is no longer wanted"));
      return;
    }
    if (tell(node, result(answered.get()))) {
      meters.attempted(answered.get().result);
    }
  }

  private static Line result(Attempt attempt) {
    var number = "attempt %d: ".formatted(attempt.number);
    return switch (attempt.result) {
      case Succeeded ->
          Divergence.withoutDropIn().hash().equals(attempt.hash)
              ? normal(
                  attempt.number,
                  "KubeletRestored",
                  number + "the kubelet runs with the node's own settings and was stable")
              : normal(
                  attempt.number,
                  "KubeletChanged",
                  number
                      + "the kubelet runs as wanted and was stable ("
                      + attempt.hash
                      + ")"
                      + (attempt.proof == ProofVerdict.Passed
                          ? "; proof pods: " + attempt.proofMessage
                          : ""));
      case RolledBack ->
          warning(
              attempt,
              "KubeletRolledBack",
              number + "failed; the kubelet runs as before: " + attempt.error);
      case RollbackFailed ->
          warning(
              attempt,
              "KubeletRollbackFailed",
              number + "failed, and so did the way back; see docs/operations.md: " + attempt.error);
      case Refused -> warning(attempt, NOT_BEGUN, number + attempt.error);
    };
  }

  private static Line givenUp(String policy, GivenUp drain) {
    if (drain.refused()) { // told as ChangeRefused, with the agent's words
      return new Line(
          "BackInService " + drain.notBefore(),
          false,
          "BackInService",
          "policy %s has put the node back into service; tried again at %s"
              .formatted(policy, drain.notBefore()));
    }
    return new Line(
        "DrainGivenUp " + drain.notBefore(),
        true,
        "DrainGivenUp",
        "it was not free for the change in time, so it is back in service; tried again at %s; in the way: %s"
            .formatted(drain.notBefore(), drain.why().isEmpty() ? "unknown" : drain.why()));
  }

  private static Line normal(long attempt, String reason, String message) {
    return new Line(reason + " " + attempt, false, reason, message);
  }

  private static Line warning(Attempt attempt, String reason, String message) {
    return new Line(reason + " " + attempt.number, true, reason, message);
  }

  private static long lastAttempt(NumaNodeState state) {
    return Optional.ofNullable(state.getStatus())
        .flatMap(s -> Optional.ofNullable(s.attempt))
        .map(a -> a.number)
        .orElse(0L);
  }

  /**
   * @return whether it was new
   */
  private boolean tell(Node node, Line line) {
    return events.tell(node, line.key(), line.warning(), line.reason(), line.message());
  }
}
