package io.numaoperator.preflight;

import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** How a chain of checks is put together. */
final class Checks {
  private Checks() {}

  /** The first violation. */
  static <T> Optional<Refused> first(T input, List<Function<T, Optional<Refused>>> checks) {
    return checks.stream().flatMap(check -> check.apply(input).stream()).findFirst();
  }

  static Optional<Refused> refuseIf(
      boolean violated, String reason, String message, Object... arguments) {
    return violated
        ? Optional.of(new Refused(reason, message.formatted(arguments)))
        : Optional.empty();
  }
}
