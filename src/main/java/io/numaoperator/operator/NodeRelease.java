package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.rollout.Action;
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
  /** Nothing is started; what is under way is brought to its end. */
  private static final RolloutSettings WIND_DOWN =
      new RolloutSettings(1, false, true, Duration.ZERO);

  private final RolloutExecutor executor;
  private final Writer writer;

  @Inject
  NodeRelease(RolloutExecutor executor, Writer writer) {
    this.executor = executor;
    this.writer = writer;
  }

  void proceed(NumaNodeState state, Node node) {
    var progress = NodeAssessment.withoutPolicy(state, node);
    List<Action> actions = Rollout.next(List.of(progress), WIND_DOWN, Instant.now());
    if (!actions.isEmpty()) {
      executor.execute(state.getSpec().policy, actions);
    } else if (!progress.underChange() && !(progress.cordon() instanceof Cordon.Ours)) {
      if (Nodes.isLabelledAligned(node)) {
        writer.label(node, false);
      }
      writer.delete(state);
    }
  }
}
