package io.numaoperator.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A table of figures: a line each, a column for each size; written after each size. */
final class Report {
  private final Path file;
  private final String first;
  private final List<String> columns = new ArrayList<>();
  private final Map<String, Map<String, String>> lines = new LinkedHashMap<>();

  /**
   * @param first the heading of the lines
   */
  Report(Path file, String first) {
    this.file = file;
    this.first = first;
  }

  synchronized void put(String column, String line, String value) {
    if (!columns.contains(column)) {
      columns.add(column);
    }
    lines.computeIfAbsent(line, l -> new LinkedHashMap<>()).put(column, value);
    System.out.printf("   %-8s %-62s %s%n", column, line, value);
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, markdown());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  synchronized String markdown() {
    var text = new StringBuilder("| " + first + " |");
    columns.forEach(column -> text.append(' ').append(column).append(" |"));
    text.append("\n|---|").append("---:|".repeat(columns.size())).append('\n');
    lines.forEach(
        (line, values) -> {
          text.append("| ").append(line).append(" |");
          columns.forEach(
              column -> text.append(' ').append(values.getOrDefault(column, "")).append(" |"));
          text.append('\n');
        });
    return text.toString();
  }
}
