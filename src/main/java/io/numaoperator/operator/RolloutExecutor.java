package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.rollout.Action;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.List;
import org.jboss.logging.Logger;

/** Carries out what the rollout decided. */
@ApplicationScoped
class RolloutExecutor {
  private static final Logger LOG = Logger.getLogger(RolloutExecutor.class);

  private final ClusterCache cache;
  private final Writer writer;
  private final NodeStory story;

  @Inject
  RolloutExecutor(ClusterCache cache, Writer writer, NodeStory story) {
    this.cache = cache;
    this.writer = writer;
    this.story = story;
  }

  /** Stops at the first write that the API server refuses: the view was old, decide again. */
  void execute(String policy, List<Action> actions) {
    for (var action : actions) {
      LOG.infof("policy %s: %s", policy, action);
      var before = cache.states().get(action.node());
      switch (action) {
        case Action.Cordon cordon -> writer.cordon(node(action), policy, cordon.attempt());
        case Action.Uncordon uncordon -> writer.uncordon(node(action));
        case Action.Grant grant -> writer.grant(state(action), wire(grant));
        case Action.Revoke revoke -> writer.revoke(state(action));
      }
      story.acted(policy, action, node(action), before);
    }
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
