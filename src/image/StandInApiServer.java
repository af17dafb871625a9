import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.PfxOptions;
import java.util.Map;

/**
 * Stands for the API server while a cache of classes is trained or a start is measured, where no
 * cluster is: it lists one node with its state and one policy, says yes to every write by sending
 * it back, and tells watchers nothing. HTTPS with HTTP/2, as the real one.
 *
 * <p>Arguments: the port on the loopback, a PKCS#12 file, its password. Prints each request.
 */
final class StandInApiServer {
  private static final String UID = "6e756d61-6f70-6572-6174-6f72617069ff";

  private static final Map<String, JsonObject> ITEMS =
      Map.of(
          "nodes",
          object("v1", "Node", "gpu-1")
              .put("spec", new JsonObject())
              .put("status", new JsonObject().put("nodeInfo", version("kubeletVersion"))),
          "numapolicies",
          object("numaoperator.io/v1alpha1", "NumaPolicy", "gpu-nodes")
              .put(
                  "spec",
                  new JsonObject()
                      .put("mode", "Enforce")
                      .put(
                          "nodeSelector",
                          new JsonObject()
                              .put("matchLabels", new JsonObject().put("gpu", "true")))),
          "customresourcedefinitions",
          object(
                  "apiextensions.k8s.io/v1",
                  "CustomResourceDefinition",
                  "noderesourcetopologies.topology.node.k8s.io")
              .put(
                  "spec",
                  new JsonObject()
                      .put(
                          "versions",
                          array()
                              .add(new JsonObject().put("name", "v1alpha2").put("served", true))))
              .put(
                  "status",
                  new JsonObject()
                      .put(
                          "conditions",
                          array()
                              .add(
                                  new JsonObject()
                                      .put("type", "Established")
                                      .put("status", "True")))),
          "numanodestates",
          object("numaoperator.io/v1alpha1", "NumaNodeState", "gpu-1")
              .put("spec", new JsonObject().put("policy", "gpu-nodes")));

  private StandInApiServer() {}

  public static void main(String... args) {
    var options =
        new HttpServerOptions()
            .setHost("127.0.0.1")
            .setPort(Integer.parseInt(args[0]))
            .setSsl(true)
            .setUseAlpn(true)
            .setKeyCertOptions(new PfxOptions().setPath(args[1]).setPassword(args[2]));
    Vertx.vertx()
        .createHttpServer(options)
        .requestHandler(StandInApiServer::answer)
        .listen()
        .onSuccess(server -> System.out.println("listening"));
  }

  private static JsonObject object(String apiVersion, String kind, String name) {
    return new JsonObject()
        .put("apiVersion", apiVersion)
        .put("kind", kind)
        .put(
            "metadata",
            metadata().put("name", name).put("labels", new JsonObject().put("gpu", "true")));
  }

  private static JsonObject metadata() {
    return new JsonObject()
        .put("uid", UID)
        .put("resourceVersion", "1")
        .put("generation", 1)
        .put("creationTimestamp", "2026-01-01T00:00:00Z");
  }

  private static JsonObject version(String field) {
    return new JsonObject().put(field, "v1.36.0").put("major", "1").put("minor", "36");
  }

  private static void answer(HttpServerRequest request) {
    System.out.println(request.method() + " " + request.uri());
    if (!request.method().name().equals("GET")) {
      request.body().onSuccess(body -> json(request, 200, written(new JsonObject(body))));
      return;
    }
    var words = request.path().substring(1).split("/");
    // /api/v1/… and /apis/GROUP/VERSION/…, then perhaps namespaces/NAME, then a kind, then perhaps
    // a name
    int kind = words[0].equals("api") ? 2 : 3;
    if (words.length > kind + 2 && words[kind].equals("namespaces")) {
      kind += 2;
    }
    if (words[0].equals("version")) {
      json(request, 200, version("gitVersion"));
    } else if (words.length <= kind) {
      json(request, 200, new JsonObject().put("kind", "APIResourceList").put("resources", array()));
    } else if (words.length == kind + 1) {
      collection(request, words[kind]);
    } else {
      one(request, words[kind], words[kind + 1]);
    }
  }

  private static void collection(HttpServerRequest request, String kind) {
    if ("true".equals(request.getParam("watch")) && request.getHeader("upgrade") != null) {
      request.toWebSocket();
      return;
    }
    if ("true".equals(request.getParam("watch"))) {
      request.response().setChunked(true).putHeader("content-type", "application/json");
      // nothing ever happens
      request.response().write(" "); // sends the head
      return;
    }
    var items = array();
    if (ITEMS.containsKey(kind)) {
      items.add(ITEMS.get(kind));
    }
    json(
        request,
        200,
        new JsonObject()
            .put("kind", "List")
            .put("apiVersion", "v1")
            .put("metadata", new JsonObject().put("resourceVersion", "1"))
            .put("items", items));
  }

  private static void one(HttpServerRequest request, String kind, String name) {
    var found = ITEMS.get(kind);
    if (found != null && found.getJsonObject("metadata").getString("name").equals(name)) {
      json(request, 200, found);
    } else {
      ended(request, 404);
    }
  }

  private static JsonObject written(JsonObject object) {
    if ("SelfSubjectRulesReview".equals(object.getString("kind"))) {
      var all = array().add("*");
      var rule = new JsonObject().put("verbs", all).put("apiGroups", all).put("resources", all);
      object.put(
          "status",
          new JsonObject()
              .put("incomplete", false)
              .put("resourceRules", array().add(rule))
              .put("nonResourceRules", array()));
    }
    return object.put(
        "metadata", metadata().mergeIn(object.getJsonObject("metadata", new JsonObject()), true));
  }

  private static void ended(HttpServerRequest request, int code) {
    json(
        request,
        code,
        new JsonObject().put("kind", "Status").put("apiVersion", "v1").put("code", code));
  }

  private static JsonArray array() {
    return new JsonArray();
  }

  private static void json(HttpServerRequest request, int code, JsonObject body) {
    request
        .response()
        .setStatusCode(code)
        .putHeader("content-type", "application/json")
        .end(body.encode());
  }
}
