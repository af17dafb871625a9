package io.numaoperator.web;

import io.numaoperator.api.Condition;
import java.util.Arrays;

/** How a node stands, for filters; {@code Crossing} goes beside each of the others. */
enum Standing {
  Any("", "All"),
  Crossing("crossing", "With pods across zones"),
  NotReady("not-ready", "Not ready"),
  Unknown("unknown", "Unknown"),
  Changing("changing", "Changing"),
  Ready("ready", "Ready");

  private final String word;
  private final String label;

  Standing(String word, String label) {
    this.word = word;
    this.label = label;
  }

  static Standing of(String word) {
    return Arrays.stream(values()).filter(s -> s.word.equals(word)).findFirst().orElse(Any);
  }

  static Standing of(Condition.Status ready) {
    return switch (ready) {
      case True -> Ready;
      case False -> NotReady;
      case Unknown -> Unknown;
    };
  }

  /** In URLs and style sheets. Public, as what templates read has to be. */
  public String word() {
    return word;
  }

  /** A small sign in the overview, of ten pixels each way: another shape for each. */
  String sign(int x, int y) {
    return switch (this) {
      case Ready -> "M%d %dh6v6h-6z".formatted(x + 2, y + 2);
      case NotReady -> "M%d %dh10v10h-10z".formatted(x, y);
      case Unknown -> "M%d %dl5 5-5 5-5-5z".formatted(x + 5, y);
      case Changing -> "M%d %dl8 5-8 5z".formatted(x + 1, y);
      // a cross of two bars
      case Crossing -> "M%d %dl2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z".formatted(x, y + 2);
      case Any -> "";
    };
  }

  /** For people. */
  String label() {
    return label;
  }
}
