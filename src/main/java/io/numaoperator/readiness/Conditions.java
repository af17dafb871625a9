package io.numaoperator.readiness;

import io.numaoperator.api.Condition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Turns verdicts into conditions; a transition time moves only when the status does. */
public final class Conditions {
  private Conditions() {}

  /**
   * @param old the conditions as they are
   * @param verdicts by type
   * @param generation of the object that was judged
   */
  public static List<Condition> update(
      List<Condition> old, Map<String, Verdict> verdicts, Long generation, Instant now) {
    return verdicts.entrySet().stream()
        .map(entry -> condition(old, entry.getKey(), entry.getValue(), generation, now))
        .toList();
  }

  /** Whether there is one of this type and it is True. */
  public static boolean isTrue(List<Condition> conditions, String type) {
    return conditions.stream()
        .anyMatch(c -> c.type.equals(type) && c.status == Condition.Status.True);
  }

  /** Whether they say the same, transition times aside. */
  public static boolean same(List<Condition> left, List<Condition> right) {
    return left.size() == right.size()
        && java.util.stream.IntStream.range(0, left.size())
            .allMatch(i -> same(left.get(i), right.get(i)));
  }

  private static boolean same(Condition a, Condition b) {
    return a.type.equals(b.type)
        && a.status == b.status
        && a.reason.equals(b.reason)
        && a.message.equals(b.message)
        && Objects.equals(a.observedGeneration, b.observedGeneration);
  }

  private static Condition condition(
      List<Condition> old, String type, Verdict verdict, Long generation, Instant now) {
    var condition = new Condition();
    condition.type = type;
    condition.status = verdict.status();
    condition.reason = verdict.reason();
    condition.message = verdict.message();
    condition.observedGeneration = generation;
    condition.lastTransitionTime =
        old.stream()
            .filter(c -> c.type.equals(type) && c.status == verdict.status())
            .map(c -> c.lastTransitionTime)
            .findFirst()
            .orElseGet(() -> now.truncatedTo(ChronoUnit.SECONDS).toString());
    return condition;
  }
}
