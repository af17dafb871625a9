package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.SharedSettings;
import io.numaoperator.plan.agent.AgentPlan;
import io.numaoperator.plan.agent.AgentPlan.UnderChange;
import io.numaoperator.plan.scheduler.BuiltInScheduler;
import io.numaoperator.plan.scheduler.KaiFacts;
import io.numaoperator.plan.scheduler.SchedulerProvider;
import io.numaoperator.plan.scheduler.SchedulerProviders;
import io.numaoperator.plan.updater.TopologyUpdaterProvider;
import io.numaoperator.plan.updater.TopologyUpdaterProviders;
import io.numaoperator.readiness.Verdict;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.security.GeneralSecurityException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Applies what the providers of the four parts want. All of it is planned from all policies
 * together, whichever policy is being reconciled: agent, updater and scheduler are the cluster's.
 */
@ApplicationScoped
class Parts {
  private static final Logger LOG = Logger.getLogger(Parts.class);
  private static final String DEVICES = "DevicesReporting";
  private static final String TOPOLOGY = "TopologyPublished";
  private static final String SCHEDULER = "SchedulerReady";
  static final String KUBELETS = "KubeletsConfigured";

  private final ClusterCache cache;
  private final ManagedObjects objects;
  private final Cluster cluster;
  private final BuiltInExtender extender;
  private final DevicePlugins devicePlugins;
  private final Schedulers schedulers;
  private final TopologyCare topologyCare;
  private final Kai kai;
  private final Contributions contributions;
  private final AgentStory story;
  private final AgentUpdates agentUpdates;
  private final Lock agents = new ReentrantLock();

  @Inject
  Parts(
      ClusterCache cache,
      ManagedObjects objects,
      Cluster cluster,
      BuiltInExtender extender,
      DevicePlugins devicePlugins,
      Schedulers schedulers,
      TopologyCare topologyCare,
      Kai kai,
      Contributions contributions,
      AgentStory story,
      AgentUpdates agentUpdates) {
    this.story = story;
    this.agentUpdates = agentUpdates;
    this.devicePlugins = devicePlugins;
    this.kai = kai;
    this.contributions = contributions;
    this.topologyCare = topologyCare;
    this.schedulers = schedulers;
    this.extender = extender;
    this.cache = cache;
    this.objects = objects;
    this.cluster = cluster;
  }

  /**
   * @param action called when a policy's parts may have to be applied anew, or stand otherwise now
   */
  void onChange(Runnable action) {
    objects.onChange(action);
    devicePlugins.onChange(action);
    schedulers.onChange(concerned -> action.run());
    kai.onChange(action);
  }

  /**
   * @param action called with the nodes that are to be judged anew because of what a part is like
   *     now
   */
  void onNodeChange(Consumer<Predicate<String>> action) {
    devicePlugins.onChange(() -> action.accept(node -> true));
    schedulers.onChange(action);
  }

  /**
   * @return what keeps a part of this policy from being as it wants: condition type → verdict
   */
  Map<String, Verdict> apply(NumaPolicy policy) {
    var policies = cache.livePolicies();
    var facts = cluster.facts();
    var problems = new LinkedHashMap<String, Verdict>();
    problems.putAll(agent(facts));
    devices(policy, policies, facts).ifPresent(problem -> problems.put(DEVICES, problem));
    cache
        .shared()
        .ifPresent(
            shared -> {
              problems.putAll(
                  one(TOPOLOGY, action(shared, Part.TOPOLOGY_UPDATER), updater(shared, facts)));
              problems.putAll(
                  one(SCHEDULER, action(shared, Part.SCHEDULER), () -> scheduler(shared, facts)));
              if (shared.enforced()) {
                topologyCare.proceed(shared.topologyUpdater().provider, schedulers.mayBeBuiltIn());
              }
              conflicts(policy, shared).forEach(problems::put);
            });
    return problems;
  }

  /** Mode Observe tells what stands in the way, and neither makes nor takes away anything. */
  private Function<Provision, Optional<Verdict>> action(SharedSettings shared, Part part) {
    return shared.enforced() ? provision -> apply(part, provision) : Parts::told;
  }

  private Supplier<Provision> updater(SharedSettings shared, ClusterFacts facts) {
    return () ->
        TopologyUpdaterProviders.of(shared.topologyUpdater().provider)
            .plan(
                new TopologyUpdaterProvider.Input(
                    facts, served(shared, Part.TOPOLOGY_UPDATER), shared.topologyUpdater()));
  }

  /**
   * Those that a part is made for: they enforce it, or are in mode Observe by now and it was made
   * for them before.
   */
  private List<NumaPolicy> served(SharedSettings shared, Part part) {
    var policies = cache.livePolicies();
    if (!shared.enforced()) {
      return policies;
    }
    var owners = objects.owners(part);
    return policies.stream()
        .filter(
            policy ->
                SharedSettings.enforces(policy) || owners.contains(policy.getMetadata().getUid()))
        .toList();
  }

  /**
   * Who needs an agent is looked at within the lock: of two policies that are reconciled at once,
   * the one with the older view must not have the last word.
   */
  private Map<String, Verdict> agent(ClusterFacts facts) {
    agents.lock();
    try {
      var policies = cache.livePolicies();
      var planned = AgentPlan.objects(facts, policies, underChange(policies));
      story.unconfined(policies, planned.remarks());
      agentUpdates.wants(AgentPlan.template(facts));
      var problems =
          one(KUBELETS, provision -> apply(Part.AGENT, provision), planned::withoutRemarks);
      if (problems.isEmpty()) {
        agentUpdates.proceed(node -> isSelected(node, policies));
      }
      return problems;
    } finally {
      agents.unlock();
    }
  }

