package io.numaoperator.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What a newer CRD does to those who go by an older one: objects that are stored, files in Git,
 * agents and operators of the version before. Each finding is a path and a word.
 */
final class CrdChanges {
  private static final List<String> LEAST =
      List.of("minLength", "minimum", "minItems", "minProperties");
  private static final List<String> MOST =
      List.of("maxLength", "maximum", "maxItems", "maxProperties");
  private static final List<String> FIXED =
      List.of(
          "type",
          "format",
          "pattern",
          "x-kubernetes-int-or-string",
          "x-kubernetes-list-type",
          "x-kubernetes-list-map-keys",
          "x-kubernetes-map-type",
          "x-kubernetes-preserve-unknown-fields",
          "nullable");

  private final List<String> found = new ArrayList<>();

  private CrdChanges() {}

  /** What breaks somebody; empty when nothing does. */
  static List<String> breaking(JsonNode old, JsonNode now) {
    var changes = new CrdChanges();
    for (var part : List.of("group", "scope", "names/kind", "names/plural")) {
      changes.same(part, old.at("/spec/" + part), now.at("/spec/" + part));
    }
    for (var version : old.at("/spec/versions")) {
      changes.version(version, now);
    }
    return changes.found;
  }

  private void version(JsonNode old, JsonNode crd) {
    var name = old.get("name").asText();
    var now =
        stream(crd.at("/spec/versions")).filter(v -> v.get("name").asText().equals(name)).findAny();
    if (now.filter(v -> v.path("served").asBoolean()).isEmpty()) {
      found.add(name + ": no longer served");
    } else {
      var path = "/schema/openAPIV3Schema";
      schema(name, old.at(path), now.get().at(path));
    }
  }

  private void schema(String path, JsonNode old, JsonNode now) {
    for (var key : FIXED) {
      same(path + ": " + key, old.path(key), now.path(key));
    }
    values(path, old.path("enum"), now.path("enum"));
    LEAST.forEach(key -> limit(path, key, old.path(key), now.path(key), 1));
    MOST.forEach(key -> limit(path, key, old.path(key), now.path(key), -1));
    rules(path, old, now);
    required(path, old, now);
    fields(path, old, now);
    for (var inner : List.of("items", "additionalProperties")) {
      if (old.path(inner).isObject()) {
        schema(path + "[]", old.get(inner), now.path(inner));
      }
    }
  }

  private void fields(String path, JsonNode old, JsonNode now) {
    for (var field : old.path("properties").properties()) {
      var name = path + "." + field.getKey();
      var other = now.path("properties").path(field.getKey());
      if (other.isMissingNode()) {
        found.add(name + ": removed");
        continue;
      }
      // who left it out meant the old one
      same(name + ": default", field.getValue().path("default"), other.path("default"));
      schema(name, field.getValue(), other);
    }
  }

  /** One that comes with a default is never missing. */
  private void required(String path, JsonNode old, JsonNode now) {
    var before = texts(old.path("required"));
    for (var name : texts(now.path("required"))) {
      if (!before.contains(name) && !now.path("properties").path(name).has("default")) {
        found.add(path + "." + name + ": required now");
      }
    }
  }

  /**
   * What was written may be refused; and of what the node's agent writes, a word that the operator
   * of before does not know makes the whole object unreadable to it.
   */
  private void values(String path, JsonNode old, JsonNode now) {
    var before = texts(old);
    var after = texts(now);
    if (after.isEmpty()) {
      return;
    }
    if (before.isEmpty()) {
      found.add(path + ": limited to values");
    }
    before.stream()
        .filter(value -> !after.contains(value))
        .forEach(value -> found.add(path + ": value " + value + " removed"));
    if (path.matches("[^.]*\\.status\\b.*")) {
      after.stream()
          .filter(value -> !before.contains(value))
          .forEach(value -> found.add(path + ": value " + value + " is new in status"));
    }
  }

  private void limit(String path, String key, JsonNode old, JsonNode now, int tighter) {
    if (now.isMissingNode()) {
      return;
    }
    if (old.isMissingNode()) {
      found.add("%s: %s added".formatted(path, key));
    } else if (now.decimalValue().compareTo(old.decimalValue()) == tighter) {
      found.add("%s: %s tightened".formatted(path, key));
    }
  }

  /** A new rule is harmless only where it has nothing to say without a field that is new too. */
  private void rules(String path, JsonNode old, JsonNode now) {
    var before = rules(old);
    var fresh = new TreeSet<String>();
    now.path("properties").fieldNames().forEachRemaining(fresh::add);
    old.path("properties").fieldNames().forEachRemaining(fresh::remove);
    rules(now).stream()
        .filter(rule -> !before.contains(rule))
        .filter(rule -> fresh.stream().noneMatch(f -> rule.endsWith("|| !has(self." + f + ")")))
        .forEach(rule -> found.add("%s: rule %s".formatted(path, rule)));
  }

  private static List<String> rules(JsonNode schema) {
    return stream(schema.path("x-kubernetes-validations"))
        .map(r -> r.get("rule").asText())
        .toList();
  }

  private void same(String what, JsonNode old, JsonNode now) {
    if (!Objects.equals(present(old), present(now))) {
      found.add(what + " changed");
    }
  }

  private static Optional<JsonNode> present(JsonNode node) {
    return node instanceof MissingNode ? Optional.empty() : Optional.of(node);
  }

  private static List<String> texts(JsonNode list) {
    return stream(list).map(JsonNode::asText).toList();
  }

  private static Stream<JsonNode> stream(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }
}
