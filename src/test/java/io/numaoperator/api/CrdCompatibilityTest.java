package io.numaoperator.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The CRDs of now against those that somebody may have in his cluster. */
class CrdCompatibilityTest {
  private static final Path RELEASED = Path.of("src/test/resources/released");
  private static final YAMLMapper YAML = new YAMLMapper();

  private static final String OLD =
      """
      spec:
        group: example.org
        scope: Cluster
        names: {kind: Thing, plural: things}
        versions:
        - name: v1
          served: true
          schema:
            openAPIV3Schema:
              properties:
                spec:
                  required: [mode]
                  x-kubernetes-validations: [{rule: self.a != self.b}]
                  properties:
                    mode: {type: string, enum: [Fast, Slow], default: Fast}
                    name: {type: string, maxLength: 9, minLength: 1, pattern: ^a}
                    list: {type: array, maxItems: 3, items: {type: integer, minimum: 1.0}}
                    map: {type: object, additionalProperties: {type: string}}
                status:
                  properties:
                    step: {type: string, enum: [Going, Done]}
                    seen: {type: boolean}
      """;

  /** Text in the CRD above, what becomes of it, what is found; nothing where that is empty. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'map: {type: object, additionalProperties: {type: string}}' | '' | v1.spec.map: removed",
        "'seen: {type: boolean}' | '' | v1.status.seen: removed",
        "seen: {type: boolean | seen: {type: string | v1.status.seen: type changed",
        "'items: {type: integer' | 'items: {type: string' | v1.spec.list[]: type changed",
        "'additionalProperties: {type: string' | 'additionalProperties: {type: boolean'"
            + " | v1.spec.map[]: type changed",
        "'[Fast, Slow]' | '[Fast]' | v1.spec.mode: value Slow removed",
        "'[Fast, Slow]' | '[Fast, Slow, Other]' |",
        "'seen: {type: boolean' | 'seen: {type: boolean, enum: [true]'"
            + " | v1.status.seen: limited to values; v1.status.seen: value true is new in status",
        "'[Going, Done]' | '[Going, Done, Lost]' | v1.status.step: value Lost is new in status",
        "'required: [mode]' | 'required: [mode, name]' | v1.spec.name: required now",
        "'required: [mode]' | '' |",
        "'default: Fast' | 'default: Slow' | v1.spec.mode: default changed",
        "', default: Fast' | '' | v1.spec.mode: default changed",
        "'seen: {' | 'seen: {default: true, ' | v1.status.seen: default changed",
        "'{rule: self.a != self.b}' | '{rule: self.a < self.b}' | v1.spec: rule self.a < self.b",
        "'[{rule: self.a != self.b}]' | '[]' |",
        "'{rule: self.a != self.b}' | '{rule: self.a != self.b}, {rule: self.c}'"
            + " | v1.spec: rule self.c",
        "'pattern: ^a' | 'pattern: ^ab' | v1.spec.name: pattern changed",
        "'seen: {' | 'seen: {pattern: x, ' | v1.status.seen: pattern changed",
        "'maxLength: 9' | 'maxLength: 8' | v1.spec.name: maxLength tightened",
        "'maxLength: 9' | 'maxLength: 10' |",
        "'minLength: 1' | 'minLength: 2' | v1.spec.name: minLength tightened",
        "'minimum: 1.0' | 'minimum: 2.0' | v1.spec.list[]: minimum tightened",
        "'seen: {' | 'seen: {maxLength: 2, ' | v1.status.seen: maxLength added",
        "'maxItems: 3' | 'maxItems: 2' | v1.spec.list: maxItems tightened",
        "'served: true' | 'served: false' | v1: no longer served",
        "'- name: v1' | '- name: v2' | v1: no longer served",
        "'scope: Cluster' | 'scope: Namespaced' | scope changed",
        "'seen: {type: boolean}' | 'seen: {type: boolean, description: It was.}' |",
      })
  void whatBreaksSomebodyIsFound(String text, String becomes, String findings) throws IOException {
    assertThat(OLD).contains(text);
    var now = OLD.replace(text, becomes == null ? "" : becomes);
    assertThat(String.join("; ", CrdChanges.breaking(YAML.readTree(OLD), YAML.readTree(now))))
        .isEqualTo(findings == null ? "" : findings);
  }

  /** A new provider brings a block of its own, and a rule that is about that block alone. */
  @Test
  void newFieldsAndRulesAboutThemBreakNobody() throws IOException {
    var now =
        OLD.replace("map: {", "block: {type: object, required: [x]}\n              map: {")
            .replace(
                "a != self.b}", "a != self.b}, {rule: \"self.mode == 'X' || !has(self.block)\"}");
    assertThat(CrdChanges.breaking(YAML.readTree(OLD), YAML.readTree(now))).isEmpty();
  }

  @Test
  void theCrdsOfNowBreakNobodyWhoHasThoseOfBefore() throws IOException {
    try (var versions = Files.list(RELEASED)) {
      var released = versions.filter(Files::isDirectory).toList();
      assertThat(released).isNotEmpty();
      for (var version : released) {
        for (var kind : new String[] {"numapolicies", "numanodestates"}) {
          var file = kind + ".numaoperator.io.yaml";
          assertThat(CrdChanges.breaking(read(version, file), read(CrdFiles.DIRECTORY, file)))
              .as("%s since %s: see docs/upgrades.md", kind, version.getFileName())
              .isEmpty();
        }
      }
    }
  }

  private static JsonNode read(Path directory, String file) throws IOException {
    return YAML.readTree(directory.resolve(file).toFile());
  }
}
