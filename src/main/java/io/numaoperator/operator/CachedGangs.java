package io.numaoperator.operator;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.rollout.Gangs;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.logging.Logger;

/**
 * Asks about a node once in a while only: one that waits for room for its gang is looked at in
 * every pass. Where the API server does not answer, the node is taken alone: that interrupts a job
 * more often, but holds no rollout up.
 */
final class CachedGangs implements Gangs {
  private static final Logger LOG = Logger.getLogger(CachedGangs.class);
  private static final Duration FRESH = Duration.ofSeconds(45);

  private final Gangs source;
  private final InstantSource clock;
  private final Map<String, Known> known = new ConcurrentHashMap<>();

  /** What was said, and when. */
  private record Known(Instant at, Optional<Gang> gang) {}

  CachedGangs(Gangs source, InstantSource clock) {
    this.source = source;
    this.clock = clock;
  }

  @Override
  public Optional<Gang> of(String node) {
    var now = clock.instant();
    known.values().removeIf(k -> !now.isBefore(k.at().plus(FRESH)));
    return Optional.ofNullable(known.get(node)).map(Known::gang).orElseGet(() -> ask(node, now));
  }

  private Optional<Gang> ask(String node, Instant now) {
    try {
      var gang = source.of(node);
      known.put(node, new Known(now, gang));
      return gang;
    } catch (KubernetesClientException e) {
      LOG.warnf("what node %s runs together with others: %s", node, e.getMessage());
      return Optional.empty();
    }
  }
}
