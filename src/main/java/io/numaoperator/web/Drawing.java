package io.numaoperator.web;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A small picture: SVG paths in pixels. All cells of a kind are one path, so that 256 CPUs are
 * hardly more to send than 8; where each has a name to be shown under the pointer, it is one of its
 * own.
 */
record Drawing(int width, int height, List<Shape> shapes) {
  /** How something is drawn; a class of the style sheet. Each differs by more than its colour. */
  enum Kind {
    free,
    held,
    cross,
    reserved,
    shared,
    huge,
    unknown
  }

  /**
   * One path.
   *
   * @param kind class of the style sheet
   * @param path its outline
   * @param title under the pointer; empty for none
   */
  record Shape(String kind, String path, String title) {}

  /**
   * One cell.
   *
   * @param column from the left, and line from the top
   */
  record Cell(int column, int line, Kind kind, String title) {}

  /**
   * @param pitch from cell to cell
   * @param size of a cell
   * @param named whether each cell has its title
   */
  static Drawing cells(List<Cell> cells, int pitch, int size, boolean named) {
    var shapes = new ArrayList<Shape>();
    Map<Kind, StringBuilder> paths = new EnumMap<>(Kind.class);
    var marks = new StringBuilder();
    int width = 0;
    int height = 0;
    for (var cell : cells) {
      int x = cell.column() * pitch;
      int y = cell.line() * pitch;
      var box = box(x, y, size, size);
      if (named) {
        shapes.add(new Shape(cell.kind().name(), box, cell.title()));
      } else {
        paths.computeIfAbsent(cell.kind(), k -> new StringBuilder()).append(box);
      }
      if (cell.kind() == Kind.cross) {
        marks.append(mark(x, y, size));
      }
      width = Math.max(width, x + size);
      height = Math.max(height, y + size);
    }
    paths.forEach((kind, path) -> shapes.add(new Shape(kind.name(), path.toString(), "")));
    if (!marks.isEmpty()) {
      shapes.add(new Shape("mark", marks.toString(), ""));
    }
    return new Drawing(width, height, shapes);
  }

  /** Lines are drawn within the cell, sharp: from the middle of a pixel to that of another. */
  static String box(int x, int y, int width, int height) {
    return "M%d.5 %d.5h%dv%dh-%dz".formatted(x, y, width - 1, height - 1, width - 1);
  }

  private static String mark(int x, int y, int size) {
    int arm = size - 4;
    return "M%d %dl%d %dm0-%dl-%d %d".formatted(x + 2, y + 2, arm, arm, arm, arm, arm);
  }
}
