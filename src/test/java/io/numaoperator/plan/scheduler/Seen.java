package io.numaoperator.plan.scheduler;

import io.numaoperator.plan.scheduler.KaiFacts.Installation;
import java.util.List;
import java.util.Optional;

/** What was looked up for a scheduler's plan, for tests. */
public final class Seen {
  private static final KaiFacts FRESH_KAI =
      new KaiFacts(Installation.WithNuma, Optional.empty(), List.of(), List.of());

  private Seen() {}

  /** Topologies of this revision, and an API server that has all kinds and no objects of KAI. */
  public static SchedulerFacts topologies(String revision) {
    return new SchedulerFacts(Optional.of(revision), true, FRESH_KAI);
  }

  /** No NodeResourceTopology yet. */
  public static SchedulerFacts noTopologies() {
    return new SchedulerFacts(Optional.empty(), true, FRESH_KAI);
  }

  /** An API server before 1.36. */
  public static SchedulerFacts oldApiServer() {
    return new SchedulerFacts(Optional.of("r1"), false, FRESH_KAI);
  }

  static SchedulerFacts kai(KaiFacts kai) {
    return new SchedulerFacts(Optional.of("r1"), true, kai);
  }
}
