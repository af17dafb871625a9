package io.numaoperator.readiness;

import io.numaoperator.rollout.Wait;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What a node waits for, in words. */
final class Waiting {
  private static final int LISTED = 3;

  private Waiting() {}

  /**
   * A node that was taken out of service for an attempt that is not granted yet.
   *
   * @param wait empty before the rollout has looked at it
   */
  static Verdict cordoned(long attempt, Optional<Wait> wait) {
    return switch (wait.orElse(null)) {
      case Wait.Pods(var pods, var until, var gang) ->
          Verdict.no(
              "WaitingForPods",
              "cordoned%s; waits for pods that hold devices or exclusive CPUs to end: %s%s"
                  .formatted(
                      together(gang),
                      listed(pods),
                      until.map(t -> "; goes back into service at " + t).orElse("")));
      case Wait.Evictions evictions -> evicting(evictions);
      case Wait.Free(var gang, var until) ->
          Verdict.no(
              "Cordoned",
              "cordoned for attempt %d%s; waits for its agent; goes back into service at %s"
                  .formatted(attempt, together(gang), until));
      case Wait.Settings(var at) ->
          Verdict.no("Cordoned", "cordoned; the device plugin surely finds its settings at " + at);
      case null, default -> Verdict.no("Cordoned", "cordoned for attempt " + attempt);
    };
  }

  private static Verdict evicting(Wait.Evictions e) {
    var rest =
        (e.left().isEmpty() ? "" : "; stay on the node: " + listed(e.left()))
            + "; goes back into service at "
            + e.until();
    return e.refused().isEmpty()
        ? Verdict.no(
            "Evicting", "cordoned" + together(e.gang()) + "; evicts " + listed(e.pods()) + rest)
        : Verdict.no(
            "EvictionRefused",
            "cordoned" + together(e.gang()) + "; cannot evict " + answers(e.refused()) + rest);
  }

  /**
   * A node that is in service and has to be changed.
   *
   * @param toChange what the change is
   */
  static Verdict inService(Optional<Wait> wait, String toChange) {
    var change = "; to change: " + toChange;
    return switch (wait.orElse(null)) {
      case Wait.Turn(var max, var others) ->
          Verdict.no(
              "Waiting",
              "waits for its turn within rollout.maxUnavailable "
                  + max
                  + (others.isEmpty() ? "" : ", which is used up by " + listed(others))
                  + change);
      case Wait.Together(var gang, var nodes, var max) ->
          Verdict.no(
              "Waiting",
              "waits until %d nodes that run %s fit into rollout.maxUnavailable %d together%s"
                  .formatted(nodes, gang, max, change));
      case Wait.Stopped(var failed) ->
          Verdict.no(
              "Waiting",
              "nothing is started (rollout.pauseOnFailure), since the change failed on "
                  + listed(failed)
                  + change);
      case Wait.Window(var opens) ->
          Verdict.no(
              "OutsideWindow",
              opens.map(t -> "the next maintenance window opens at " + t).orElse("no window opens")
                  + change);
      case Wait.Canary(var nodes, var until) ->
          Verdict.no(
              "WaitingForCanary",
              (until.isPresent()
                      ? "the canaries soak until " + until.get() + ": "
                      : "the canaries come first: ")
                  + listed(nodes)
                  + change);
      case Wait.Retry(var at) ->
          Verdict.no("Waiting", "somebody undid the change; it is made again at " + at + change);
      case Wait.Backoff(var givenUp) ->
          Verdict.no(
              "DrainGivenUp",
              "it was not free for the change in time (%d times in a row; in the way: %s); tried again at %s%s"
                  .formatted(
                      givenUp.count(),
                      givenUp.why().isEmpty() ? "unknown" : givenUp.why(),
                      givenUp.notBefore(),
                      change));
      case Wait.Settings(var at) ->
          Verdict.no("Waiting", "the device plugin surely finds its settings at " + at + change);
      case null, default -> Verdict.no("Waiting", "waits for its turn" + change);
    };
  }

  /** When a change that an agent refused is tried again. */
  static String again(Optional<Wait> wait) {
    return switch (wait.orElse(null)) {
      case Wait.Retry(var at) -> "tried again at " + at;
      case Wait.Backoff(var givenUp) ->
          "refused %d times in a row; tried again at %s"
              .formatted(givenUp.count(), givenUp.notBefore());
      case null, default -> "will be tried again";
    };
  }

  private static String together(Optional<String> gang) {
    return gang.map(g -> " together with the other nodes that run " + g).orElse("");
  }

  private static String answers(Map<String, String> refused) {
    return listed(
        refused.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(answer -> answer.getKey() + ": " + answer.getValue())
            .toList());
  }

  static String listed(List<String> items) {
    var shown = items.stream().limit(LISTED).collect(Collectors.joining("; "));
    return items.size() > LISTED ? shown + " and " + (items.size() - LISTED) + " more" : shown;
  }
}
