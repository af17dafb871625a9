package io.numaoperator.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.view.ClusterStatus;
import io.numaoperator.view.NodeLine;
import io.numaoperator.view.PolicyLine;
import java.util.OptionalInt;

/**
 * {@code status -o json|yaml}: the table's values under stable names; what is not known is absent.
 */
final class StatusData {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private StatusData() {}

  static String json(ClusterStatus status) {
    return of(status).toPrettyString() + "\n";
  }

  static String yaml(ClusterStatus status) {
    return Serialization.asYaml(of(status)).replaceFirst("^---\n", "");
  }

  private static ObjectNode of(ClusterStatus status) {
    var root = JSON.objectNode();
    root.put("ready", status.isReady());
    var policies = root.putArray("policies");
    status.policies().forEach(policy -> policies.add(of(policy)));
    var nodes = root.putArray("nodes");
    status.nodes().forEach(node -> nodes.add(of(node)));
    return root;
  }

  private static ObjectNode of(PolicyLine policy) {
    var json =
        JSON.objectNode()
            .put("name", policy.name())
            .put("mode", policy.mode())
            .put("ready", policy.ready().name())
            .put("reason", policy.reason())
            .put("message", policy.next());
    put(json, "nodes", policy.nodes());
    put(json, "readyNodes", policy.readyNodes());
    put(json, "updating", policy.updating());
    put(json, "failed", policy.failed());
    return json;
  }

  private static ObjectNode of(NodeLine node) {
    var json =
        JSON.objectNode()
            .put("name", node.node())
            .put("policy", node.policy())
            .put("ready", node.ready().name())
            .put("reason", node.reason())
            .put("message", node.next());
    node.step().ifPresent(step -> json.put("step", step.name()));
    put(json, "zones", node.zones());
    put(json, "gpus", node.gpus());
    put(json, "aligned", node.aligned());
    put(json, "crossNuma", node.cross());
    node.kubeletVersion().ifPresent(version -> json.put("kubeletVersion", version));
    node.topologyPolicy().ifPresent(policy -> json.put("topologyManagerPolicy", policy));
    node.topologyScope().ifPresent(scope -> json.put("topologyManagerScope", scope));
    return json;
  }

  private static void put(ObjectNode json, String name, OptionalInt number) {
    number.ifPresent(value -> json.put(name, value));
  }
}
