package io.numaoperator.cli.text;

/** What a piece of text means; a terminal shows it as a colour. */
public enum Style {
  Plain(""),
  Title("1"),
  Good("32"),
  Doubtful("33"),
  Bad("1;31"),
  Minor("2");

  private final String code;

  Style(String code) {
    this.code = code;
  }

  /** The terminal's code (SGR); empty for plain text. */
  String code() {
    return code;
  }
}
