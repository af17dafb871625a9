package io.numaoperator.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.api.NumaNodeStateStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Writes observations to the NumaNodeState, and only when they say something new. */
final class Publisher {
  private final ApiServer api;
  private final ObjectMapper mapper =
      JsonMapper.builder().serializationInclusion(JsonInclude.Include.NON_NULL).build();
  private volatile JsonNode published; // null when it is not known what the object says

  Publisher(ApiServer api) {
    this.api = api;
  }

  /** The object is another one now. */
  void forget() {
    published = null;
  }

  /**
   * What the object was just read to say. After a restore of etcd it is as it was once, with an
   * attempt under way that is long over, and nothing else would ever put that right.
   *
   * @return whether it is to be written again
   */
  boolean isStale(JsonNode status) {
    var said = published;
    if (said == null || attempt(said).equals(attempt(status))) {
      return false;
    }
    published = null;
    return true;
  }

  /** By its text: numbers have other classes once they were read. */
  private static List<String> attempt(JsonNode status) {
    var attempt = status.path("attempt");
    return Stream.of("number", "step", "result")
        .map(field -> attempt.path(field).asText())
        .toList();
  }

  /**
   * @return whether the object says this now; false when there is no object
   * @throws IOException when the API server is away or refuses
   */
  boolean publish(NumaNodeStateStatus status) throws IOException {
    ObjectNode tree = mapper.valueToTree(status);
    // the operator's: not even an empty list may be applied by us
    tree.remove("conditions");
    prune(tree);
    if (tree.equals(published)) {
      return true;
    }
    boolean there = api.applyStatus(tree);
    published = there ? tree : null;
    return there;
  }

  /**
   * Takes out objects without fields. Server-side apply makes null of an object whose last field is
   * no longer applied, and null fits no schema (seen with kube-apiserver 1.36).
   */
  private static void prune(ObjectNode object) {
    var names = new ArrayList<String>();
    object.fieldNames().forEachRemaining(names::add);
    for (var name : names) {
      if (object.get(name) instanceof ObjectNode child) {
        prune(child);
        if (child.isEmpty()) {
          object.remove(name);
        }
      }
    }
  }
}
