package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.rollout.Decision;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.Drain.Resident;
import io.numaoperator.rollout.Gangs;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Rollout;
import io.numaoperator.rollout.RolloutSettings;
import io.numaoperator.rollout.Wait;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One pass over the nodes of a policy: decide, act, and tell what each waits for. */
@ApplicationScoped
class RolloutPass {
  private final DrainedNodes drained;
  private final RolloutExecutor executor;
  private final ProofPass proofs;
  private final Gangs gangs;
  private final Waits waits;
  private final OperatorSettings settings;
  private final Map<String, Lock> locks = new ConcurrentHashMap<>();

  @Inject
  RolloutPass(
      DrainedNodes drained,
      RolloutExecutor executor,
      ProofPass proofs,
      JobGangs gangs,
      Waits waits,
      OperatorSettings settings) {
    this.drained = drained;
    this.executor = executor;
    this.proofs = proofs;
    this.gangs = new CachedGangs(gangs, InstantSource.system());
    this.waits = waits;
    this.settings = settings;
  }

  /**
   * @param assessments the nodes, with what each waits for
   * @param due when to look again though nothing happened
   * @param failure to be thrown when all is told, so that the pass is made again soon
   */
  record Outcome(
      List<NodeAssessment> assessments,
      Optional<Instant> due,
      Optional<KubernetesClientException> failure) {
    void rethrow() {
      failure.ifPresent(
          e -> {
            throw e;
          });
    }
  }

  /**
   * One pass a policy at a time: the policy's reconciler and the restoration both make them, and
   * two that do not see each other's cordons would exceed the budget together.
   *
   * @param assess the nodes as they are when this pass begins
   */
  Outcome proceed(NumaPolicy policy, Supplier<List<NodeAssessment>> assess) {
    var lock = lock(policy.getMetadata().getName());
    lock.lock();
    try {
      return proceed(policy, assess.get());
    } finally {
      lock.unlock();
    }
  }

  private Lock lock(String policy) {
    return locks.computeIfAbsent(policy, name -> new ReentrantLock());
  }

  private Outcome proceed(NumaPolicy policy, List<NodeAssessment> nodes) {
    var name = policy.getMetadata().getName();
    var now = Instant.now();
    drained.watch(
        name,
        nodes.stream()
            .filter(node -> node.progress().cordon() instanceof Cordon.Ours)
            .map(NodeAssessment::name)
            .collect(Collectors.toSet()));
    var limits = limits(policy, nodes.size());
    var progress = nodes.stream().map(node -> progress(name, node, limits, now)).toList();
    var decision = Rollout.decide(progress, limits, gangs, now);
    var byName = nodes.stream().collect(Collectors.toMap(NodeAssessment::name, node -> node));
    var executed = executor.execute(policy, decision.actions(), byName);
    var proven = proofs.proceed(policy, nodes, progress, now);
    var known = withAnswers(decision, executed.refused());
    // also after a failure: a write that is refused must not keep the nodes from being judged
    waits.set(name, byName.keySet(), known);
    return new Outcome(
        nodes.stream()
            .map(node -> node.waitingFor(Optional.ofNullable(known.get(node.name()))))
            .toList(),
        Stream.of(due(decision, progress, now), proven.due())
            .flatMap(Optional::stream)
            .min(Instant::compareTo),
        executed.failure().or(proven::failure));
  }

  /** The policy is gone. */
  void forget(String policy) {
    var lock = lock(policy);
    lock.lock();
    try {
      drained.watch(policy, Set.of());
      waits.forget(policy);
    } finally {
      lock.unlock();
    }
  }

  private RolloutSettings limits(NumaPolicy policy, int nodes) {
    return RolloutSettings.of(
        policy.getSpec().rollout,
        nodes,
        policy.getSpec().mode == Mode.Enforce && !PolicyReconciler.isPaused(policy),
        settings.retryDelay());
  }

  private NodeProgress progress(
      String policy, NodeAssessment node, RolloutSettings limits, Instant now) {
    var progress = node.progress();
    var drain = progress.drain();
    var residents =
        progress.cordon() instanceof Cordon.Ours
            ? residents(policy, node.name(), now)
            : List.<Resident>of();
    return progress
        .with(new Drain(drain.phase(), drain.gang(), drain.givenUp(), residents))
        .settled(
            limits.canary().isPresent()
                && progress.target() instanceof Target.Reached
                && node.isSettled(now));
  }

  /** A node whose pods are not known is not one without pods: nothing is decided then. */
  private List<Resident> residents(String policy, String node, Instant now) {
    var pods =
        drained
            .pods(policy, node)
            .orElseThrow(() -> new IllegalStateException("pods of " + node + " are not watched"));
    var operator = settings.namespace() + "/" + settings.podName().orElse("");
    return Residents.of(pods.stream(), operator, now);
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
