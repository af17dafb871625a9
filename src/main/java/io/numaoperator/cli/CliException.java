package io.numaoperator.cli;

/** What keeps a command from its answer, in words for the person who typed it. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exit;

  private CliException(String message, Throwable cause, int exit) {
    super(message, cause);
    this.exit = exit;
  }

  CliException(String message) {
    this(message, null, Exit.NO_ANSWER);
  }

  CliException(String message, Throwable cause) {
    this(message, cause, Exit.NO_ANSWER);
  }

  /** A file that was given cannot be used. */
  static CliException usage(String message) {
    return new CliException(message, null, Exit.USAGE);
  }

  int exit() {
    return exit;
  }
}
