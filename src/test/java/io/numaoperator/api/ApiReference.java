package io.numaoperator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Makes {@code docs/api.md} from the CRDs ({@code make crds}): a section for each object, a line
 * for each of its fields. An object that is of the same shape as an earlier one of its kind has a
 * link instead of a section.
 */
final class ApiReference {
  static final Path PAGE = Path.of("docs/api.md");
  private static final YAMLMapper YAML = new YAMLMapper();
  private static final String INTRODUCTION =
      """
      # API reference
      For whoever writes a policy or reads what the operator reports: every field of the two kinds. \
      `make crds` makes this page from the CRDs; `kubectl explain numapolicy.spec` says the same \
      of those in your cluster. What they are for is in [concepts.md](concepts.md).

      A field in **bold** is required. "Rule" is a condition in CEL that the API server holds the \
      object to.
      """;

  private final StringBuilder page = new StringBuilder();
  private final Map<JsonNode, String> sections = new HashMap<>();

  private ApiReference() {}

  /** The page of these CRDs, each a YAML document. */
  static String page(Collection<String> crds) {
    var kinds =
        crds.stream()
            .map(ApiReference::parse)
            // policies first: that is what people write
            .sorted(Comparator.comparing(ApiReference::kind).reversed())
            .toList();
    return INTRODUCTION
        + kinds.stream().map(crd -> new ApiReference().of(crd)).collect(Collectors.joining());
  }

  private static JsonNode parse(String yaml) {
    try {
      return YAML.readTree(yaml);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String kind(JsonNode crd) {
    return crd.at("/spec/names/kind").asText();
  }

  private String of(JsonNode crd) {
    for (var version : crd.at("/spec/versions")) {
      page.append("\n## %s\n".formatted(kind(crd)));
      page.append(
          "`apiVersion: %s/%s`, scope %s, short name `%s`, category `%s`.\n"
              .formatted(
                  crd.at("/spec/group").asText(),
                  version.get("name").asText(),
                  crd.at("/spec/scope").asText().toLowerCase(Locale.ROOT),
                  crd.at("/spec/names/shortNames/0").asText(),
                  crd.at("/spec/names/categories/0").asText()));
      var schema = version.at("/schema/openAPIV3Schema");
      rules(schema);
      for (var part : List.of("spec", "status")) {
        section(kind(crd) + "." + part, schema.at("/properties/" + part));
      }
    }
    return page.toString();
  }

  /** An object's own section, then those of the objects in it. */
  private void section(String path, JsonNode schema) {
    sections.put(schema.get("properties"), path);
    page.append("\n### %s\n".formatted(path));
    rules(schema);
    if (schema.has("x-kubernetes-validations")) {
      page.append('\n');
    }
    page.append("| Field | Type | Default | Says |\n|---|---|---|---|\n");
    var required = texts(schema.path("required"));
    var inner = new ArrayList<Runnable>();
    for (var property : schema.get("properties").properties()) {
      var name = property.getKey();
      var field = property.getValue();
      var object = object(field);
      var shown = required.contains(name) ? "**`" + name + "`**" : "`" + name + "`";
      var link = "";
      if (object.has("properties")) {
        var known = sections.get(object.get("properties"));
        var target = known == null ? path + "." + name + brackets(field) : known;
        link = " [%s](#%s)".formatted(known == null ? "Fields" : "As there", anchor(target));
        if (known == null) {
          sections.put(object.get("properties"), target);
          inner.add(() -> section(target, object));
        }
      }
      page.append(
          "| %s | %s | %s | %s |\n"
              .formatted(
                  shown,
                  type(field),
                  field.has("default") ? code(flow(field.get("default"))) : "",
                  (cell(field.path("description").asText().replace("<", "&lt;"))
                          + (object.has("properties") ? "" : ruleText(field))
                          + link)
                      .strip()));
    }
    inner.forEach(Runnable::run);
  }

  private void rules(JsonNode schema) {
    for (var rule : schema.path("x-kubernetes-validations")) {
      page.append(
          "- Rule: %s. %s\n"
              .formatted(rule.get("message").asText(), code(rule.get("rule").asText())));
    }
  }

  private static String ruleText(JsonNode field) {
    return StreamSupport.stream(field.path("x-kubernetes-validations").spliterator(), false)
        .map(
            rule ->
                " Rule: %s. %s"
                    .formatted(
                        cell(rule.get("message").asText()), cell(code(rule.get("rule").asText()))))
        .collect(Collectors.joining());
  }

  /** What a list or map is made of; else the field itself. */
  private static JsonNode object(JsonNode field) {
    if (field.has("items")) {
      return field.get("items");
    }
    return field.path("additionalProperties").isObject()
        ? field.get("additionalProperties")
        : field;
  }

  private static String brackets(JsonNode field) {
    return field.has("items") ? "[]" : field.path("additionalProperties").isObject() ? "{}" : "";
  }

  private static String type(JsonNode field) {
    if (field.has("enum")) {
      return texts(field.get("enum")).stream()
          .map(v -> "`" + v + "`")
          .collect(Collectors.joining(", "));
    }
    if (field.has("items")) {
      return "list of " + type(field.get("items")) + most(field, "maxItems");
    }
    if (field.path("additionalProperties").isObject()) {
      return "map of " + type(field.get("additionalProperties")) + most(field, "maxProperties");
    }
    if (field.path("x-kubernetes-int-or-string").asBoolean()) {
      return "integer or string" + bounds(field);
    }
    return field.path("type").asText() + bounds(field);
  }

  private static String most(JsonNode field, String key) {
    return field.has(key) ? ", at most " + field.get(key).asText() : "";
  }

  private static String bounds(JsonNode field) {
    var text = range(field, "minLength", "maxLength", " characters");
    text += range(field, "minimum", "maximum", "");
    return field.has("pattern") ? text + ", " + cell(code(field.get("pattern").asText())) : text;
  }

  private static String range(JsonNode field, String least, String most, String unit) {
    if (!field.has(least) && !field.has(most)) {
      return "";
    }
    var from = field.has(least) ? String.valueOf(field.get(least).asLong()) : "";
    var to = field.has(most) ? String.valueOf(field.get(most).asLong()) : "";
    return ", "
        + (from.isEmpty()
            ? "at most " + to
            : to.isEmpty() ? "at least " + from : from + " to " + to)
        + unit;
  }

  /** A value as one writes it in YAML on one line. */
  private static String flow(JsonNode value) {
    if (value.isObject()) {
      return value.properties().stream()
          .map(field -> field.getKey() + ": " + flow(field.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value.isArray()) {
      return StreamSupport.stream(value.spliterator(), false)
          .map(ApiReference::flow)
          .collect(Collectors.joining(", ", "[", "]"));
    }
    return value.isTextual() && value.asText().isEmpty() ? "\"\"" : value.asText();
  }

  private static List<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).toList();
  }

  private static String code(String text) {
    return "`" + text.replaceAll("\\s+", " ") + "`";
  }

  /** Nothing in a cell ends it. */
  private static String cell(String text) {
    return text.replace("|", "\\|");
  }

  /** As GitHub makes it of a heading. */
  private static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 _-]", "").replace(' ', '-');
  }
}
