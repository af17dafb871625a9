package io.numaoperator.plan.scheduler;

import java.util.Optional;

/** What was looked up for a scheduler's plan, for tests. */
public final class Seen {
  private Seen() {}

  /** Topologies of this revision, and an API server that has all kinds. */
  public static SchedulerFacts topologies(String revision) {
    return new SchedulerFacts(Optional.of(revision), true);
  }

  /** No NodeResourceTopology yet. */
  public static SchedulerFacts noTopologies() {
    return new SchedulerFacts(Optional.empty(), true);
  }

  /** An API server before 1.36. */
  public static SchedulerFacts oldApiServer() {
    return new SchedulerFacts(Optional.of("r1"), false);
  }
}
