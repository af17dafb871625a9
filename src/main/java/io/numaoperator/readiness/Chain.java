package io.numaoperator.readiness;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Checks in the order in which a person would make them; the first that has something to say wins.
 *
 * @param <T> what is judged
 */
final class Chain<T> {
  /** One check: empty when it has nothing to object to. */
  @FunctionalInterface
  interface Check<T> extends Function<T, Optional<Verdict>> {}

  private final List<Check<T>> checks;
  private final Function<T, Verdict> otherwise;

  private Chain(List<Check<T>> checks, Function<T, Verdict> otherwise) {
    this.checks = checks;
    this.otherwise = otherwise;
  }

  /** A chain that gives {@code otherwise} when no check objects. */
  static <T> Chain<T> of(List<Check<T>> checks, Function<T, Verdict> otherwise) {
    return new Chain<>(List.copyOf(checks), otherwise);
  }

  Verdict judge(T evidence) {
    return checks.stream()
        .map(check -> check.apply(evidence))
        .flatMap(Optional::stream)
        .findFirst()
        .orElseGet(() -> otherwise.apply(evidence));
  }

  static Optional<Verdict> when(boolean violated, java.util.function.Supplier<Verdict> verdict) {
    return violated ? Optional.of(verdict.get()) : Optional.empty();
  }
}
