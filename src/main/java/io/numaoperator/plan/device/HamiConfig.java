package io.numaoperator.plan.device;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Ownership;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * HAMi's config.json: {@code {"nodeconfig": [{"name": NODE, …}]}}.
 *
 * <p>HAMi merges all entries of its node in their order, non-zero values winning, and ignores keys
 * that it does not know (readFromConfigFile in its nvinternal/plugin). So nobody else's entry is
 * touched: ours stand behind them, marked, and are renewed as a whole.
 */
final class HamiConfig {
  private static final String NODES = "nodeconfig";
  private static final String NAME = "name";
  private static final String MODE = "operatingmode";
  private static final String HAMI_CORE = "hami-core";
  private static final String MARK = "managedby";

  private HamiConfig() {}

  /** What became of a merge. */
  sealed interface Result {}

  /**
   * The new content.
   *
   * @param entries hash of the entry of each node that has one of ours now
   * @param otherMode nodes that got no entry since another operatingmode (mig) is set for them,
   *     sorted
   */
  record Merged(String json, SortedMap<String, String> entries, List<String> otherMode)
      implements Result {}

  /** The existing content is not what HAMi can read; why completes a sentence. */
  record Invalid(String why) implements Result {}

  /**
   * The existing content with one entry for each node in place of ours of before.
   *
   * @param existing of our ConfigMap, or of HAMi's own the first time
   * @param nodes node name → devicesplitcount
   * @param kept nodes whose entry of ours stays as it is
   */
  static Result merge(
      Optional<String> existing, SortedMap<String, OptionalInt> nodes, Set<String> kept) {
    ObjectMapper mapper = mapper();
    JsonNode parsed;
    try {
      parsed = mapper.readTree(existing.filter(text -> !text.isBlank()).orElse("{}"));
    } catch (JsonProcessingException e) {
      return new Invalid(e.getOriginalMessage() + at(e));
    }
    if (!(parsed instanceof ObjectNode root)) {
      return new Invalid("it is not a JSON object");
    }
    var key = keyOf(root, NODES).orElse(NODES);
    var others = new ArrayList<JsonNode>();
    switch (root.get(key)) {
      case null -> {}
      case ArrayNode array -> array.forEach(others::add);
      case JsonNode node when node.isNull() -> {}
      case JsonNode _ -> {
        return new Invalid("nodeconfig is not a list");
      }
    }
    var modes = new HashMap<String, String>();
    others.removeIf(entry -> isOurs(entry) && !isOf(entry, kept));
    for (var entry : others) {
      if (!(entry instanceof ObjectNode object)) {
        return new Invalid("nodeconfig has an entry that is not an object");
      }
      if (!isTextOrAbsent(object, NAME) || !isTextOrAbsent(object, MODE)) {
        return new Invalid("nodeconfig has an entry whose name or operatingmode is not a string");
      }
      text(object, MODE)
          .filter(mode -> !mode.isEmpty())
          .ifPresent(mode -> modes.put(text(object, NAME).orElse(""), mode));
    }
    var otherMode = new ArrayList<String>();
    var hashes = new TreeMap<String, String>();
    var entries = root.putArray(key).addAll(others);
    nodes.forEach(
        (node, splitCount) -> {
          if (modes.getOrDefault(node, HAMI_CORE).equals(HAMI_CORE)) {
            var entry = entries.addObject();
            fill(entry, node, splitCount);
            hashes.put(node, ContentHash.of(entry.toString()));
          } else {
            otherMode.add(node);
          }
        });
    return new Merged(write(mapper, root), hashes, otherMode);
  }

  private static void fill(ObjectNode entry, String node, OptionalInt splitCount) {
    entry
        .put(NAME, node)
        .put(MODE, HAMI_CORE)
        .put("enablenumatopology", true)
        // topology without it: Allocate picks other GPUs than the kubelet aligned
        .put("enablegetpreferredallocation", true);
    splitCount.ifPresent(count -> entry.put("devicesplitcount", count));
    entry.put(MARK, Ownership.OPERATOR);
  }

  private static boolean isOurs(JsonNode entry) {
    return entry instanceof ObjectNode object
        && text(object, MARK).filter(Ownership.OPERATOR::equals).isPresent();
  }

  private static boolean isOf(JsonNode entry, Set<String> nodes) {
    return entry instanceof ObjectNode object
        && text(object, NAME).filter(nodes::contains).isPresent();
  }

  private static boolean isTextOrAbsent(ObjectNode entry, String key) {
    return keyOf(entry, key)
        .map(entry::get)
        .map(value -> value.isTextual() || value.isNull())
        .orElse(true);
  }

  private static Optional<String> text(ObjectNode entry, String key) {
    return keyOf(entry, key).map(entry::get).filter(JsonNode::isTextual).map(JsonNode::textValue);
  }

  // Go's encoding/json, which HAMi reads with, does not mind case
  private static Optional<String> keyOf(ObjectNode object, String key) {
    return object.properties().stream()
        .map(Map.Entry::getKey)
        .filter(key::equalsIgnoreCase)
        .findFirst();
  }

  /** Numbers come out as they went in (1.80 too); what Go would not read is refused. */
  private static ObjectMapper mapper() {
    return JsonMapper.builder()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
        .build();
  }

  /** One line an entry: a person reads it, and 1 MiB has to do for thousands of nodes. */
  private static String write(ObjectMapper mapper, ObjectNode root) {
    var printer =
        new DefaultPrettyPrinter()
            .withArrayIndenter(new DefaultIndenter("  ", "\n"))
            .withObjectIndenter(new DefaultPrettyPrinter.FixedSpaceIndenter());
    try {
      return mapper.writer(printer).writeValueAsString(root) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of JSON can be written", e);
    }
  }

  private static String at(JsonProcessingException e) {
    var location = e.getLocation();
    return location == null
        ? ""
        : " (line %d, column %d)".formatted(location.getLineNr(), location.getColumnNr());
  }
}
