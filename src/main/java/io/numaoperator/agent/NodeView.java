package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.Names;
import java.time.Instant;
import java.util.Optional;

/**
 * What the agent wants to know of its Node object.
 *
 * @param uid of the object
 * @param kubeletVersion for example v1.36.3
 * @param internalIp the address that the kubelet serves on
 * @param kubeletPort the port of its HTTPS API
 * @param cordonedFor the value of the operator's cordon annotation
 * @param ready whether condition Ready is True
 * @param heartbeat when the kubelet last wrote condition Ready
 */
record NodeView(
    String uid,
    String kubeletVersion,
    Optional<String> internalIp,
    int kubeletPort,
    boolean unschedulable,
    Optional<String> cordonedFor,
    boolean ready,
    Instant heartbeat) {

  static NodeView of(JsonNode node) {
    var status = node.path("status");
    var ready = false;
    var heartbeat = Instant.EPOCH;
    for (var condition : status.path("conditions")) {
      if (condition.path("type").asText().equals("Ready")) {
        ready = condition.path("status").asText().equals("True");
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
        ready,
        heartbeat);
  }

  private static Instant instant(JsonNode time) {
    return time.isTextual() ? Instant.parse(time.asText()) : Instant.EPOCH;
  }
}
