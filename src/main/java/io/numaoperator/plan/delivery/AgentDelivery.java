package io.numaoperator.plan.delivery;

import io.numaoperator.plan.Provision;
import java.util.Optional;

/**
 * The node's agent writes the file; what it needs is in its grant, so there is nothing to apply.
 */
final class AgentDelivery implements KubeletDelivery {
  static final String PROVIDER = "agent";

  @Override
  public Provision plan(Input input) {
    return Provision.Objects.none(PROVIDER);
  }

  @Override
  public Optional<Provision.Remark> awaits(Input input, PlannedNode node) {
    return Optional.empty();
  }
}
