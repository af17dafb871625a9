package io.numaoperator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page, as far as tests look at pages.
 *
 * @param prose its lines outside of fences
 * @param fences its code fences
 */
public record Markdown(Path file, List<String> prose, List<Fence> fences) {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  /** A code fence: its language, or nothing, and its text. */
  public record Fence(String language, String text) {}

  /** All pages of the project. */
  public static List<Markdown> pages() {
    return Project.files().filter(f -> f.toString().endsWith(".md")).map(Markdown::read).toList();
  }

  static Markdown read(Path file) {
    try {
      return of(file, Files.readAllLines(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Markdown of(Path file, List<String> lines) {
    var prose = new ArrayList<String>();
    var fences = new ArrayList<Fence>();
    List<String> fence = null;
    var language = "";
    for (var line : lines) {
      if (!line.strip().startsWith("```")) {
        (fence == null ? prose : fence).add(line);
      } else if (fence == null) {
        fence = new ArrayList<>();
        language = line.strip().substring(3);
      } else {
        fences.add(new Fence(language, String.join("\n", fence).stripIndent()));
        fence = null;
      }
    }
    return new Markdown(file, prose, fences);
  }

  /** Targets of links and images. */
  List<String> links() {
    return prose.stream()
        .map(line -> CODE.matcher(line).replaceAll("code"))
        .flatMap(line -> LINK.matcher(line).results().map(m -> m.group(1)))
        .toList();
  }

  /** The text of each code span and each line of a shell fence, comments left out. */
  List<String> commands() {
    var spans = prose.stream().flatMap(l -> CODE.matcher(l).results().map(m -> m.group(1)));
    var lines = fences.stream().filter(f -> f.language.equals("sh")).flatMap(f -> f.text.lines());
    return Stream.concat(spans, lines).map(c -> c.replaceFirst("\\s#.*", "").strip()).toList();
  }

  /** Anchors of its headings, as GitHub makes them. */
  Set<String> anchors() {
    var anchors = new HashSet<String>();
    var seen = new HashMap<String, Integer>();
    for (var line : prose) {
      if (line.matches("#+ .*")) {
        var slug =
            line.replaceFirst("#+ ", "")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
        var times = seen.merge(slug, 1, Integer::sum);
        anchors.add(times == 1 ? slug : slug + "-" + (times - 1));
      }
    }
    return anchors;
  }
}