  /** Cordoned ones too: the objects are theirs before the grant, which a later pass gives. */
  private List<UnderChange> underChange(List<NumaPolicy> policies) {
    return cache
        .states()
        .list()
        .flatMap(
            state ->
                cache.nodes().get(state.getMetadata().getName()).stream()
                    .filter(node -> NodeAssessment.withoutPolicy(state, node).begun())
                    .map(node -> new UnderChange(state, isSelected(node, policies))))
        .toList();
  }

  private static boolean isSelected(Node node, List<NumaPolicy> policies) {
    return policies.stream().anyMatch(policy -> Nodes.isSelected(policy, node));
  }

  private Optional<Verdict> devices(
      NumaPolicy policy, List<NumaPolicy> policies, ClusterFacts facts) {
    return guarded(
        () ->
            Optional.ofNullable(
                devicePlugins.apply(policies, facts).get(policy.getSpec().devicePlugin.provider)));
  }

  /** Looks at the pods that hold GPUs of the node. */
  void look(NumaNodeState state) {
    devicePlugins.look(state);
  }

  boolean isToBeLookedAtAgain(NumaNodeState state) {
    return devicePlugins.isToBeLookedAtAgain(state);
  }

  /** Plans one part and acts on it; a failure of one does not hold up the others. */
  private static Map<String, Verdict> one(
      String condition, Function<Provision, Optional<Verdict>> action, Supplier<Provision> plan) {
    return guarded(() -> action.apply(plan.get())).map(v -> Map.of(condition, v)).orElse(Map.of());
  }

  private static Optional<Verdict> guarded(Supplier<Optional<Verdict>> action) {
    try {
      return action.get();
    } catch (ManagedObjects.NotOursException notOurs) {
      return Optional.of(Verdict.no("NotOurs", notOurs.getMessage()));
    } catch (KubernetesClientException refused) {
      if (refused.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return Optional.of(
            Verdict.no(
                "FieldConflict",
                "its owner sets a field that this policy wants otherwise; it is left as it is: "
                    + refused.getMessage()));
      }
      return Optional.of(
          Verdict.no("ApplyFailed", "the API server refused an object: " + refused.getMessage()));
    }
  }

  private Optional<Verdict> apply(Part part, Provision provision) {
    if (provision instanceof Provision.Objects planned) {
      objects.apply(part, planned.objects());
      if (part == Part.SCHEDULER) {
        contributions.apply(planned.contributions(), kai.objects().toList());
        extender.forget();
      }
    }
    return told(provision);
  }

  private static Optional<Verdict> told(Provision provision) {
    if (!(provision instanceof Provision.Objects planned)) {
      return Problems.of(provision);
    }
    return planned.remarks().stream()
        .findFirst()
        .map(remark -> Verdict.unknown(remark.reason(), remark.message()));
  }

  private static Map<String, Verdict> conflicts(NumaPolicy policy, SharedSettings shared) {
    return shared.conflicts().stream()
        .filter(c -> c.policy().equals(policy.getMetadata().getName()))
        .collect(
            Collectors.toMap(
                c -> c.field().equals("scheduler") ? SCHEDULER : TOPOLOGY,
                c ->
                    Verdict.no(
                        "Conflict",
                        "spec.%s is the cluster's, and policy %s, which is older, wants it otherwise:"
                                .formatted(c.field(), c.senior())
                            + " make them equal")));
  }

  /** To be called on every replica, whether it leads or not. */
  void serveExtender() {
    cache
        .shared()
        .map(shared -> scheduler(shared, cluster.facts()))
        .ifPresentOrElse(
            plan -> {
              if (plan instanceof Provision.Refused refused) {
                LOG.warnf("scheduler: %s: %s", refused.reason(), refused.message());
              }
            },
            extender::stop);
  }

  /** Fields of ours in KAI's objects may also be left of a former provider. */
  private KaiFacts kai(SharedSettings shared) {
    return shared.scheduler().provider == SchedulerPolicy.Provider.KAI
        ? kai.facts()
        : KaiFacts.absent();
  }

  /** The extender serves before the scheduler that asks it is made. */
  private Provision scheduler(SharedSettings shared, ClusterFacts facts) {
    var input =
        new SchedulerProvider.Input(
            facts,
            served(shared, Part.SCHEDULER),
            shared.scheduler(),
            cluster.schedulerFacts(kai(shared)));
    var plan = SchedulerProviders.of(shared.scheduler().provider).plan(input);
    schedulers.inForce(plan, input);
    if (!(plan instanceof Provision.Objects planned)
        || !BuiltInScheduler.isMadeBy(planned)
        || !(shared.enforced() || schedulers.isBuiltInThere())) {
      extender.stop();
      return plan;
    }
    try {
      extender.serve(shared.scheduler());
      return plan;
    } catch (IOException | GeneralSecurityException e) {
      return new Provision.Refused(
          "ExtenderFailed", "the extender cannot serve: " + e.getMessage());
    }
  }

  /**
   * Whether a scheduler that reads NodeResourceTopology objects is at work now, by what is seen.
   */
  SchedulerState schedulerState() {
    return schedulers.state();
  }
}
