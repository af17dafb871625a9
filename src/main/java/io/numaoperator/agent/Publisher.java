package io.numaoperator.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.numaoperator.api.NumaNodeStateStatus;
import java.io.IOException;

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
   * @return whether the object says this now; false when there is no object
   * @throws IOException when the API server is away or refuses
   */
  boolean publish(NumaNodeStateStatus status) throws IOException {
    ObjectNode tree = mapper.valueToTree(status);
    // the operator's: not even an empty list may be applied by us
    tree.remove("conditions");
    if (tree.equals(published)) {
      return true;
    }
    boolean there = api.applyStatus(tree);
    published = there ? tree : null;
    return there;
  }
}
