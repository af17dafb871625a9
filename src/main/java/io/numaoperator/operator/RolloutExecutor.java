package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.ProofPlan;
import io.numaoperator.rollout.RolloutSettings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/** Carries out what the rollout decided. */
@ApplicationScoped
class RolloutExecutor {
  private static final Logger LOG = Logger.getLogger(RolloutExecutor.class);

  private final ClusterCache cache;
  private final Writer writer;
  private final NodeStory story;
  private final DrainedNodes drained;
  private final Evictor evictor;
  private final DeviceLoader loader;

  @Inject
  RolloutExecutor(
      ClusterCache cache,
      Writer writer,
      NodeStory story,
      DrainedNodes drained,
      Evictor evictor,
      DeviceLoader loader) {
    this.loader = loader;
    this.cache = cache;
    this.writer = writer;
    this.story = story;
    this.drained = drained;
    this.evictor = evictor;
  }

  /**
   * @param refused by node and pod, why an eviction was refused
   * @param failure the first write that failed: the view was old, or the API server does not want
   *     it; to be decided again
   */
  record Executed(
      Map<String, Map<String, String>> refused, Optional<KubernetesClientException> failure) {}

  /**
   * @param nodes what was decided on, by name: writes carry the versions of these objects
   */
  Executed execute(NumaPolicy policy, List<Action> actions, Map<String, NodeAssessment> nodes) {
    var name = policy.getMetadata().getName();
    var grace = RolloutSettings.gracePeriod(policy.getSpec().rollout);
    var refused = new HashMap<String, Map<String, String>>();
    var failure =
        each(
            actions,
            action -> {
              if (action instanceof Action.Evict evict) {
                refused.put(evict.node(), evict(name, evict, grace));
              } else if (isStillWanted(name, action) && isWritten(action, nodes)) {
                execute(name, action, nodes.get(action.node()));
              }
            });
    return new Executed(refused, failure);
  }

  /**
   * A write that fails, perhaps always, holds up its own node only. But after it no further node is
   * taken out of service: the view may be old, and the budget with it.
   *
   * @return the first failure
   */
  static Optional<KubernetesClientException> each(List<Action> actions, Consumer<Action> one) {
    var failed = new HashSet<String>();
    Optional<KubernetesClientException> first = Optional.empty();
    for (var action : actions) {
      if (failed.contains(action.node())
          || (first.isPresent() && action instanceof Action.Cordon)) {
        continue;
      }
      try {
        one.accept(action);
      } catch (KubernetesClientException e) {
        LOG.warnf("%s: %s", action, e.getMessage());
        failed.add(action.node());
        first = first.or(() -> Optional.of(e));
      }
    }
    return first;
  }

  /**
   * The node may have been let go since the decision, with its policy: a cordon would then be one
   * that nobody takes back.
   */
  private boolean isStillWanted(String policy, Action action) {
    return !(action instanceof Action.Cordon)
        || cache
            .states()
            .get(action.node())
            .filter(state -> policy.equals(state.getSpec().policy))
            .isPresent();
  }

  /** A grant is for what the agent reads. */
  private static boolean isWritten(Action action, Map<String, NodeAssessment> nodes) {
    return !(action instanceof Action.Grant) || nodes.get(action.node()).isWritten();
  }

  private void execute(String policy, Action action, NodeAssessment node) {
    switch (action) {
      case Action.LoadDevices load -> loader.load(node.node(), node.devices(), load);
      case Action.DevicesLoaded loaded -> loader.loaded(node.node(), node.devices(), loaded);
      default -> {
        execute(policy, action, node.node(), node.state());
        return;
      }
    }
    LOG.infof("policy %s: %s", policy, action);
    story.acted(policy, action, node.node(), Optional.of(node.state()));
  }

  /**
   * Any but an eviction, and what concerns device plugins.
   *
   * @param node as it was decided on, and so is the state
   */
  void execute(String policy, Action action, Node node, NumaNodeState state) {
    LOG.infof("policy %s: %s", policy, action);
    switch (action) {
      case Action.Cordon cordon -> writer.cordon(node, policy, cordon);
      case Action.BeginPhase begin -> writer.phase(node, begin.phase());
      case Action.Uncordon uncordon -> writer.uncordon(node, uncordon.givenUp());
      case Action.Grant grant -> writer.grant(state, wire(grant, isToBeProven(policy, state)));
      case Action.Revoke revoke -> writer.revoke(state);
      case Action.Evict evict -> throw new IllegalArgumentException("an eviction: " + evict);
      case Action.LoadDevices load -> throw new IllegalArgumentException("without policy: " + load);
      case Action.DevicesLoaded loaded ->
          throw new IllegalArgumentException("without policy: " + loaded);
    }
    story.acted(policy, action, node, Optional.of(state));
  }

  private Map<String, String> evict(String policy, Action.Evict evict, Optional<Duration> grace) {
    var pods =
        evict.pods().stream()
            .flatMap(pod -> drained.pod(policy, evict.node(), pod).stream())
            .toList();
    return evictor.evict(pods, grace);
  }

  /** Where there is nothing that pods could show, the attempt need not wait for a word. */
  private boolean isToBeProven(String policy, NumaNodeState state) {
    return cache
            .policies()
            .get(policy)
            .filter(p -> Boolean.TRUE.equals(p.getSpec().rollout.verification.proofPod))
            .isPresent()
        && Optional.ofNullable(state.getSpec().kubelet)
            .flatMap(kubelet -> Optional.ofNullable(kubelet.fragment))
            .filter(fragment -> ProofPlan.needless(fragment).isEmpty())
            .isPresent();
  }

  private static NumaNodeStateSpec.Grant wire(Action.Grant grant, boolean proof) {
    var wire = new NumaNodeStateSpec.Grant();
    wire.attempt = grant.attempt();
    wire.hash = grant.hash();
    wire.bootId = grant.bootId();
    wire.proof = proof ? new NumaNodeStateSpec.Proof() : null;
    return wire;
  }
}
