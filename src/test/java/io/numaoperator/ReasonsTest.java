package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/reasons.md has every reason that a condition can have, and no other. */
class ReasonsTest {
  private static final Path SOURCES = Path.of("src/main/java/io/numaoperator");

  /** The places where a reason is said: a call of one of these with the reason as a text. */
  private static final Pattern SAID =
      Pattern.compile(
          "(?:Verdict\\s*\\.\\s*(?:no|yes|unknown)|Refused|RefusedException|refuse\\w*|refused"
              + "|Silent|NotYet|Remark|NONE_FITS =)"
              + "(?:[^\";]|(?:containsKey|equals)\\(\"[^\"]*\"\\)){0,300}?"
              + "(?<!containsKey\\()(?<!equals\\()\"(?!None\")([A-Z][A-Za-z]+)\"");

  private static final Pattern DOCUMENTED = Pattern.compile("`([A-Z][A-Za-z]+)`");

  @Test
  void everyReasonIsDocumentedAndEveryDocumentedOneExists() throws IOException {
    var said = said();
    assertThat(said).hasSizeGreaterThan(60);
    assertThat(said).isEqualTo(documented());
  }

  private static Set<String> said() throws IOException {
    var reasons = new TreeSet<String>();
    try (var files = Files.walk(SOURCES)) {
      files
          .filter(f -> f.toString().endsWith(".java"))
          .filter(f -> !f.startsWith(SOURCES.resolve("agent")))
          .filter(f -> !f.startsWith(SOURCES.resolve("scheduler")))
          .filter(f -> !f.startsWith(SOURCES.resolve("topology")))
          .map(ReasonsTest::text)
          .forEach(
              text -> {
                var call = SAID.matcher(text);
                while (call.find()) {
                  reasons.add(call.group(1));
                }
              });
    }
    return reasons;
  }

  private static Set<String> documented() throws IOException {
    var reasons = new TreeSet<String>();
    for (var line : Files.readAllLines(Path.of("docs/reasons.md"))) {
      var firstCell = line.startsWith("| `") ? line.substring(0, line.indexOf("|", 2)) : "";
      var reason = DOCUMENTED.matcher(firstCell);
      while (reason.find()) {
        reasons.add(reason.group(1));
      }
    }
    return reasons;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
