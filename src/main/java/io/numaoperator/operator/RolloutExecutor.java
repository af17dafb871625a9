package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.RolloutSettings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  @Inject
  RolloutExecutor(
      ClusterCache cache, Writer writer, NodeStory story, DrainedNodes drained, Evictor evictor) {
    this.cache = cache;
    this.writer = writer;
    this.story = story;
    this.drained = drained;
    this.evictor = evictor;
  }

  /**
   * Stops at the first write that the API server refuses: the view was old, decide again.
   *
   * @return by node and pod, why an eviction was refused
   */
  Map<String, Map<String, String>> execute(NumaPolicy policy, List<Action> actions) {
    var grace = RolloutSettings.gracePeriod(policy.getSpec().rollout);
    var refused = new HashMap<String, Map<String, String>>();
    for (var action : actions) {
      if (action instanceof Action.Evict evict) {
        refused.put(evict.node(), evict(evict, grace));
      } else {
        execute(policy.getMetadata().getName(), action);
      }
    }
    return refused;
  }

  /** Any but an eviction. */
  void execute(String policy, Action action) {
    LOG.infof("policy %s: %s", policy, action);
    var before = cache.states().get(action.node());
    switch (action) {
      case Action.Cordon cordon -> writer.cordon(node(action), policy, cordon);
      case Action.BeginPhase begin -> writer.phase(node(action), begin.phase());
      case Action.Uncordon uncordon -> writer.uncordon(node(action), uncordon.givenUp());
      case Action.Grant grant -> writer.grant(state(action), wire(grant));
      case Action.Revoke revoke -> writer.revoke(state(action));
      case Action.Evict evict -> throw new IllegalArgumentException("an eviction: " + evict);
    }
    story.acted(policy, action, node(action), before);
  }

  private Map<String, String> evict(Action.Evict evict, Optional<Duration> grace) {
    var pods =
        evict.pods().stream().flatMap(pod -> drained.pod(evict.node(), pod).stream()).toList();
    return evictor.evict(pods, grace);
  }

  private Node node(Action action) {
    return cache.nodes().get(action.node()).orElseThrow();
  }

  private NumaNodeState state(Action action) {
    return cache.states().get(action.node()).orElseThrow();
  }

  private static NumaNodeStateSpec.Grant wire(Action.Grant grant) {
    var wire = new NumaNodeStateSpec.Grant();
    wire.attempt = grant.attempt();
    wire.hash = grant.hash();
    wire.bootId = grant.bootId();
    return wire;
  }
}
