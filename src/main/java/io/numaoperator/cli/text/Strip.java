package io.numaoperator.cli.text;

/** Marks side by side; neighbours of one style are coloured together. */
final class Strip {
  private final Paint paint;
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder run = new StringBuilder();
  private Style style = Style.Plain;

  Strip(Paint paint) {
    this.paint = paint;
  }

  Strip add(Style next, String marks) {
    if (next != style) {
      flush();
      style = next;
    }
    run.append(marks);
    return this;
  }

  private void flush() {
    text.append(paint.of(style, run.toString()));
    run.setLength(0);
  }

  String text() {
    flush();
    return text.toString();
  }
}
