package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.NumaNodeStateStatus.TopologyComparison;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

  private final Time time;
  private final Lag lag = new Lag();

  TopologyPublisher(ApiServer api, Time time, String nodeName) {
    this.api = api;
    this.time = time;
    this.nodeName = nodeName;
  }

  /** What the agent has to do about it. */
  sealed interface Duty {
    /** It is ours. */
    record Publish() implements Duty {}

    /** Somebody else publishes, and may be as late as that. */
    record Compare(Duration allowed) implements Duty {}

    /** As the state's spec says; empty when it says nothing. */
    static Optional<Duty> of(JsonNode spec) {
      var publish = spec.path("topology").path("publish");
      if (!publish.isBoolean()) {
        return Optional.empty();
      }
      return Optional.of(
          publish.asBoolean()
              ? new Publish()
              : new Compare(
                  Duration.ofSeconds(spec.path("topology").path("lagSeconds").asLong(0))));
    }
  }

  /** The object as the API server has it; empty when there is none. */
  void seen(Optional<JsonNode> object) {
    current.set(object);
  }

  /**
   * @param duty whether it is ours to write
   * @return how what is published compares now
   * @throws IOException when the API server is away or refuses
   */
  TopologyComparison sync(TopologyReport report, String nodeUid, Duty duty) throws IOException {
    if (duty instanceof Duty.Publish) {
      var wanted = report.toJson(nodeName, nodeUid);
      if (current.get().filter(there -> says(there, wanted)).isEmpty()) {
        current.set(Optional.of(api.applyTopology(wanted)));
      }
    }
    var comparison = new TopologyComparison();
    comparison.published = current.get().isPresent();
    var differences = current.get().map(report::differences).orElse(List.of());
    comparison.differences =
        duty instanceof Duty.Compare(var allowed)
            ? lag.lasting(differences, allowed, time.now())
            : differences;
    return comparison;
  }

  /** All that we write is there as we write it. */
  private static boolean says(JsonNode there, JsonNode wanted) {
    return wanted.path("zones").equals(there.path("zones"))
        && wanted.path("attributes").equals(there.path("attributes"))
        && covers(
            there.path("metadata").path("annotations"), wanted.path("metadata").path("annotations"))
        && owners(there).containsAll(owners(wanted));
  }

  /** An updater of before may be among them. */
  private static List<JsonNode> owners(JsonNode topology) {
    var owners = new ArrayList<JsonNode>();
    topology.path("metadata").path("ownerReferences").forEach(owners::add);
    return owners;
  }

  private static boolean covers(JsonNode there, JsonNode wanted) {
    return wanted.properties().stream()
        .allMatch(field -> field.getValue().equals(there.path(field.getKey())));
  }
}
