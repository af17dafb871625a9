package io.numaoperator.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.StreamSupport;

/**
 * What a console shows of an object's fields: a choice of them, each with the description and the
 * values of the CRD.
 */
record Descriptors(JsonNode schema) {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String CONDITIONS = "urn:alm:descriptor:io.kubernetes.conditions";
  private static final String UI = "urn:alm:descriptor:com.tectonic.ui:";

  private static final List<String> SPEC =
      List.of(
          "mode",
          "nodeSelector",
          "kubelet.delivery",
          "kubelet.topologyManager.policy",
          "kubelet.topologyManager.scope",
          "kubelet.cpuManager.policy",
          "kubelet.memoryManager.policy",
          "devicePlugin.provider",
          "topologyUpdater.provider",
          "scheduler.provider",
          "rollout.maxUnavailable",
          "rollout.pauseOnFailure",
          "rollout.onDelete");

  private static final List<String> STATUS =
      List.of("conditions", "nodes.matched", "nodes.ready", "nodes.updating", "nodes.failed");

  ArrayNode ofPolicySpec() {
    return list("spec", SPEC);
  }

  ArrayNode ofPolicyStatus() {
    return list("status", STATUS);
  }

  ArrayNode ofNodeStatus() {
    return list("status", List.of("conditions", "bootId"));
  }

  private ArrayNode list(String part, List<String> paths) {
    var list = JSON.arrayNode();
    for (var path : paths) {
      var field = field(part + "." + path);
      var descriptor = list.addObject();
      descriptor.put("path", path);
      descriptor.put("displayName", displayName(path));
      descriptor.put("description", field.path("description").asText());
      var hints = hints(path, field);
      if (!hints.isEmpty()) {
        var array = descriptor.putArray("x-descriptors");
        hints.forEach(array::add);
      }
    }
    return list;
  }

  private JsonNode field(String path) {
    var field = schema;
    for (var name : path.split("\\.")) {
      field = field.path("properties").path(name);
    }
    if (field.isMissingNode()) {
      throw new IllegalStateException("the CRD has no field " + path);
    }
    return field;
  }

  private static List<String> hints(String path, JsonNode field) {
    if (path.equals("conditions")) {
      return List.of(CONDITIONS);
    }
    if (path.equals("nodeSelector")) {
      return List.of(UI + "selector:core:v1:Node");
    }
    if (field.path("type").asText().equals("boolean")) {
      return List.of(UI + "booleanSwitch");
    }
    return StreamSupport.stream(field.path("enum").spliterator(), false)
        .map(value -> UI + "select:" + value.asText())
        .toList();
  }

  /** {@code kubelet.topologyManager.policy} is Kubelet Topology Manager Policy. */
  private static String displayName(String path) {
    var words = new ArrayList<String>();
    Arrays.stream(path.split("[.]|(?=[A-Z])"))
        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
        .forEach(words::add);
    return String.join(" ", words);
  }
}
