package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.plan.scheduler.TopologyRevision;
import io.numaoperator.readiness.Verdict;
import io.numaoperator.rollout.RolloutSettings;
import jakarta.annotation.PreDestroy;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** One policy: take its nodes, apply its parts, roll out, sum up. */
@ControllerConfiguration(name = "policy")
@GradualRetry(maxAttempts = PolicyReconciler.FOR_EVER, maxInterval = PolicyReconciler.LONGEST_PAUSE)
class PolicyReconciler implements Reconciler<NumaPolicy> {
  /** JOSDK's 5 attempts would leave what failed longer alone until something happens to it. */
  static final int FOR_EVER = -1;

  /** Between two attempts, in ms. */
  static final long LONGEST_PAUSE = 60_000;

  /** What is due now is looked at after the writes of this pass are seen. */
  private static final Duration SOON = Duration.ofMillis(500);

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final ClusterCache cache;
  private final Writer writer;
  private final Parts parts;
  private final KubeletDeliveries deliveries;
  private final ClusterViews views;
  private final RolloutPass rollout;
  private final DrainedNodes drained;
  private final RejectedPods rejected;
  private final SimpleInboundEventSource<NumaPolicy> events =
      new SimpleInboundEventSource<>("cluster");
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofVirtual().name("policy-pace").factory());
  private final PolicyPace pace;

  PolicyReconciler(
      ClusterCache cache,
      Writer writer,
      Parts parts,
      KubeletDeliveries deliveries,
      ClusterViews views,
      RolloutPass rollout,
      DrainedNodes drained,
      RejectedPods rejected) {
    this.cache = cache;
    this.writer = writer;
    this.parts = parts;
    this.deliveries = deliveries;
    this.views = views;
    this.rollout = rollout;
    this.drained = drained;
    this.rejected = rejected;
    pace =
        new PolicyPace(
            policy -> events.propagateEvent(new ResourceID(policy)),
            (delay, action) -> timer.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS),
            System::nanoTime);
  }

  @PreDestroy
  void stop() {
    timer.shutdownNow();
  }

  @Override
  public UpdateControl<NumaPolicy> reconcile(NumaPolicy policy, Context<NumaPolicy> context) {
    pace.began(policy.getMetadata().getName());
    long began = THREADS.getCurrentThreadCpuTime();
    try {
      return pass(policy);
    } finally {
      pace.passed(
          policy.getMetadata().getName(),
          Duration.ofNanos(THREADS.getCurrentThreadCpuTime() - began));
    }
  }

  private UpdateControl<NumaPolicy> pass(NumaPolicy policy) {
    cache.policies().wrote(policy);
    if (Restoration.isFinalizerToBeChanged(policy)) {
      writer.finalizer(policy, Restoration.isWanted(policy));
    }
    var problems = new LinkedHashMap<>(parts.apply(policy));
    RolloutSettings.fault(policy.getSpec().rollout)
        .ifPresent(
            fault ->
                problems.put("KubeletsConfigured", Verdict.no("MaintenanceWindowsInvalid", fault)));
    var cluster = deliveries.view(parts.schedulerState());
    views.passed(cluster);
    var claim = claim(policy, cluster);
    deliveries
        .apply(policy, cluster)
        .ifPresent(problem -> problems.putIfAbsent(Parts.KUBELETS, problem));
    var outcome = rollout.proceed(policy, () -> assess(policy, cache, cluster));
    new PolicySummary(policy, outcome.assessments())
        .status(claim.conflicts(), problems, rejected::loopsOn)
        .ifPresent(status -> writer.status(policy, status));
    outcome.rethrow();
    return outcome
        .due()
        .map(due -> UpdateControl.<NumaPolicy>noUpdate().rescheduleAfter(until(due)))
        .orElseGet(UpdateControl::noUpdate);
  }

  private static Duration until(Instant due) {
    var left = Duration.between(Instant.now(), due);
    return left.compareTo(SOON) < 0 ? SOON : left;
  }

  /** The nodes that this policy selects but does not get. */
  private record Claim(List<String> conflicts) {}

  /**
   * A node stays with the policy that has it; a free one goes to the oldest policy that selects it.
   */
  private Claim claim(NumaPolicy policy, ClusterView cluster) {
    var live = cache.livePolicies();
    var name = policy.getMetadata().getName();
    var selected = cache.nodes().list().filter(n -> Nodes.isSelected(policy, n)).toList();
    writer.claim(
        selected.stream()
            .filter(node -> cache.states().get(node.getMetadata().getName()).isEmpty())
            .filter(node -> holder(node, live).filter(name::equals).isPresent())
            .toList(),
        node -> NodeAssessment.ofUnclaimed(policy, node, cluster).desiredSpec());
    return new Claim(
        selected.stream()
            .flatMap(
                n ->
                    holder(n, live).filter(h -> !h.equals(name)).stream()
                        .map(h -> n.getMetadata().getName() + " (" + h + ")"))
            .sorted()
            .toList());
  }

  private Optional<String> holder(Node node, List<NumaPolicy> oldestFirst) {
    return cache
        .states()
        .get(node.getMetadata().getName())
        .map(s -> s.getSpec().policy)
        .or(
            () ->
                oldestFirst.stream()
                    .filter(p -> Nodes.isSelected(p, node))
                    .map(p -> p.getMetadata().getName())
                    .findFirst());
  }

  /** How the nodes stand that it has; which plans are approved depends on those of all of them. */
  static List<NodeAssessment> assess(NumaPolicy policy, ClusterCache cache, ClusterView cluster) {
    var nodes = nodes(policy, cache, cluster);
    var approval = Approvals.of(policy, PolicySummary.plans(nodes).values());
    return nodes.stream().map(node -> node.with(approval)).toList();
  }

  private static List<NodeAssessment> nodes(
      NumaPolicy policy, ClusterCache cache, ClusterView cluster) {
    return cache.statesOf(policy.getMetadata().getName()).stream()
        .flatMap(
            state ->
                cache.nodes().get(state.getMetadata().getName()).stream()
                    .filter(node -> Nodes.isSelected(policy, node))
                    .map(node -> NodeAssessment.of(policy, state, node, cluster)))
        .toList();
  }

  static boolean isPaused(NumaPolicy policy) {
    return Optional.ofNullable(policy.getMetadata().getAnnotations())
        .map(a -> "true".equals(a.get(Names.PAUSED_ANNOTATION)))
        .orElse(false);
  }

  static boolean specsDiffer(NumaPolicy old, NumaPolicy policy) {
    return !Objects.equals(old.getMetadata().getGeneration(), policy.getMetadata().getGeneration())
        || isPaused(old) != isPaused(policy)
        || old.getMetadata().getDeletionTimestamp()
            == null
            != (policy.getMetadata().getDeletionTimestamp() == null);
  }

  /** What makes a scheduler with a cache restart; free resources do not. */
  private static boolean topologiesDiffer(NodeResourceTopology old, NodeResourceTopology topology) {
    return !TopologyRevision.of(List.of(old)).equals(TopologyRevision.of(List.of(topology)));
  }

  static boolean statesDiffer(NumaNodeState old, NumaNodeState state) {
    return !old.getMetadata().getResourceVersion().equals(state.getMetadata().getResourceVersion());
  }

  @Override
  public List<EventSource<?, NumaPolicy>> prepareEventSources(
      EventSourceContext<NumaPolicy> context) {
    Runnable all =
        () -> cache.livePolicies().stream().map(p -> p.getMetadata().getName()).forEach(pace::add);
    cache.nodes().onChange(Nodes::differ, node -> all.run());
    cache
        .policies()
        .onChange(
            PolicyReconciler::specsDiffer,
            policy -> {
              if (cache.policies().get(policy.getMetadata().getName()).isEmpty()) {
                rollout.forget(policy.getMetadata().getName());
              }
              all.run();
            });
    cache
        .states()
        .onChange(
            PolicyReconciler::statesDiffer,
            state -> {
              if (cache.states().get(state.getMetadata().getName()).isEmpty()) {
                all.run(); // let go: another policy may want the node
              } else {
                pace.add(state.getSpec().policy);
              }
            });
    cache.topologies().onChange(PolicyReconciler::topologiesDiffer, topology -> all.run());
    cache.agentPods().onChange(NodeAssessment::agentPodsDiffer, pod -> all.run());
    cache.proofPods().onChange(ProofPass::differ, pod -> all.run());
    parts.onChange(all);
    drained.onChange(all);
    rejected.onChange(all);
    deliveries.onChange(all);
    return List.of(events);
  }
}
