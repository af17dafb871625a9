package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.Names;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the agent wants to know of its Node object.
 *
 * @param uid of the object
 * @param kubeletVersion for example v1.36.3
 * @param internalIp the address that the kubelet serves on
 * @param kubeletPort the port of its HTTPS API
 * @param cordonedFor the value of the operator's cordon annotation
 * @param notReady what condition Ready says while it is not True, for example KubeletNotReady:
 *     CSINode is not yet initialized
 * @param heartbeat when the kubelet last wrote condition Ready
 * @param osImage for example Bottlerocket OS 1.20.0 (aws-k8s-1.31)
 * @param marks names of its labels and annotations
 */
record NodeView(
    String uid,
    String kubeletVersion,
    Optional<String> internalIp,
    int kubeletPort,
    boolean unschedulable,
    Optional<String> cordonedFor,
    Optional<String> notReady,
    Instant heartbeat,
    String osImage,
    Set<String> marks) {

  static NodeView of(JsonNode node) {
    var status = node.path("status");
    var notReady = Optional.of("it has no condition Ready");
    var heartbeat = Instant.EPOCH;
    for (var condition : status.path("conditions")) {
      if (condition.path("type").asText().equals("Ready")) {
        notReady = notReady(condition);
        heartbeat = instant(condition.path("lastHeartbeatTime"));
      }
    }
    Optional<String> ip = Optional.empty();
    for (var address : status.path("addresses")) {
      if (ip.isEmpty() && address.path("type").asText().equals("InternalIP")) {
        ip = Optional.of(address.path("address").asText());
      }
    }
    var cordoned = node.path("metadata").path("annotations").path(Names.CORDONED_ANNOTATION);
    return new NodeView(
        node.path("metadata").path("uid").asText(),
        status.path("nodeInfo").path("kubeletVersion").asText(),
        ip,
        status.path("daemonEndpoints").path("kubeletEndpoint").path("Port").asInt(10250),
        node.path("spec").path("unschedulable").asBoolean(false),
        cordoned.isTextual() ? Optional.of(cordoned.asText()) : Optional.empty(),
        notReady,
        heartbeat,
        status.path("nodeInfo").path("osImage").asText(),
        marks(node.path("metadata")));
  }

  private static Optional<String> notReady(JsonNode condition) {
    return condition.path("status").asText().equals("True")
        ? Optional.empty()
        : Optional.of(
            condition.path("reason").asText() + ": " + condition.path("message").asText());
  }

  private static Set<String> marks(JsonNode metadata) {
    var names = new TreeSet<String>();
    metadata.path("labels").fieldNames().forEachRemaining(names::add);
    metadata.path("annotations").fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static Instant instant(JsonNode time) {
    return time.isTextual() ? Instant.parse(time.asText()) : Instant.EPOCH;
  }
}
