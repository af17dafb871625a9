package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.rollout.Action;
import io.numaoperator.rollout.Drain.Phase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RolloutExecutorTest {
  private static final Action REFUSED = new Action.Revoke("a");
  private static final Action LATER = new Action.Uncordon("b", Optional.empty());
  private static final Action CORDON =
      new Action.Cordon("c", 1, new Phase.Waiting(Instant.EPOCH), Optional.empty());

  private final List<Action> done = new ArrayList<>();

  private void carryOut(Action action) {
    if (action.node().startsWith("a")) {
      throw new KubernetesClientException("a webhook says no to " + action.node());
    }
    done.add(action);
  }

  @Test
  void aWriteThatFailsHoldsUpItsOwnNodeOnly() {
    var failure =
        RolloutExecutor.each(
            List.of(REFUSED, new Action.Revoke("a2"), LATER, CORDON), this::carryOut);
    assertThat(done).as("no node is taken out of service on an old view").containsExactly(LATER);
    assertThat(failure.map(Throwable::getMessage)).contains("a webhook says no to a");
  }

  @Test
  void allAreCarriedOut() {
    assertThat(RolloutExecutor.each(List.of(LATER, CORDON), this::carryOut)).isEmpty();
    assertThat(done).containsExactly(LATER, CORDON);
  }
}
