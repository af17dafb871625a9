package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/security.md names the tests that show what it says: they are there. */
class SecurityPageTest {
  private static final Pattern NAMED = Pattern.compile("`([A-Z]\\w+Test)(?:\\.(\\w+))?`");

  @Test
  void theTestsThatItNamesExist() throws IOException {
    var named = NAMED.matcher(Files.readString(Path.of("docs/security.md")));
    var missing = new ArrayList<String>();
    int count = 0;
    while (named.find()) {
      count++;
      if (!exists(named.group(1), named.group(2) == null ? "class" : named.group(2))) {
        missing.add(named.group());
      }
    }
    assertThat(count).isGreaterThan(20);
    assertThat(missing).isEmpty();
  }

  private static boolean exists(String type, String word) throws IOException {
    try (var files = Files.walk(Path.of("src/test/java"))) {
      var file = files.filter(f -> f.endsWith(type + ".java")).findFirst();
      return file.isPresent()
          && Pattern.compile("\\b" + word + "\\b").matcher(Files.readString(file.get())).find();
    }
  }
}
