package io.numaoperator.operator;

import io.numaoperator.plan.Provision;
import io.numaoperator.readiness.Verdict;
import java.util.Optional;

/** What keeps what a provider wants from being there, as a condition says it. */
final class Problems {
  private Problems() {}

  /** Empty where there are objects to apply. */
  static Optional<Verdict> of(Provision provision) {
    return switch (provision) {
      case Provision.Refused(var reason, var message) -> Optional.of(Verdict.no(reason, message));
      case Provision.NotYet(var reason, var message) ->
          Optional.of(Verdict.unknown(reason, message));
      case Provision.Objects objects -> Optional.empty();
    };
  }
}
