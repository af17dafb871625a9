package io.numaoperator.plan.scheduler;

import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import java.util.List;
import java.util.Optional;

/**
 * What there is of KAI Scheduler.
 *
 * @param installation whether its kinds are there
 * @param config the one Config that counts
 */
public record KaiFacts(
    Installation installation,
    Optional<KaiConfig> config,
    List<SchedulingShard> shards,
    List<KaiQueue> queues) {

  /** By its CustomResourceDefinitions. */
  public enum Installation {
    Absent,
    /** Before v0.16: its Config knows no placement exporter, and its scheduler no numa plugin. */
    WithoutNuma,
    WithNuma
  }

  public KaiFacts {
    shards = List.copyOf(shards);
    queues = List.copyOf(queues);
  }

  public static KaiFacts absent() {
    return new KaiFacts(Installation.Absent, Optional.empty(), List.of(), List.of());
  }

  Optional<SchedulingShard> shard(String name) {
    return shards.stream().filter(s -> s.getMetadata().getName().equals(name)).findFirst();
  }
}
