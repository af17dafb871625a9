package io.numaoperator.rollout;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Phase;
import java.util.List;
import java.util.Optional;

/** One step that the operator takes on one node; each is idempotent. */
public sealed interface Action {
  String node();

  /**
   * Takes the node out of service for an attempt.
   *
   * @param phase what its drain begins with
   * @param gang what runs on it and on the nodes that are taken together with it
   */
  record Cordon(String node, long attempt, Phase phase, Optional<String> gang) implements Action {}

  /** Notes that its drain goes on to the next phase. */
  record BeginPhase(String node, Phase phase) implements Action {}

  /** Evicts these pods, by the Eviction API; what it refuses is asked again later. */
  record Evict(String node, List<String> pods) implements Action {
    public Evict {
      pods = List.copyOf(pods);
    }
  }

  /** Permits the attempt that the node was cordoned for. */
  record Grant(String node, long attempt, String hash, String bootId) implements Action {}

  /** Takes back a grant that is used up or no longer wanted. */
  record Revoke(String node) implements Action {}

  /** Has the node's device plugin load what is wanted, and notes it. */
  record LoadDevices(String node, String hash) implements Action {}

  /** Notes how that ended; where it failed, what the plugin had before is given back to it. */
  record DevicesLoaded(String node, String hash, boolean back) implements Action {}

  /**
   * Puts a node back into service that we took out.
   *
   * @param givenUp what is remembered of drains that were given up; empty forgets
   */
  record Uncordon(String node, Optional<GivenUp> givenUp) implements Action {}
}
