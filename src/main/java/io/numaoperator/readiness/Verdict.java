package io.numaoperator.readiness;

import io.numaoperator.api.Condition;

/**
 * The outcome of a chain of checks.
 *
 * @param status True only on evidence
 * @param reason one CamelCase word, stable
 * @param message for a person, with what to do about it
 */
public record Verdict(Condition.Status status, String reason, String message) {
  public static Verdict yes(String reason, String message) {
    return new Verdict(Condition.Status.True, reason, message);
  }

  public static Verdict no(String reason, String message) {
    return new Verdict(Condition.Status.False, reason, message);
  }

  public static Verdict unknown(String reason, String message) {
    return new Verdict(Condition.Status.Unknown, reason, message);
  }

  public boolean isTrue() {
    return status == Condition.Status.True;
  }
}
