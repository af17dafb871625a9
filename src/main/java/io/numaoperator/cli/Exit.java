package io.numaoperator.cli;

/** What a script sees. The texts are in {@link KubectlNuma}'s help and docs/cli.md. */
final class Exit {
  /** Done, and what was asked about is well. */
  static final int WELL = 0;

  /**
   * Done, and it is not: a node is not ready, a pod is not aligned, a plan is refused or differs.
   */
  static final int NOT_WELL = 1;

  /** The command was not understood. */
  static final int USAGE = 2;

  /** The cluster did not answer, refused, or does not have what was asked for. */
  static final int NO_ANSWER = 3;

  /** A fault of this program. */
  static final int FAULT = 4;

  private Exit() {}
}
