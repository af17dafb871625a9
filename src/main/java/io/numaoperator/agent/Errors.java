package io.numaoperator.agent;

/** One line for an error: many of the JDK's I/O exceptions have no message of their own. */
final class Errors {
  private Errors() {}

  static String text(Throwable error) {
    for (var e = error; e != null; e = e.getCause()) {
      if (e.getMessage() != null && !e.getMessage().isBlank()) {
        return e.getMessage().lines().findFirst().orElseThrow();
      }
    }
    return error.getClass().getSimpleName();
  }
}
