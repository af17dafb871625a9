package io.numaoperator.rollout;

import java.util.Optional;
import java.util.Set;

/**
 * Nodes that run pods of one job: interrupting it once is better than node by node. Asked only for
 * a node that is about to be taken.
 */
@FunctionalInterface
public interface Gangs {
  /** Nobody asks. */
  Gangs NONE = node -> Optional.empty();

  /**
   * @param name what runs there, for a person to read, such as {@code Job train/llm}
   * @param nodes all nodes that it runs on, the asked one included
   */
  record Gang(String name, Set<String> nodes) {
    public Gang {
      nodes = Set.copyOf(nodes);
    }
  }

  /** The job that this node shares with most others. */
  Optional<Gang> of(String node);
}
