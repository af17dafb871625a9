package io.numaoperator.cli.text;

/**
 * Colours text, or does not. Nothing is told by colour alone.
 *
 * @param colour whether the text goes to a terminal that wants colours
 */
public record Paint(boolean colour) {
  /** No colours. */
  public static final Paint NONE = new Paint(false);

  /** The text in that style. */
  public String of(Style style, String text) {
    return colour && !style.code().isEmpty() && !text.isEmpty()
        ? "\u001b[" + style.code() + "m" + text + "\u001b[0m"
        : text;
  }
}
