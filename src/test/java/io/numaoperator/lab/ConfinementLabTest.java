package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * What somebody can do who took a node: the token of its agent, as the kubelet keeps it on the
 * node's disk, against the real API server.
 */
@Tag("lab")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ConfinementLabTest {
  private static final String NAMESPACE = "numa-operator-system";
  private static final String AGENT = "numa-agent";
  private static final String OWN = "gpu-1";
  private static final String OTHER = "gpu-2";
  private static final String STATUS = "{\"status\":{\"bootId\":\"forged\"}}";
  private static final String ANNOTATION = "{\"metadata\":{\"annotations\":{\"forged\":\"yes\"}}}";

  private static Lab lab;
  private static KubernetesClient thief;

  @BeforeAll
  static void up() {
    lab = Lab.up("--nodes", "2");
    lab.install();
    lab.client().resource(Lab.sample()).create(); // in mode Observe agents publish nothing
    for (var node : List.of(OWN, OTHER)) {
      await("the agents publish")
          .atMost(Lab.LONG)
          .ignoreExceptions() // there is no state yet, or no status
          .until(
              () ->
                  lab.state(node).filter(s -> s.getStatus().bootId != null).isPresent()
                      && topology(lab.client(), node) != null);
    }
    thief = client(stolenToken(OWN));
  }

  @AfterAll
  static void down() {
    lab.close();
    if (thief != null) {
      thief.close();
    }
  }

  /** Read from the node's disk, as root there can. */
  private static String stolenToken(String node) {
    return lab.exec(
            node,
            "sh",
            "-c",
            "cat /var/lib/kubelet/pods/%s/volumes/kubernetes.io~projected/*/token"
                .formatted(agent(node).getMetadata().getUid()))
        .strip();
  }

  private static Pod agent(String node) {
    return lab.client()
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", AGENT)
        .withField("spec.nodeName", node)
        .list()
        .getItems()
        .getFirst();
  }

  private static KubernetesClient client(String token) {
    var admin = lab.client().getConfiguration();
    return new KubernetesClientBuilder()
        .withHttpClientFactory(new JdkHttpClientFactory())
        .withConfig(
            new ConfigBuilder(Config.empty())
                .withMasterUrl(admin.getMasterUrl())
                .withCaCertData(admin.getCaCertData())
                .withOauthToken(token)
                .build())
        .build();
  }

  private static NodeResourceTopology topology(KubernetesClient client, String node) {
    return client.resources(NodeResourceTopology.class).withName(node).get();
  }

  private static void writeStatus(KubernetesClient who, String node, String patch) {
    who.resources(NumaNodeState.class)
        .withName(node)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private static void writeTopology(KubernetesClient who, String node) {
    who.resources(NodeResourceTopology.class)
        .withName(node)
        .patch(PatchContext.of(PatchType.JSON_MERGE), ANNOTATION);
  }

  private static NodeResourceTopology newTopology(String node) {
    var topology = new NodeResourceTopology();
    topology.setMetadata(new ObjectMetaBuilder().withName(node).build());
    return topology;
  }

  /** Refused by the policy, and not for want of a right. */
  private static void isRefused(ThrowingCallable write, String because) {
    assertThatThrownBy(write)
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            e -> {
              assertThat(e.getCode()).isEqualTo(403);
              assertThat(e.getMessage())
                  .contains("ValidatingAdmissionPolicy 'numa-agent'", because);
            });
  }

  @Test
  @Order(1)
  void aStolenTokenWritesForItsOwnNodeOnly() {
    var others = "this one is of gpu-2, the token is of gpu-1";
    isRefused(() -> writeStatus(thief, OTHER, STATUS), others);
    isRefused(() -> writeTopology(thief, OTHER), others);
    isRefused(() -> thief.resource(newTopology("gpu-9")).create(), "this one is of gpu-9");
    // the older version of the kind is no way around
    isRefused(
        () ->
            thief
                .genericKubernetesResources("topology.node.k8s.io/v1alpha1", "NodeResourceTopology")
                .withName(OTHER)
                .patch(
                    PatchContext.of(PatchType.JSON_MERGE),
                    "{\"topologyPolicies\":[\"SingleNUMANodePodLevel\"]}"),
        others);
    assertThat(lab.state(OTHER).orElseThrow().getStatus().bootId).isNotEqualTo("forged");

    // what the agent itself does is let through
    writeStatus(thief, OWN, STATUS);
    writeTopology(thief, OWN);
    lab.client().resources(NodeResourceTopology.class).withName(OWN).delete();
    await("the agent makes it anew").until(() -> topology(lab.client(), OWN) != null);
  }

  /** They open the way to a node's service: only the operator says them. */
  @Test
  @Order(1)
  void conditionsAreNotTheAgents() {
    isRefused(
        () -> writeStatus(thief, OWN, "{\"status\":{\"conditions\":[]}}"),
        "conditions are the operator's");
  }

  /** Whoever may ask for tokens of the ServiceAccount gets one that no pod has. */
  @Test
  @Order(1)
  void aTokenWithoutNodeWritesNothing() {
    try (var unbound = client(lab.kubectl("-n", NAMESPACE, "create", "token", AGENT).strip())) {
      isRefused(() -> writeStatus(unbound, OWN, STATUS), "not bound to a node");
      isRefused(() -> writeTopology(unbound, OTHER), "not bound to a node");
    }
  }

  /** The verbs and objects that the agents' ClusterRole does not have today. */
  @Test
  @Order(2)
  void aRoleThatGrantsTooMuchChangesNothing() {
    lab.kubectl(
        "create",
        "clusterrole",
        "too-much",
        "--verb=create,update,patch,delete,deletecollection",
        "--resource=numanodestates.numaoperator.io,noderesourcetopologies.topology.node.k8s.io");
    lab.kubectl(
        "create",
        "clusterrolebinding",
        "too-much",
        "--clusterrole=too-much",
        "--serviceaccount=" + NAMESPACE + ":" + AGENT);
    var others = "this one is of gpu-2";
    await("the binding counts")
        .untilAsserted(
            () ->
                isRefused(
                    () -> thief.resources(NodeResourceTopology.class).withName(OTHER).delete(),
                    others));
    isRefused(() -> thief.resources(NumaNodeState.class).withName(OTHER).delete(), others);
    isRefused(() -> thief.resources(NodeResourceTopology.class).delete(), others);
    isRefused(
        () ->
            thief
                .resources(NumaNodeState.class)
                .withName(OTHER)
                .patch(PatchContext.of(PatchType.JSON_MERGE), ANNOTATION),
        others);
    lab.kubectl("delete", "clusterrolebinding", "too-much");
  }

  /** The break: it is the policy that refuses, and the operator that keeps it. */
  @Test
  @Order(3)
  void withoutThePolicyItWouldBeAllowed() {
    scale(0);
    binding().delete();
    await("the API server forgets it").ignoreExceptions().until(() -> forged(OTHER));
    writeTopology(thief, OTHER);
    try (var unbound = client(lab.kubectl("-n", NAMESPACE, "create", "token", AGENT).strip())) {
      writeStatus(unbound, OTHER, STATUS);
    }

    scale(1);
    await("the operator puts it back")
        .atMost(Lab.LONG)
        .untilAsserted(
            () -> isRefused(() -> writeStatus(thief, OTHER, STATUS), "the token is of gpu-1"));
  }

  private static boolean forged(String node) {
    writeStatus(thief, node, STATUS);
    return true;
  }

  private static void scale(int replicas) {
    lab.kubectl("-n", NAMESPACE, "scale", "deployment/numa-operator", "--replicas=" + replicas);
    await()
        .atMost(Lab.LONG)
        .until(
            () ->
                lab.client()
                        .pods()
                        .inNamespace(NAMESPACE)
                        .withLabel("app.kubernetes.io/name", "numa-operator")
                        .list()
                        .getItems()
                        .size()
                    == replicas);
  }

  private static Resource<? extends HasMetadata> binding() {
    return lab.client()
        .admissionRegistration()
        .v1()
        .validatingAdmissionPolicyBindings()
        .withName(AGENT);
  }

  @Test
  @Order(4)
  void itGoesWithTheLastPolicy() {
    lab.client().resources(NumaPolicy.class).delete();
    await()
        .atMost(Lab.LONG)
        .untilAsserted(
            () -> {
              assertThat(binding().get()).isNull();
              assertThat(
                      lab.client()
                          .admissionRegistration()
                          .v1()
                          .validatingAdmissionPolicies()
                          .withName(AGENT)
                          .get())
                  .isNull();
            });
  }
}
