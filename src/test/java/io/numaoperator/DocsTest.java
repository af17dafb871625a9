package io.numaoperator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.CrdSchema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the pages say of the project that a machine can check. */
class DocsTest {
  private static final Path DOCS = Path.of("docs");
  private static final Pattern TARGET = Pattern.compile("(?m)^([a-z][a-z-]*):");

  /** A path of a file or folder of the project. */
  private static final Pattern PATH =
      Pattern.compile("(?<![\\w./-])((?:config|hack|src|docs|crds)/[\\w./-]*[\\w/])");

  /** A directory that only one person's machine has (/home/kubernetes is GKE's). */
  private static final Pattern MACHINE =
      Pattern.compile("(?<![\\w.$}/-])/(root|work|home(?!/kubernetes))/[\\w.-]+");

  /** A host as package registries and mirrors are called. */
  private static final Pattern REGISTRY =
      Pattern.compile(
          "\\b(?:[a-z0-9-]+\\.)*"
              + "[a-z0-9-]*(?:repo|registry|proxy|mirror|deb|npm|pypi|maven|packages)[a-z0-9-]*"
              + "(?:\\.[a-z0-9-]+)*\\.(?:org|com|io|net|dev)\\b");

  /** Of images, and of the documents that XML schemas are named by. */
  private static final Set<String> ALLOWED = Set.of("registry.k8s.io", "maven.apache.org");

