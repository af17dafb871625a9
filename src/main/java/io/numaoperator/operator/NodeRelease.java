package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.rollout.Gangs;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.Rollout;
import io.numaoperator.rollout.RolloutSettings;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Instant;
import java.util.List;

/**
 * Lets go of a node that no policy has any more: an attempt that runs comes to its end, the node
 * goes back into service if it was us who took it out, then its state is deleted. Its kubelet stays
 * as it is.
 */
@ApplicationScoped
class NodeRelease {
  private final RolloutExecutor executor;
  private final Writer writer;

  @Inject
  NodeRelease(RolloutExecutor executor, Writer writer) {
    this.executor = executor;
    this.writer = writer;
  }

  void proceed(NumaNodeState state, Node node) {
    var progress = NodeAssessment.withoutPolicy(state, node);
    var actions =
        Rollout.decide(List.of(progress), RolloutSettings.WIND_DOWN, Gangs.NONE, Instant.now())
            .actions();
    if (!actions.isEmpty()) {
      actions.forEach(action -> executor.execute(state.getSpec().policy, action, node, state));
    } else if (!progress.underChange() && !(progress.cordon() instanceof Cordon.Ours)) {
      if (Nodes.isLabelledAligned(node) || progress.drain().givenUp().isPresent()) {
        writer.forget(node);
      }
      writer.delete(state);
    }
  }
}
