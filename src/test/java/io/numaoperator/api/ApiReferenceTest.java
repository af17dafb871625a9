package io.numaoperator.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ApiReferenceTest {
  /** Small enough to see the whole of it: one of each thing that a line can say. */
  private static final String SMALL =
      """
      spec:
        group: example.org
        scope: Cluster
        names: {kind: Thing, shortNames: [th], categories: [numa]}
        versions:
        - name: v1
          schema:
            openAPIV3Schema:
              properties:
                spec:
                  required: [mode]
                  x-kubernetes-validations: [{rule: self.a || self.b, message: a or b}]
                  properties:
                    mode:
                      type: string
                      enum: [Fast, Slow]
                      default: Fast
                      description: One | other <or none>.
                    count:
                      {type: integer, minimum: 1.0, maximum: 64.0, x-kubernetes-validations:
                        [{rule: self >= oldSelf, message: never back}]}
                    share:
                      anyOf: [{type: integer}, {type: string}]
                      x-kubernetes-int-or-string: true
                      pattern: ^(a|b)$
                    first:
                      type: object
                      default: {x: 1}
                      properties: {x: {type: integer, maximum: 9}}
                    others:
                      type: array
                      maxItems: 3
                      items: {type: object, properties: {x: {type: integer, maximum: 9}}}
                status:
                  properties:
                    names: {type: array, maxItems: 2, items: {type: string, maxLength: 9}}
      """;

  @Test
  void thePageIsOfTheCommittedCrds() throws IOException {
    assertThat(ApiReference.PAGE)
        .as("stale: run 'make crds'")
        .hasContent(ApiReference.page(committed()));
  }

  @Test
  void aFieldIsALineWithAllThatTheSchemaSays() {
    assertThat(ApiReference.page(List.of(SMALL)))
        .endsWith(
            """

            ## Thing
            `apiVersion: example.org/v1`, scope cluster, short name `th`, category `numa`.

            ### Thing.spec
            - Rule: a or b. `self.a || self.b`

            | Field | Type | Default | Says |
            |---|---|---|---|
            | **`mode`** | `Fast`, `Slow` | `Fast` | One \\| other &lt;or none>. |
            | `count` | integer, 1 to 64 |  | Rule: never back. `self >= oldSelf` |
            | `share` | integer or string, `^(a\\|b)$` |  |  |
            | `first` | object | `{x: 1}` | [Fields](#thingspecfirst) |
            | `others` | list of object, at most 3 |  | [As there](#thingspecfirst) |

            ### Thing.spec.first
            | Field | Type | Default | Says |
            |---|---|---|---|
            | `x` | integer, at most 9 |  |  |

            ### Thing.status
            | Field | Type | Default | Says |
            |---|---|---|---|
            | `names` | list of string, at most 9 characters, at most 2 |  |  |
            """);
  }

  /** Counted from the CRDs, not from the generator's own walk. */
  @Test
  void noFieldIsLeftOut() throws IOException {
    var page = Files.readString(ApiReference.PAGE);
    for (var crd : committed()) {
      var names = new TreeSet<String>();
      var schema = new YAMLMapper().readTree(crd).at("/spec/versions/0/schema/openAPIV3Schema");
      schema.at("/properties").forEach(part -> collect(part, names));
      assertThat(names).hasSizeGreaterThan(50);
      assertThat(names).allMatch(name -> mentioned(page, name));
    }
    assertThat(mentioned(page, "numberOfUnicorns")).isFalse();
  }

  /** That they are those of the classes is CrdFilesTest's. */
  private static List<String> committed() throws IOException {
    var texts = new ArrayList<String>();
    for (var kind : List.of("numanodestates", "numapolicies")) {
      texts.add(Files.readString(CrdFiles.DIRECTORY.resolve(kind + ".numaoperator.io.yaml")));
    }
    return texts;
  }

  private static boolean mentioned(String page, String field) {
    return Pattern.compile("(?m)^\\| (\\*\\*)?`" + field + "`(\\*\\*)? \\| \\S")
        .matcher(page)
        .find();
  }

  private static void collect(JsonNode schema, Set<String> names) {
    schema
        .path("properties")
        .properties()
        .forEach(
            field -> {
              names.add(field.getKey());
              collect(field.getValue(), names);
            });
    for (var inner : List.of("items", "additionalProperties")) {
      if (schema.path(inner).isObject()) {
        collect(schema.get(inner), names);
      }
    }
  }
}