  @Test
  void linksGoSomewhere() {
    var broken = new ArrayList<String>();
    for (var page : Markdown.pages()) {
      for (var link : page.links()) {
        if (!link.matches("https?://.*") && !resolves(page, link)) {
          broken.add(page.file() + ": " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  private static boolean resolves(Markdown page, String link) {
    var parts = link.split("#", 2);
    var target =
        parts[0].isEmpty() ? page.file() : page.file().resolveSibling(parts[0]).normalize();
    if (target.startsWith("..") || !Files.exists(target)) {
      return false;
    }
    return parts.length == 1
        || (target.toString().endsWith(".md")
            && Markdown.read(target).anchors().contains(parts[1]));
  }

  @Test
  void brokenLinksAreFound() {
    var page =
        Markdown.of(
            Path.of("docs/x.md"),
            """
            # A page: with `code`
            [a](concepts.md) `[b](no.md)` ![c](images/page.png) [d](#a-page-with-code)
            ```
            [e](no.md)
            ```
            """
                .lines()
                .toList());
    assertThat(page.links()).containsExactly("concepts.md", "images/page.png", "#a-page-with-code");
    assertThat(page.anchors()).containsExactly("a-page-with-code");
    assertThat(resolves(page, "concepts.md")).isTrue();
    assertThat(resolves(page, "concepts.md#objects")).isTrue();
    assertThat(resolves(page, "concepts.md#unicorns")).isFalse();
    assertThat(resolves(page, "unicorns.md")).isFalse();
    assertThat(resolves(page, "../../README.md")).isFalse();
  }

  @Test
  void eachPageSaysFirstWhoItIsFor() {
    for (var page : docs()) {
      assertThat(page.prose().get(0)).as("%s", page.file()).startsWith("# ");
      assertThat(page.prose().get(1))
          .as("%s: the sentence under the title", page.file())
          .matches("For [^:]+[:.,] .*");
    }
  }

  @Test
  void theReadMeLeadsToEachPage() {
    assertThat(Markdown.read(Path.of("README.md")).links())
        .containsAll(docs().stream().map(page -> page.file().toString()).toList());
  }

  /** In a page, or in a workflow: {@code make X} is what people type, so X is there. */
  @Test
  void makeTargetsExist() throws IOException {
    var targets = targets();
    assertThat(targets).contains("test", "demo");
    for (var page : Markdown.pages()) {
      for (var command : page.commands()) {
        assertThat(targets).as("%s: %s", page.file(), command).containsAll(made(command));
      }
    }
  }

  /** The targets that a command line makes; none where it is another command. */
  static List<String> made(String command) {
    var words = List.of(command.replaceFirst("^([A-Z_]+=\\S+ )+", "").split("\\s+"));
    if (!words.getFirst().equals("make")) {
      return List.of();
    }
    return words.stream()
        .skip(1)
        .takeWhile(w -> !w.matches("[&;|#].*"))
        .filter(w -> w.matches("[a-z][a-z-]*"))
        .toList();
  }

  static Set<String> targets() throws IOException {
    return TARGET
        .matcher(Files.readString(Path.of("Makefile")))
        .results()
        .map(m -> m.group(1))
        .collect(Collectors.toSet());
  }

  @Test
  void pathsOfTheProjectExist() {
    var missing = new TreeSet<String>();
    for (var page : Markdown.pages()) {
      for (var text : page.prose()) {
        PATH.matcher(text.replaceAll("\\]\\([^)]*\\)", "]"))
            .results()
            .map(m -> m.group(1))
            .filter(path -> !Files.exists(Path.of(path)))
            .forEach(path -> missing.add(page.file() + ": " + path));
      }
    }
    assertThat(missing).isEmpty();
  }

  /** Policies in pages and samples are such as the API server takes, CEL rules aside. */
  @Test
  void policiesFitTheirSchema() throws IOException {
    var schema = CrdSchema.of("numapolicies");
    int seen = 0;
    for (var page : Markdown.pages()) {
      for (var fence : page.fences()) {
        if (fence.language().equals("yaml")) {
          seen += policies(schema, page.file(), fence.text());
        }
      }
    }
    assertThat(seen).isPositive();
    try (var samples = Files.list(Path.of("config/samples"))) {
      for (var sample : samples.filter(f -> f.toString().endsWith(".yaml")).toList()) {
        seen += policies(schema, sample, Files.readString(sample));
      }
    }
    assertThat(seen).isGreaterThan(5);
  }

  private static int policies(CrdSchema schema, Path file, String text) throws IOException {
    int seen = 0;
    for (var document : text.split("(?m)^---$")) {
      var tree = new YAMLMapper().readTree(document);
      if (tree.path("kind").asText().equals("NumaPolicy")) {
        assertThat(schema.faults(tree)).as("%s", file).isEmpty();
        seen++;
      } else if (!tree.has("kind") && part(schema, tree.fieldNames().next())) {
        assertThat(schema.faultsOfPart(tree.has("spec") ? tree.get("spec") : tree))
            .as("%s", file)
            .isEmpty();
        seen++;
      }
    }
    return seen;
  }

  private static boolean part(CrdSchema schema, String field) {
    return field.equals("spec") || schema.hasSpecField(field);
  }

  @Test
  void faultsOfPoliciesAreFound() throws IOException {
    var policy =
        new YAMLMapper()
            .readTree(
                """
                spec:
                  mode: Force
                  rollout: {maxUnavailable: [1], canary: {nodes: 0}, drainn: {}}
                  approvedPlan: short
                """);
    assertThat(CrdSchema.of("numapolicies").faults(policy))
        .containsExactlyInAnyOrder(
            "spec.nodeSelector: missing",
            "spec.mode: against enum",
            "spec.rollout.maxUnavailable: not : [1]",
            "spec.rollout.canary.nodes: against minimum",
            "spec.rollout.drainn: unknown",
            "spec.approvedPlan: against minLength");
  }

  @Test
  void noFileNamesSomebodysMachineOrAPackageRegistry() throws IOException {
    var found = new ArrayList<String>();
    for (var file : Project.files().toList()) {
      var text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
      if (text.indexOf('\0') < 0) {
        found(file, text, found);
      }
    }
    assertThat(found).isEmpty();
  }

  @Test
  void machinesAndRegistriesAreFound() {
    var found = new ArrayList<String>();
    var home = "/ho" + "me/";
    found(
        Path.of("x"),
        "cd %1$sann/numa; from https://%2$s.numa.org/x or %2$s1.numa.dev and %2$s.example.com, registry.k8s.io/y"
                .formatted(home, "re" + "po")
            + " $DIR"
            + home
            + "a a.registry b/proxy",
        found);
    assertThat(found)
        .containsExactly("x: " + home + "ann", "x: re" + "po.numa.org", "x: re" + "po1.numa.dev");
  }

  private static void found(Path file, String text, List<String> found) {
    MACHINE.matcher(text).results().forEach(m -> found.add(file + ": " + m.group()));
    REGISTRY
        .matcher(text)
        .results()
        .filter(m -> !ALLOWED.contains(m.group()) && !m.group().matches(".*\\bexample\\.\\w+"))
        .forEach(m -> found.add(file + ": " + m.group()));
  }

  private static List<Markdown> docs() {
    return Markdown.pages().stream().filter(page -> page.file().startsWith(DOCS)).toList();
  }
}
