package io.numaoperator.rollout;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What to do now, and why nothing is done about the others.
 *
 * @param actions at most one a node
 * @param waits what each node waits for that has to be changed and is not acted on, by node
 * @param due when time alone may change the decision
 */
public record Decision(List<Action> actions, Map<String, Wait> waits, Optional<Instant> due) {
  public Decision {
    actions = List.copyOf(actions);
    waits = Map.copyOf(waits);
  }
}
