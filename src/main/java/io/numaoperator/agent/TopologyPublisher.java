package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.NumaNodeStateStatus.TopologyComparison;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Keeps this node's NodeResourceTopology as the kubelet says, or, where somebody else publishes it,
 * compares it. Writes only what changed against the object as the watch last told.
 */
final class TopologyPublisher {
  private final ApiServer api;
  private final String nodeName;
  private final AtomicReference<Optional<JsonNode>> current =
      new AtomicReference<>(Optional.empty());

  TopologyPublisher(ApiServer api, String nodeName) {
    this.api = api;
    this.nodeName = nodeName;
  }

  /** The object as the API server has it; empty when there is none. */
  void seen(Optional<JsonNode> object) {
    current.set(object);
  }

  /**
   * @param publish whether it is ours to write
   * @return how what is published compares now
   * @throws IOException when the API server is away or refuses
   */
  TopologyComparison sync(TopologyReport report, String nodeUid, boolean publish)
      throws IOException {
    if (publish) {
      var wanted = report.toJson(nodeName, nodeUid);
      if (current.get().filter(there -> says(there, wanted)).isEmpty()) {
        current.set(Optional.of(api.applyTopology(wanted)));
      }
    }
    var comparison = new TopologyComparison();
    comparison.published = current.get().isPresent();
    comparison.differences = current.get().map(report::differences).orElse(java.util.List.of());
    return comparison;
  }

  /** All that we write is there as we write it. */
  private static boolean says(JsonNode there, JsonNode wanted) {
    return wanted.path("zones").equals(there.path("zones"))
        && wanted.path("attributes").equals(there.path("attributes"))
        && covers(
            there.path("metadata").path("annotations"), wanted.path("metadata").path("annotations"))
        && wanted
            .path("metadata")
            .path("ownerReferences")
            .equals(there.path("metadata").path("ownerReferences"));
  }

  private static boolean covers(JsonNode there, JsonNode wanted) {
    return wanted.properties().stream()
        .allMatch(field -> field.getValue().equals(there.path(field.getKey())));
  }
}
