package io.numaoperator.cli;

/** What keeps a command from its answer, in words for the person who typed it. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1;

  CliException(String message) {
    super(message);
  }

  CliException(String message, Throwable cause) {
    super(message, cause);
  }
}
