package io.numaoperator.agent;

/** What one look at a started kubelet says. */
sealed interface Check {
  /** All is as it should be. */
  record Healthy() implements Check {}

  /** Not yet; time may bring it. */
  record Waiting(String what) implements Check {}

  /**
   * The API server does not answer: nothing can be said, and nothing is held against the kubelet.
   */
  record Unknown(String why) implements Check {}

  /** It will not come right by itself. */
  record Failed(String why) implements Check {}

  /** The graver of two. */
  default Check and(Check other) {
    return other.weight() > weight() ? other : this;
  }

  private int weight() {
    return switch (this) {
      case Healthy h -> 0;
      case Waiting w -> 1;
      case Unknown u -> 2;
      case Failed f -> 3;
    };
  }
}
