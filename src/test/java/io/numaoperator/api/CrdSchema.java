package io.numaoperator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * What the API server finds wrong with an object by its CRD's schema, unknown fields included; for
 * tests without one. CEL rules are not looked at: the lab's API server does that.
 */
public final class CrdSchema {
  private final JsonNode root;

  private CrdSchema(JsonNode root) {
    this.root = root;
  }

  /** Of a committed CRD, by its plural. */
  public static CrdSchema of(String plural) throws IOException {
    var crd = CrdFiles.DIRECTORY.resolve(plural + ".numaoperator.io.yaml");
    return new CrdSchema(
        new YAMLMapper().readTree(crd.toFile()).at("/spec/versions/0/schema/openAPIV3Schema"));
  }

  /** Faults of a whole object, each with its path; empty when it has none. */
  public List<String> faults(JsonNode object) {
    var faults = new ArrayList<String>();
    var spec = object.path("spec");
    if (spec.isMissingNode()) {
      faults.add("spec: missing");
    } else {
      check("spec", root.at("/properties/spec"), spec, faults);
    }
    return faults;
  }

  /** Faults of some fields of a spec: those that are not there are not missed. */
  public List<String> faultsOfPart(JsonNode fields) {
    var faults = new ArrayList<String>();
    checkFields("spec", root.at("/properties/spec"), fields, faults);
    return faults;
  }

  /** Whether a spec has a field of this name. */
  public boolean hasSpecField(String name) {
    return root.at("/properties/spec/properties").has(name);
  }

  private static void check(String path, JsonNode schema, JsonNode value, List<String> faults) {
    if (!ofType(schema, value)) {
      faults.add("%s: not %s: %s".formatted(path, schema.path("type").asText(), value));
      return;
    }
    for (var name : schema.path("required")) {
      if (!value.has(name.asText())) {
        faults.add("%s.%s: missing".formatted(path, name.asText()));
      }
    }
    if (value.isObject()) {
      checkFields(path, schema, value, faults);
    }
    for (int i = 0; i < value.size() && value.isArray(); i++) {
      check(path + "[" + i + "]", schema.path("items"), value.get(i), faults);
    }
    var text = value.asText();
    limit(path, "enum", !schema.has("enum") || contains(schema.get("enum"), text), faults);
    if (value.isTextual()) {
      var pattern = schema.path("pattern").asText();
      limit(path, "pattern", Pattern.compile(pattern).matcher(text).find(), faults);
      within(path, schema, "minLength", "maxLength", text.length(), faults);
    }
    if (value.isNumber()) {
      within(path, schema, "minimum", "maximum", value.asLong(), faults);
    }
    if (value.isContainerNode()) {
      var counts = value.isArray() ? "Items" : "Properties";
      within(path, schema, "min" + counts, "max" + counts, value.size(), faults);
    }
  }

  private static void checkFields(
      String path, JsonNode schema, JsonNode object, List<String> faults) {
    for (var field : object.properties()) {
      var name = path + "." + field.getKey();
      var known = schema.path("properties").path(field.getKey());
      var inner = known.isMissingNode() ? schema.path("additionalProperties") : known;
      if (inner.isObject()) {
        check(name, inner, field.getValue(), faults);
      } else {
        faults.add(name + ": unknown");
      }
    }
  }

  private static boolean ofType(JsonNode schema, JsonNode value) {
    if (schema.path("x-kubernetes-int-or-string").asBoolean()) {
      return value.isTextual() || value.isIntegralNumber();
    }
    return switch (schema.path("type").asText()) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "number" -> value.isNumber();
      case "boolean" -> value.isBoolean();
      default -> false;
    };
  }

  private static void within(
      String path, JsonNode schema, String least, String most, long value, List<String> faults) {
    var number = BigDecimal.valueOf(value);
    limit(
        path,
        least,
        !schema.has(least) || number.compareTo(schema.get(least).decimalValue()) >= 0,
        faults);
    limit(
        path,
        most,
        !schema.has(most) || number.compareTo(schema.get(most).decimalValue()) <= 0,
        faults);
  }

  private static void limit(String path, String name, boolean kept, List<String> faults) {
    if (!kept) {
      faults.add("%s: against %s".formatted(path, name));
    }
  }

  private static boolean contains(JsonNode list, String text) {
    return StreamSupport.stream(list.spliterator(), false).anyMatch(v -> v.asText().equals(text));
  }
}
