package io.numaoperator.operator;

/** For texts that have a longest form. */
final class Texts {
  private Texts() {}

  /**
   * @param longest in characters, with the sign that something was left out
   */
  static String shortened(String text, int longest) {
    return text.length() <= longest ? text : text.substring(0, longest - 1) + "…";
  }
}
