package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** The API server, as far as one node needs it. */
interface ApiServer {
  /** This agent's Node. */
  NodeView node() throws IOException;

  /** This node's NumaNodeState; empty when the operator has not made it yet. */
  Optional<JsonNode> state() throws IOException;

  /**
   * Reports the NumaNodeState at every change, empty when it was deleted, until the API server ends
   * the watch, the limit has passed or something breaks.
   */
  void watchState(String resourceVersion, Duration limit, Consumer<Optional<JsonNode>> changed)
      throws IOException, InterruptedException;

  /** This node's NodeResourceTopology; empty when there is none. */
  Optional<JsonNode> topology() throws IOException;

  /**
   * Reports this node's NodeResourceTopology at every change, empty when it was deleted, until the
   * API server ends the watch, the limit has passed or something breaks.
   */
  void watchTopology(String resourceVersion, Duration limit, Consumer<Optional<JsonNode>> changed)
      throws IOException, InterruptedException;

  /**
   * Applies this node's NodeResourceTopology (server-side apply as the agent's field manager).
   *
   * @return as the API server has it now
   */
  JsonNode applyTopology(JsonNode topology) throws IOException;

  /**
   * Applies the status (server-side apply as the agent's field manager).
   *
   * @return false when the object does not exist: the agent never creates it
   */
  boolean applyStatus(JsonNode status) throws IOException;
}
