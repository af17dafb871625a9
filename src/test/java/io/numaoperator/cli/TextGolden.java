package io.numaoperator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What is printed, as files below src/test/resources/cli, so that a change shows in review. How to
 * update them: run the test with {@code -Dgolden.update=true}, then read the diff.
 */
public final class TextGolden {
  private TextGolden() {}

  public static void assertMatches(String name, String text) {
    var file = Path.of("src/test/resources/cli", name + ".txt");
    try {
      if (Boolean.getBoolean("golden.update")) {
        Files.writeString(file, text);
      }
      assertThat(text).as("see TextGolden for how to update").isEqualTo(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
