package io.numaoperator.rollout;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a node that has to be changed waits for. Instants instead of what is left of them: a message
 * that counted down would be written again and again.
 */
public sealed interface Wait {
  /**
   * Its turn within the budget.
   *
   * @param others nodes that use up the budget and that we did not take out of service; told to the
   *     next in turn only
   */
  record Turn(int maxUnavailable, List<String> others) implements Wait {}

  /** The budget, for the whole of a gang at once. */
  record Together(String gang, int nodes, int maxUnavailable) implements Wait {}

  /** Nothing is started because these failed. */
  record Stopped(List<String> failed) implements Wait {}

  /** A maintenance window; none opens when the instant is empty. */
  record Window(Optional<Instant> opens) implements Wait {}

  /**
   * The canaries.
   *
   * @param nodes those that are not there yet, or still soak
   * @param until the end of the soak time, once all are changed and ready
   */
  record Canary(List<String> nodes, Optional<Instant> until) implements Wait {}

  /** The time after which a refused grant, or a change that somebody undid, is tried again. */
  record Retry(Instant at) implements Wait {}

  /** The time after which a change that was given up is tried again. */
  record Backoff(Drain.GivenUp givenUp) implements Wait {}

  /**
   * Out of service: pods that hold devices or exclusive CPUs have to end.
   *
   * @param until when it is given up
   */
  record Pods(List<String> pods, Optional<Instant> until, Optional<String> gang) implements Wait {}

  /**
   * Out of service: pods are evicted.
   *
   * @param pods those that are still there
   * @param refused what the API server said to the last try, by pod
   * @param left pods that stay on the node
   */
  record Evictions(
      List<String> pods,
      Map<String, String> refused,
      List<String> left,
      Instant until,
      Optional<String> gang)
      implements Wait {

    /** The same, with what the API server said. */
    public Evictions refused(Map<String, String> answers) {
      return new Evictions(pods, answers, left, until, gang);
    }
  }

  /**
   * Out of service and free: the grant comes next, when its agent answers.
   *
   * @param until when it is given up
   */
  record Free(Optional<String> gang, Instant until) implements Wait {}

  /** The time at which the settings are surely where the node's device plugin looks for them. */
  record Settings(Instant at) implements Wait {}

  /**
   * Out of service: the device plugin loads its settings.
   *
   * @param settles when that is judged
   * @param until when it is given up
   */
  record DevicesBack(Instant settles, Instant until) implements Wait {}
}
