package io.numaoperator.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.plan.Ownership;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What is needed to find a fault from afar. No Secret is ever read. Of what anybody may write into
 * an object, the annotation of client-side apply and managedFields are left out, and the values of
 * environment variables of pods.
 */
final class Gathering {
  private static final int LOG_LINES = 10_000;
  private static final int LOG_BYTES = 10 << 20;
  private static final String APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

  /** Reasons of Events of pods that this product is about. */
  private static final Set<String> REASONS =
      Set.of(
          "TopologyAffinityError",
          "SMTAlignmentError",
          "UnexpectedAdmissionError",
          "FailedScheduling");

  private static final String OURS = "numa";

  private final Api api;
  private final String namespace;
  private final Tar tar;
  private final String root;
  private final List<String> missing = new ArrayList<>();

  /**
   * @param namespace the operator's
   * @param root the directory that all files are in
   */
  Gathering(Api api, String namespace, Tar tar, String root) {
    this.api = api;
    this.namespace = namespace;
    this.tar = tar;
    this.root = root;
  }

  /**
   * @return what could not be had, a line each; these are in the tar as well
   */
  List<String> run() throws IOException {
    attempt("version", () -> json("version.json", api.json("version").orElseThrow()));
    objects("numapolicies", ClusterReader.POLICIES, o -> true);
    objects("numanodestates", ClusterReader.STATES, o -> true);
    objects("noderesourcetopologies", ClusterReader.TOPOLOGIES, o -> true);
    objects("nodes", "api/v1/nodes", o -> true);
    var here = "namespaces/" + Api.encoded(namespace);
    objects("operator/pods", "api/v1/" + here + "/pods", o -> true);
    objects("operator/daemonsets", "apis/apps/v1/" + here + "/daemonsets", o -> true);
    objects("operator/deployments", "apis/apps/v1/" + here + "/deployments", o -> true);
    objects("operator/leases", "apis/coordination.k8s.io/v1/" + here + "/leases", o -> true);
    objects(
        "operator/configmaps",
        "api/v1/" + here + "/configmaps?labelSelector=" + Api.encoded(Ownership.PART_LABEL),
        o -> true);
    objects("events", "api/v1/events", this::isRelevant);
    attempt("logs", this::logs);
    if (!missing.isEmpty()) {
      tar.file(root + "/missing.txt", text(String.join("\n", missing) + "\n"));
    }
    return missing;
  }

  private boolean isRelevant(JsonNode event) {
    return event.path("metadata").path("namespace").asText().equals(namespace)
        || event.path("involvedObject").path("kind").asText().equals("Node")
        || event.path("source").path("component").asText().contains(OURS)
        || event.path("reportingComponent").asText().contains(OURS)
        || REASONS.contains(event.path("reason").asText());
  }

  private interface Action {
    void run() throws IOException;
  }

  /** What is refused or missing keeps nothing else out; a disk that is full does. */
  private void attempt(String what, Action action) throws IOException {
    try {
      action.run();
    } catch (CliException refused) {
      missing.add(what + ": " + refused.getMessage());
    }
  }

  /** A file for each object, named after it; of Events one file. */
  private void objects(String directory, String path, Predicate<JsonNode> wanted)
      throws IOException {
    attempt(
        directory,
        () -> {
          var objects = api.list(path, ObjectNode.class);
          if (objects.isEmpty()) {
            missing.add(directory + ": the cluster does not have the kind");
            return;
          }
          var kept = objects.get().stream().filter(wanted).toList();
          kept.forEach(Gathering::clean);
          if (directory.equals("events")) {
            yaml("events.yaml", Serialization.jsonMapper().valueToTree(List.copyOf(kept)));
          } else {
            for (var object : kept) {
              yaml(
                  directory + "/" + object.path("metadata").path("name").asText() + ".yaml",
                  typed(object, path));
            }
          }
        });
  }

  /** A list's items do not say their kind; what reads the files wants to know it. */
  private static ObjectNode typed(ObjectNode object, String path) {
    if (object.has("kind")) {
      return object;
    }
    var kind =
        switch (path) {
          case "api/v1/nodes" -> "Node";
          case ClusterReader.POLICIES -> "NumaPolicy";
          case ClusterReader.STATES -> "NumaNodeState";
          default -> path.equals(ClusterReader.TOPOLOGIES) ? "NodeResourceTopology" : "";
        };
    return kind.isEmpty() ? object : object.put("kind", kind);
  }

  private static void clean(ObjectNode object) {
    if (object.get("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
      if (metadata.get("annotations") instanceof ObjectNode annotations) {
        annotations.remove(APPLIED);
      }
    }
    for (var environment : object.findValues("env")) {
      for (var variable : environment) {
        if (variable instanceof ObjectNode set && set.has("value")) {
          set.put("value", "(left out)");
        }
      }
    }
  }

  private void logs() throws IOException {
    var pods =
        api.list("api/v1/namespaces/%s/pods".formatted(Api.encoded(namespace)), JsonNode.class)
            .orElse(List.of());
    for (var pod : pods) {
      var name = pod.path("metadata").path("name").asText();
      for (var status : pod.path("status").path("containerStatuses")) {
        var container = status.path("name").asText();
        log(name, container, false);
        if (status.path("restartCount").asInt() > 0) {
          log(name, container, true);
        }
      }
    }
  }

  private void log(String pod, String container, boolean previous) throws IOException {
    var file = "operator/logs/" + pod + "/" + container + (previous ? ".previous.log" : ".log");
    attempt(
        file,
        () ->
            tar.file(
                root + "/" + file,
                api.bytes(
                        "api/v1/namespaces/%s/pods/%s/log?container=%s&tailLines=%d&limitBytes=%d&previous=%s"
                            .formatted(
                                Api.encoded(namespace),
                                Api.encoded(pod),
                                Api.encoded(container),
                                LOG_LINES,
                                LOG_BYTES,
                                previous))
                    .orElseThrow(() -> new CliException("there is none"))));
  }

  private void yaml(String name, JsonNode content) throws IOException {
    tar.file(root + "/" + name, text(Serialization.asYaml(content)));
  }

  private void json(String name, JsonNode content) throws IOException {
    tar.file(root + "/" + name, text(content.toPrettyString() + "\n"));
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
