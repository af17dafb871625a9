package io.numaoperator.explain;

import java.util.List;

/**
 * A loop with its cause.
 *
 * @param cause why the newest of its pods was rejected, in numbers
 */
public record ExplainedLoop(Loop loop, String cause) {
  /** For example "Deployment train/llm: at least 5 pods rejected since 12:00 by gpu-1: needs…". */
  public String text() {
    return "%s: at least %d pods rejected within 10 minutes by %s; the last: %s"
        .formatted(loop.name(), loop.podsTold(), Numbers.listed(List.copyOf(loop.nodes())), cause);
  }
}
