package io.numaoperator.operator;

import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.rollout.Decision;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.Drain.Resident;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Rollout;
import io.numaoperator.rollout.RolloutSettings;
import io.numaoperator.rollout.Wait;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** One pass over the nodes of a policy: decide, act, and tell what each waits for. */
@ApplicationScoped
class RolloutPass {
  private final DrainedNodes drained;
  private final RolloutExecutor executor;
  private final JobGangs gangs;
  private final Waits waits;
  private final OperatorSettings settings;

  @Inject
  RolloutPass(
      DrainedNodes drained,
      RolloutExecutor executor,
      JobGangs gangs,
      Waits waits,
      OperatorSettings settings) {
    this.drained = drained;
    this.executor = executor;
    this.gangs = gangs;
    this.waits = waits;
    this.settings = settings;
  }

  /**
   * @param assessments the nodes, with what each waits for
   * @param due when to look again though nothing happened
   */
  record Outcome(List<NodeAssessment> assessments, Optional<Instant> due) {}

  Outcome proceed(NumaPolicy policy, List<NodeAssessment> nodes) {
    var name = policy.getMetadata().getName();
    var now = Instant.now();
    drained.watch(
        name,
        nodes.stream()
            .filter(node -> node.progress().cordon() instanceof Cordon.Ours)
            .map(NodeAssessment::name)
            .collect(Collectors.toSet()));
    var limits = limits(policy, nodes.size());
    var progress = nodes.stream().map(node -> progress(node, limits, now)).toList();
    var decision = Rollout.decide(progress, limits, gangs, now);
    var refused = Map.<String, Map<String, String>>of();
    try {
      refused = executor.execute(policy, decision.actions());
    } finally { // a write that is refused must not keep the nodes from being judged
      waits.set(
          name, nodes.stream().map(NodeAssessment::name).toList(), withAnswers(decision, refused));
    }
    var known = withAnswers(decision, refused);
    return new Outcome(
        nodes.stream()
            .map(node -> node.waitingFor(Optional.ofNullable(known.get(node.name()))))
            .toList(),
        due(decision, progress, now));
  }

  /** The policy is gone. */
  void forget(String policy) {
    drained.watch(policy, Set.of());
    waits.forget(policy);
  }

  private RolloutSettings limits(NumaPolicy policy, int nodes) {
    return RolloutSettings.of(
        policy.getSpec().rollout,
        nodes,
        policy.getSpec().mode == Mode.Enforce && !PolicyReconciler.isPaused(policy),
        settings.retryDelay());
  }

  private NodeProgress progress(NodeAssessment node, RolloutSettings limits, Instant now) {
    var progress = node.progress();
    var drain = progress.drain();
    var residents =
        Residents.of(
            drained.pods(node.name()),
            settings.namespace() + "/" + settings.podName().orElse(""),
            now);
    return progress
        .with(new Drain(drain.phase(), drain.gang(), drain.givenUp(), residents))
        .settled(
            limits.canary().isPresent()
                && progress.target() instanceof Target.Reached
                && node.isSettled(now));
  }

  /** That a pod is old enough to be in its agent's report is told by the clock alone. */
  private static Optional<Instant> due(Decision decision, List<NodeProgress> nodes, Instant now) {
    var report = now.plus(Residents.REPORTED_AFTER);
    var young =
        nodes.stream()
            .flatMap(node -> node.drain().residents().stream())
            .anyMatch(Resident::mayHold);
    return young && decision.due().map(report::isBefore).orElse(true)
        ? Optional.of(report)
        : decision.due();
  }

  private static Map<String, Wait> withAnswers(
      Decision decision, Map<String, Map<String, String>> refused) {
    var waits = new HashMap<>(decision.waits());
    waits.replaceAll(
        (node, wait) ->
            wait instanceof Wait.Evictions evictions
                ? evictions.refused(refused.getOrDefault(node, Map.of()))
                : wait);
    return waits;
  }
}
