package io.numaoperator.bundle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What OLM is told of the operator: how it is installed, and what a catalogue shows of it.
 *
 * @param installed what config/default installs
 * @param samples config/samples, by file name
 * @param images what the operator may run, without its own
 * @param made kind → apiVersion of what the operator makes
 * @param description Markdown for a catalogue
 * @param icon SVG
 */
record ClusterServiceVersion(
    InstalledObjects installed,
    Map<String, JsonNode> samples,
    Set<String> images,
    Map<String, String> made,
    String description,
    String icon) {
  static final String PACKAGE = "numa-operator";

  /**
   * ValidatingAdmissionPolicy and the node's name in ServiceAccount tokens, by which an agent may
   * write its own node's objects only, are there since 1.30.
   */
  static final String OLDEST_KUBERNETES = "1.30.0";

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String HOME = "https://github.com/numaoperator/numa-operator";
  private static final String SUMMARY =
      "Brings the kubelets of GPU and HPC clusters to NUMA alignment, node by node, and proves it.";

  /** Changes nothing: what a console offers to create first. */
  private static final String FIRST_SAMPLE = "observe.yaml";

  ObjectNode toJson() {
    var csv = JSON.objectNode();
    csv.put("apiVersion", "operators.coreos.com/v1alpha1");
    csv.put("kind", "ClusterServiceVersion");
    csv.set("metadata", metadata());
    csv.set("spec", spec());
    return csv;
  }

  String name() {
    return PACKAGE + ".v" + version();
  }

  String version() {
    return image().substring(image().lastIndexOf(':') + 1);
  }

  private String image() {
    return operator().path("image").asText();
  }

  private JsonNode operator() {
    return deployment().path("spec").path("template").path("spec").path("containers").get(0);
  }

  private ObjectNode deployment() {
    return installed.only("Deployment");
  }

  private ObjectNode metadata() {
    var metadata = JSON.objectNode();
    metadata.put("name", name());
    metadata
        .putObject("labels")
        .put("operatorframework.io/arch.amd64", "supported")
        .put("operatorframework.io/os.linux", "supported");
    var namespace = installed.only("Namespace");
    var annotations = metadata.putObject("annotations");
    annotations.put("alm-examples", json(JSON.arrayNode().addAll(samples.values())));
    // the levels build on each other, and an upgrade by OLM was not run: docs/olm.md
    annotations.put("capabilities", "Basic Install");
    annotations.put("categories", "AI/Machine Learning");
    annotations.put("certified", "false");
    annotations.put("containerImage", image());
    annotations.put("description", SUMMARY);
    annotations.put("operatorframework.io/initialization-resource", json(sample(FIRST_SAMPLE)));
    annotations.put("operatorframework.io/suggested-namespace", InstalledObjects.name(namespace));
    // with the label that lets the agents run: a bundle carries no Namespace
    annotations.put("operatorframework.io/suggested-namespace-template", json(namespace));
    // people create policies; the operator creates these
    annotations.put(
        "operators.operatorframework.io/internal-objects", "[\"numanodestates.numaoperator.io\"]");
    annotations.put("repository", HOME);
    annotations.put("support", "NUMA Operator project");
    return metadata;
  }

  private JsonNode sample(String file) {
    var sample = samples.get(file);
    if (sample == null) {
      throw new IllegalStateException("config/samples has no " + file);
    }
    return sample;
  }

  private ObjectNode spec() {
    var spec = JSON.objectNode();
    spec.put("displayName", "NUMA Operator");
    spec.put("description", description);
    spec.put("version", version());
    spec.put("maturity", "alpha");
    spec.put("minKubeVersion", OLDEST_KUBERNETES);
    var keywords = spec.putArray("keywords");
    List.of("numa", "gpu", "kubelet", "topology manager", "cpu manager", "hpc")
        .forEach(keywords::add);
    spec.putObject("provider").put("name", "NUMA Operator project").put("url", HOME);
    spec.putArray("maintainers")
        .addObject()
        .put("name", "NUMA Operator project")
        .put("email", "maintainers@numaoperator.io");
    var links = spec.putArray("links");
    links.addObject().put("name", "Source").put("url", HOME);
    links.addObject().put("name", "Documentation").put("url", HOME + "/tree/main/docs");
    spec.putArray("icon")
        .addObject()
        .put("base64data", Base64.getEncoder().encodeToString(icon.strip().getBytes()))
        .put("mediatype", "image/svg+xml");
    spec.set("installModes", installModes());
    spec.putObject("customresourcedefinitions").set("owned", owned());
    var install = spec.putObject("install");
    install.put("strategy", "deployment");
    var strategy = install.putObject("spec");
    strategy.set("clusterPermissions", clusterPermissions());
    strategy.set("deployments", deployments());
    spec.set("relatedImages", relatedImages());
    return spec;
  }

  /** Its kinds belong to no namespace. */
  private static ArrayNode installModes() {
    var modes = JSON.arrayNode();
    for (var mode : List.of("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")) {
      modes.addObject().put("type", mode).put("supported", mode.equals("AllNamespaces"));
    }
    return modes;
  }

  private ArrayNode owned() {
    var owned = JSON.arrayNode();
    installed
        .of("CustomResourceDefinition")
        .forEach(
            crd -> {
              var version = crd.path("spec").path("versions").get(0);
              var schema = version.path("schema").path("openAPIV3Schema");
              var descriptors = new Descriptors(schema);
              var kind = crd.path("spec").path("names").path("kind").asText();
              var entry = owned.addObject();
              entry.put("name", InstalledObjects.name(crd));
              entry.put("version", version.path("name").asText());
              entry.put("kind", kind);
              switch (kind) {
                case "NumaPolicy" -> {
                  entry.put("displayName", "NUMA Policy");
                  entry.put(
                      "description",
                      "Which nodes are to be aligned and how, by whose scheduler and device plugin,"
                          + " and how nodes are changed.");
                  entry.set("resources", resources());
                  entry.set("specDescriptors", descriptors.ofPolicySpec());
                  entry.set("statusDescriptors", descriptors.ofPolicyStatus());
                }
                case "NumaNodeState" -> {
                  entry.put("displayName", "NUMA Node State");
                  entry.put(
                      "description",
                      "What one node has, what its kubelet is to be set to, and whether a pod put"
                          + " there will be aligned. The operator makes one for each node.");
                  entry.set("statusDescriptors", descriptors.ofNodeStatus());
                }
                default -> throw new IllegalStateException("nothing is written about " + kind);
              }
            });
    return owned;
  }

  private ArrayNode resources() {
    var resources = JSON.arrayNode();
    made.forEach(
        (kind, apiVersion) ->
            resources.addObject().put("kind", kind).put("name", "").put("version", apiVersion));
    return resources;
  }

  /** One for each ClusterRole, so that OLM keeps them apart; Roles are manifests of their own. */
  private ArrayNode clusterPermissions() {
    var permissions = JSON.arrayNode();
    installed
        .of("ClusterRole")
        .forEach(
            role -> {
              var permission = permissions.addObject();
              permission.put("serviceAccountName", boundTo(InstalledObjects.name(role)));
              permission.set("rules", role.get("rules"));
            });
    return permissions;
  }

  private String boundTo(String clusterRole) {
    var bindings =
        installed
            .of("ClusterRoleBinding")
            .filter(b -> b.path("roleRef").path("name").asText().equals(clusterRole))
            .toList();
    if (bindings.size() != 1 || bindings.getFirst().path("subjects").size() != 1) {
      throw new IllegalStateException(clusterRole + " is not bound to exactly one subject");
    }
    return bindings.getFirst().path("subjects").get(0).path("name").asText();
  }

  private ArrayNode deployments() {
    var deployments = JSON.arrayNode();
    var entry = deployments.addObject();
    entry.put("name", InstalledObjects.name(deployment()));
    entry.set("label", deployment().path("metadata").get("labels"));
    entry.set("spec", deployment().get("spec"));
    return deployments;
  }

  /**
   * By tag: nothing here can ask a registry for a digest. BuiltIn's kube-scheduler is not in it,
   * since its tag is the API server's version.
   */
  private ArrayNode relatedImages() {
    var related = JSON.arrayNode();
    related.addObject().put("name", "operator").put("image", image());
    for (var image : images) {
      var name = image.substring(image.indexOf('/') + 1).replaceAll("[^a-z0-9]+", "-");
      related.addObject().put("name", name).put("image", image);
    }
    return related;
  }

  private static String json(JsonNode value) {
    try {
      return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
