package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** docs/troubleshooting.md has every reason that a condition can have, and no other. */
class ReasonsTest {
  private static final Path SOURCES = Path.of("src/main/java/io/numaoperator");

  /** The places where a reason is said: a call of one of these with the reason as a text. */
  private static final Pattern SAID =
      Pattern.compile(
          "(?:Verdict\\s*\\.\\s*(?:no|yes|unknown)|Refused|RefusedException|refuse\\w*|refused"
              + "|Silent|NotYet|Remark|NONE_FITS =)"
              + "(?:[^\";]|(?:containsKey|equals)\\(\"[^\"]*\"\\)){0,300}?"
              + "(?<!containsKey\\()(?<!equals\\()\"(?!None\")([A-Z][A-Za-z]+)\"");

  /** The places where an Event is told, with its reason as a text. */
  private static final Pattern TOLD =
      Pattern.compile(
          "(?s)(?:events\\.tell|normal|warning|new Line|NOT_BEGUN =|story\\.pod)\\s*\\(?.{0,200}?"
              + "\"([A-Z]+[a-z]+[A-Z][A-Za-z]+)\"");

  private static final Pattern DOCUMENTED = Pattern.compile("`([A-Z][A-Za-z]+)`");

  @Test
  void everyReasonIsDocumentedAndEveryDocumentedOneExists() throws IOException {
    var said = said();
    assertThat(said).hasSizeGreaterThan(60);
    assertThat(said).isEqualTo(documented(section -> !section.equals("## Events")));
  }

  @Test
  void everyEventIsDocumentedAndEveryDocumentedOneExists() throws IOException {
    var told = new TreeSet<String>();
    try (var files = Files.walk(SOURCES.resolve("operator"))) {
      files
          .filter(f -> f.toString().matches(".*(Story|HamiAccounts)\\.java"))
          .map(ReasonsTest::text)
          .forEach(
              text -> {
                var call = TOLD.matcher(text);
                while (call.find()) {
                  told.add(call.group(1));
                }
              });
    }
    assertThat(told).hasSizeGreaterThan(10);
    assertThat(told).isEqualTo(documented("## Events"::equals));
  }

  /** What the story by symptom names is in the lists below it, or a pod's own reason. */
  @Test
  void theSymptomsNameReasonsThatThereAre() throws IOException {
    var known = documented(section -> true);
    known.addAll(
        Set.of("PodsAdmitted", "NotPinned", "Unsupported", "Stalled", "TopologyAffinityError"));
    known.addAll(Set.of("SMTAlignmentError", "UnexpectedAdmissionError", "OutOfcpu"));
    var text = Files.readString(Path.of("docs/troubleshooting.md"));
    var symptoms = text.substring(0, text.indexOf("## A node"));
    var named =
        Pattern.compile("`([A-Z][a-z]+[A-Z][A-Za-z]+|[A-Z]{3}[A-Za-z]+)`").matcher(symptoms);
    int count = 0;
    while (named.find()) {
      count++;
      assertThat(known).contains(named.group(1));
    }
    assertThat(count).isGreaterThan(20);
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

  /** First cells of the tables in the sections that are asked for, the symptoms aside. */
  private static Set<String> documented(Predicate<String> sections) throws IOException {
    var reasons = new TreeSet<String>();
    var section = "";
    for (var line : Files.readAllLines(Path.of("docs/troubleshooting.md"))) {
      section = line.startsWith("## ") ? line : section;
      if (line.startsWith("| `") && sections.test(section)) {
        var reason = DOCUMENTED.matcher(line.substring(0, line.indexOf("|", 2)));
        while (reason.find()) {
          reasons.add(reason.group(1));
        }
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
