package io.numaoperator.cli.text;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;

/** A table as kubectl prints it: columns by two spaces, the last one as long as it is. */
final class Table {
  private static final String GAP = "  ";
  private static final int LEAST = 16; // of a last column that is cut to the terminal

  private final List<List<Cell>> rows = new ArrayList<>();

  /** A piece of text and what it means. */
  record Cell(String text, Style style) {
    static Cell of(String text) {
      return new Cell(text, Style.Plain);
    }

    static Cell of(Object value) {
      return of(String.valueOf(value));
    }
  }

  Table(String... headers) {
    rows.add(Arrays.stream(headers).map(Cell::of).toList());
  }

  Table row(Cell... cells) {
    rows.add(List.of(cells));
    return this;
  }

  /**
   * @param width of the terminal, to which the last column is cut
   */
  String format(Paint paint, OptionalInt width) {
    var widths = widths();
    var text = new StringBuilder();
    for (var row : rows) {
      var line = new StringBuilder();
      int at = 0;
      for (int i = 0; i < row.size(); i++) {
        var cell = row.get(i);
        boolean last = i == row.size() - 1;
        var shown = last ? cut(cell.text(), at, width) : cell.text();
        line.append(paint.of(cell.style(), shown));
        if (!last) {
          line.append(" ".repeat(widths[i] - shown.length())).append(GAP);
          at += widths[i] + GAP.length();
        }
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static String cut(String text, int at, OptionalInt width) {
    int room = Math.max(LEAST, width.orElse(Integer.MAX_VALUE) - at);
    return text.length() <= room ? text : text.substring(0, room - 3) + "...";
  }

  private int[] widths() {
    var widths = new int[rows.getFirst().size()];
    for (var row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths[i] = Math.max(widths[i], row.get(i).text().length());
      }
    }
    return widths;
  }
}
