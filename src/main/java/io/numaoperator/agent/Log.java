package io.numaoperator.agent;

import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Plain lines for {@code kubectl logs}; no logging framework, which would cost memory. */
final class Log {
  private final PrintStream out;

  Log(PrintStream out) {
    this.out = out;
  }

  void info(String line) {
    print("INFO  ", line);
  }

  void warn(String line) {
    print("WARN  ", line);
  }

  private void print(String level, String line) {
    out.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + level + line);
  }
}
