package io.numaoperator.rollout;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How a node gets free of its pods: what is remembered of it on the Node, and the pods that are
 * there.
 *
 * @param phase what it is at, while the node is out of service for us
 * @param gang what runs on it and on the nodes that were taken together with it
 * @param givenUp earlier drains in a row that did not come to an end, or to one in vain
 * @param residents its pods that are not finished; known while the node is out of service for us
 */
public record Drain(
    Optional<Phase> phase,
    Optional<String> gang,
    Optional<GivenUp> givenUp,
    List<Resident> residents) {
  /** A node that is not drained and never was. */
  public static final Drain NONE =
      new Drain(Optional.empty(), Optional.empty(), Optional.empty(), List.of());

  private static final Duration LONGEST_BACKOFF = Duration.ofHours(12);

  public Drain {
    residents = List.copyOf(residents);
  }

  /** What a drain waits for, and since when. */
  public sealed interface Phase {
    Instant since();

    /** Pods that hold devices or exclusive CPUs come to their end. */
    record Waiting(Instant since) implements Phase {}

    /** Pods are being evicted. */
    record Evicting(Instant since) implements Phase {}
  }

  /**
   * @param count how often in a row
   * @param notBefore when it may be tried again
   * @param why what was in the way the last time, for a person to read
   */
  public record GivenUp(int count, Instant notBefore, String why) {
    static final String REFUSED = "its agent refused the grant";
    static final String NO_AGENT = "its agent does not answer";
    static final String FAILED = "the change was rolled back";

    /** It came as far as the grant. */
    public boolean refused() {
      return why.equals(REFUSED);
    }
  }

  /**
   * A pod on the node.
   *
   * @param name {@code namespace/name}
   * @param kind what becomes of it in a drain
   * @param mayHold it may hold devices or exclusive CPUs that the agent has not told of yet
   * @param terminating it was deleted and is about to end
   */
  public record Resident(String name, Kind kind, boolean mayHold, boolean terminating) {}

  /** What becomes of a pod in a drain. */
  public enum Kind {
    /** Its controller makes another one elsewhere. */
    Replaced,
    /** Nobody makes another one. */
    Bare,
    /** Comes back to the same node at once: left there. */
    DaemonSet,
    /** The kubelet's own, from a file: left there. */
    Static,
    /** This very operator, which goes on from there. */
    Operator
  }

  /**
   * The longer it was waited for in vain, the longer the node is left alone: never less than it was
   * out of service for.
   */
  GivenUp givenUpAgain(Instant now, Duration waited, Duration atLeast, String why) {
    int count = 1 + givenUp.map(GivenUp::count).orElse(0);
    var pause = waited.multipliedBy(1L << Math.min(count - 1, 16));
    pause = pause.compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : pause;
    pause = pause.compareTo(waited) < 0 ? waited : pause;
    pause = pause.compareTo(atLeast) < 0 ? atLeast : pause;
    return new GivenUp(count, now.plus(pause), why);
  }
}
