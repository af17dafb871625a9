package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.rollout.Gangs;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.Rollout;
import io.numaoperator.rollout.RolloutSettings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Lets go of a node that no policy has any more: an attempt that runs comes to its end, the node
 * goes back into service if it was us who took it out, then its state is deleted. Its kubelet stays
 * as it is.
 */
@ApplicationScoped
class NodeRelease {
  /** Nobody goes on with an attempt that was last heard of before this. */
  private static final Duration ABANDONED_AFTER = Duration.ofMinutes(15);

  private final ClusterCache cache;
  private final RolloutExecutor executor;
  private final ProofPass proofs;
  private final Writer writer;

  @Inject
  NodeRelease(ClusterCache cache, RolloutExecutor executor, ProofPass proofs, Writer writer) {
    this.proofs = proofs;
    this.cache = cache;
    this.executor = executor;
    this.writer = writer;
  }

  void proceed(NumaNodeState state, Node node) {
    var known = NodeAssessment.withoutPolicy(state, node);
    var progress =
        known.underChange()
                && isAbandoned(known, cache.agentPod(known.name()).isPresent(), Instant.now())
            ? known.abandoned()
            : known;
    var actions =
        Rollout.decide(List.of(progress), RolloutSettings.WIND_DOWN, Gangs.NONE, Instant.now())
            .actions();
    proofs.end(state, node);
    if (!actions.isEmpty()) {
      actions.forEach(action -> executor.execute(state.getSpec().policy, action, node, state));
    } else if (!progress.underChange() && !(progress.cordon() instanceof Cordon.Ours)) {
      if (Nodes.isLabelledAligned(node) || progress.drain().givenUp().isPresent()) {
        writer.forget(node);
      }
      writer.delete(state);
    }
  }

  /**
   * Its agent went in the middle of it, by somebody's hand, and nothing brings another one. The
   * kubelet runs, with the change or, by the guard, without: a cordon for ever helps nobody.
   */
  static boolean isAbandoned(NodeProgress node, boolean hasAgent, Instant now) {
    return node.underChange()
        && !hasAgent
        && node.nodeReady()
        && node.attempt().filter(a -> a.since().isBefore(now.minus(ABANDONED_AFTER))).isPresent();
  }
}
