package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import io.numaoperator.api.ListPage;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.NodeReadiness;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** One node: plan what its kubelet should become, and judge what was seen of it. */
@ControllerConfiguration(
    name = "node",
    generationAwareEventProcessing = false,
    informer =
        @Informer(
            itemStore = PrimaryStubs.class,
            onUpdateFilter = ToldByOurCache.class,
            informerListLimit = ListPage.SIZE))
@GradualRetry(maxAttempts = PolicyReconciler.FOR_EVER, maxInterval = PolicyReconciler.LONGEST_PAUSE)
class NodeReconciler implements Reconciler<NumaNodeState> {
  /** That an attempt was abandoned is told by the clock alone. */
  private static final Duration RELEASE_AGAIN = Duration.ofMinutes(1);

  /** HAMi may still move what it accounts for. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(15);

  private final ClusterCache cache;
  private final Writer writer;
  private final NodeRelease release;
  private final Parts parts;
  private final NodeStory story;
  private final CrossingStory crossings;
  private final Waits waits;
  private final KubeletDeliveries deliveries;
  private final ClusterViews views;
  private final SimpleInboundEventSource<NumaNodeState> events =
      new SimpleInboundEventSource<>("cluster");
  private final NodeTurns turns;

  NodeReconciler(
      ClusterCache cache,
      Writer writer,
      NodeRelease release,
      Parts parts,
      NodeStory story,
      CrossingStory crossings,
      Waits waits,
      KubeletDeliveries deliveries,
      ClusterViews views,
      @ConfigProperty(name = "quarkus.operator-sdk.concurrent-reconciliation-threads")
          int threads) {
    this.turns =
        new NodeTurns(
            Math.max(1, threads - 1), // one is the policies'
            node -> events.propagateEvent(new ResourceID(node)),
            System::nanoTime);
    this.story = story;
    this.crossings = crossings;
    this.waits = waits;
    this.parts = parts;
    this.deliveries = deliveries;
    this.views = views;
    this.cache = cache;
    this.writer = writer;
    this.release = release;
  }

  @Override
  public UpdateControl<NumaNodeState> reconcile(
      NumaNodeState primary, Context<NumaNodeState> context) {
    var name = primary.getMetadata().getName();
    try {
      return reconcile(name);
    } finally {
      turns.done(name);
    }
  }

  private UpdateControl<NumaNodeState> reconcile(String name) {
    var node = cache.nodes().get(name);
    var known = cache.states().get(name); // else its coming is told
    if (node.isEmpty()
        || known.isEmpty()
        || known.get().getMetadata().getDeletionTimestamp() != null) {
      return UpdateControl.noUpdate(); // the garbage collector takes it with its Node
    }
    var state = known.get();
    parts.look(state);
    var owner = owner(state, node.get());
    owner.ifPresentOrElse(
        policy -> {
          var waiting = waits.of(policy.getMetadata().getName());
          var cluster = deliveries.view(parts.schedulerState()).waiting(waiting.orElseGet(Map::of));
          plan(policy, node.get(), cluster);
          if (waiting.isPresent()) { // else the policy's first pass calls again
            judge(policy, node.get(), cluster);
          }
        },
        () -> release.proceed(state, node.get()));
    if (owner.isEmpty()) {
      return UpdateControl.<NumaNodeState>noUpdate().rescheduleAfter(RELEASE_AGAIN);
    }
    if (parts.isToBeLookedAtAgain(state)) {
      return UpdateControl.<NumaNodeState>noUpdate().rescheduleAfter(LOOK_AGAIN);
    }
    return UpdateControl.noUpdate();
  }

  private Optional<NumaPolicy> owner(NumaNodeState state, Node node) {
    return cache.livePolicies().stream()
        .filter(p -> p.getMetadata().getName().equals(state.getSpec().policy))
        .filter(p -> Nodes.isSelected(p, node))
        .findFirst();
  }

  private void plan(NumaPolicy policy, Node node, ClusterView cluster) {
    var state = cache.states().get(node.getMetadata().getName()).orElseThrow();
    var desired = NodeAssessment.of(policy, state, node, cluster).desiredSpec();
    if (!Json.same(desired.kubelet, state.getSpec().kubelet)
        || !Json.same(desired.topology, state.getSpec().topology)) {
      writer.plan(node, desired);
    }
  }

  private void judge(NumaPolicy policy, Node node, ClusterView cluster) {
    var state = cache.states().get(node.getMetadata().getName()).orElseThrow();
    var assessment = NodeAssessment.of(policy, state, node, cluster);
    var conditions = assessment.conditions(Instant.now());
    var report = assessment.standing().report();
    if (!Conditions.same(NodeAssessment.conditions(state), conditions)) {
      assessment.standing().drift().ifPresent(what -> story.drifted(node, state, what));
    }
    if (!Conditions.same(NodeAssessment.conditions(state), conditions)
        || !Json.same(report.orElse(null), NodeAssessment.plan(state).orElse(null))) {
      writer.judgement(state, conditions, report);
    }
    var aligned = Conditions.isTrue(conditions, NodeReadiness.ALIGNMENT);
    if (aligned != Nodes.isLabelledAligned(node)) {
      writer.label(node, aligned);
    }
    crossings.look(state);
    if (aligned && SharedSettings.enforces(policy)) {
      takeIntoService(policy, node.getMetadata().getName());
    }
  }

  /** A new node is ready for pods. */
  private void takeIntoService(NumaPolicy policy, String name) {
    var taint = Optional.ofNullable(policy.getSpec().rollout.startupTaint);
    cache
        .nodes()
        .get(name)
        .filter(node -> taint.isPresent() && Nodes.isTainted(node, taint.get()))
        .ifPresent(node -> writer.untaint(node, taint.get()));
  }

  @Override
  public List<EventSource<?, NumaNodeState>> prepareEventSources(
      EventSourceContext<NumaNodeState> context) {
    cache
        .states()
        .onChange(PolicyReconciler::statesDiffer, state -> look(state.getMetadata().getName()));
    cache.nodes().onChange(Nodes::differ, node -> look(node.getMetadata().getName()));
    cache
        .agentPods()
        .onChange(
            NodeAssessment::agentPodsDiffer,
            pod -> Optional.ofNullable(pod.getSpec().getNodeName()).ifPresent(this::look));
    cache
        .policies()
        .onChange(
            (old, policy) ->
                PolicyReconciler.specsDiffer(old, policy) || Approvals.differ(old, policy),
            policy ->
                cache
                    .statesOf(policy.getMetadata().getName())
                    .forEach(state -> look(state.getMetadata().getName())));
    waits.onChange(this::look);
    Consumer<Predicate<String>> nodes =
        concerned ->
            cache
                .states()
                .list()
                .map(state -> state.getMetadata().getName())
                .filter(concerned)
                .forEach(this::look);
    parts.onNodeChange(nodes);
    views.onChange(nodes);
    deliveries.onChange(() -> nodes.accept(node -> true));
    return List.of(events);
  }

  private void look(String node) {
    var state = cache.states().get(node);
    if (state.filter(s -> s.getMetadata().getDeletionTimestamp() == null).isPresent()) {
      turns.add(node);
    } else {
      turns.gone(node); // its coming is told
    }
  }
}
