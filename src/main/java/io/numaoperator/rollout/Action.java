package io.numaoperator.rollout;

/** One step that the operator takes on one node; each is idempotent. */
public sealed interface Action {
  String node();

  /** Takes the node out of service for an attempt. */
  record Cordon(String node, long attempt) implements Action {}

  /** Permits the attempt that the node was cordoned for. */
  record Grant(String node, long attempt, String hash, String bootId) implements Action {}

  /** Takes back a grant that is used up or no longer wanted. */
  record Revoke(String node) implements Action {}

  /** Puts a node back into service that we took out. */
  record Uncordon(String node) implements Action {}
}
