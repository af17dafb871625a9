package io.numaoperator.rollout;

import java.util.Optional;

/** What becomes of one node that was begun: something is done, or it waits, or both. */
record Step(Optional<Action> action, Optional<Wait> waitsFor) {
  static final Step NOTHING = new Step(Optional.empty(), Optional.empty());

  static Step act(Action action) {
    return new Step(Optional.of(action), Optional.empty());
  }

  static Step hold(Wait wait) {
    return new Step(Optional.empty(), Optional.of(wait));
  }
}
