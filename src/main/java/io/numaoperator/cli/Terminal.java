package io.numaoperator.cli;

import io.numaoperator.cli.text.Paint;
import java.io.PrintWriter;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Where a command prints.
 *
 * @param interactive whether a person sees it as it is printed
 * @param width in characters; empty when it is not known, or is no terminal
 */
record Terminal(
    PrintWriter out, PrintWriter err, Paint paint, boolean interactive, OptionalInt width) {
  /** Set by the launcher where standard output is a terminal: asking Java costs time. */
  static final String PROPERTY = "numa.terminal";

  private static final int NARROWEST = 40;

  /**
   * @param environment NO_COLOR (no-color.org) and TERM are honoured; COLUMNS is the width
   */
  static Terminal of(
      PrintWriter out, PrintWriter err, boolean interactive, Map<String, String> environment) {
    boolean colour =
        interactive
            && environment.getOrDefault("NO_COLOR", "").isEmpty()
            && !environment.getOrDefault("TERM", "").equals("dumb");
    return new Terminal(
        out,
        err,
        new Paint(colour),
        interactive,
        interactive ? width(environment) : OptionalInt.empty());
  }

  private static OptionalInt width(Map<String, String> environment) {
    var columns = environment.getOrDefault("COLUMNS", "");
    return columns.matches("[0-9]{1,5}") && Integer.parseInt(columns) >= NARROWEST
        ? OptionalInt.of(Integer.parseInt(columns))
        : OptionalInt.empty();
  }

  void print(String text) {
    out.print(text);
    out.flush();
  }
}
