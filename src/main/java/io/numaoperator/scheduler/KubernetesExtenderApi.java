package io.numaoperator.scheduler;

import io.fabric8.kubernetes.api.model.Binding;
import io.fabric8.kubernetes.api.model.BindingBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.numaoperator.api.Names;
import io.numaoperator.api.nrt.NodeResourceTopology;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The API server through fabric8's client. */
final class KubernetesExtenderApi implements ExtenderApi {
  /** Annotation of a Node: the version of its topology that made waiting pods worth a look. */
  static final String WAKE_ANNOTATION = Names.GROUP + "/topology-version";

  private static final PatchContext MERGE =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON_MERGE)
          .withFieldManager(Names.OPERATOR_FIELD_MANAGER)
          .build();

  private final KubernetesClient client;

  KubernetesExtenderApi(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Optional<Pod> pod(String namespace, String name) {
    return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get());
  }

  @Override
  public Optional<NodeResourceTopology> topology(String node) {
    return Optional.ofNullable(client.resources(NodeResourceTopology.class).withName(node).get());
  }

  @Override
  public Optional<NodeResourceTopology> decide(String node, String version, Decisions decisions) {
    var annotation = new HashMap<String, Object>();
    // null removes it
    annotation.put(Decisions.ANNOTATION, decisions.all().isEmpty() ? null : decisions.format());
    var patch = Map.of("metadata", Map.of("resourceVersion", version, "annotations", annotation));
    try {
      return Optional.of(
          client
              .resource(named(node)) // by its name alone, it would be read first
              .patch(MERGE, client.getKubernetesSerialization().asJson(patch)));
    } catch (KubernetesClientException refused) {
      if (refused.getCode() == HttpURLConnection.HTTP_CONFLICT
          || refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return Optional.empty();
      }
      throw refused;
    }
  }

  private static NodeResourceTopology named(String node) {
    var object = new NodeResourceTopology();
    object.setMetadata(new ObjectMetaBuilder().withName(node).build());
    return object;
  }

  @Override
  public void bind(String namespace, String name, String uid, String node) {
    Binding binding =
        new BindingBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName(name)
            .withUid(uid)
            .endMetadata()
            .withNewTarget()
            .withKind("Node")
            .withName(node)
            .endTarget()
            .build();
    // the subresource, which is what kube-scheduler's own role is for; fabric8 has no method for it
    client.raw("/api/v1/namespaces/%s/pods/%s/binding".formatted(namespace, name), "POST", binding);
  }

  @Override
  public void wake(String node, String topologyVersion) {
    var patch = Map.of("metadata", Map.of("annotations", Map.of(WAKE_ANNOTATION, topologyVersion)));
    client
        .resource(new NodeBuilder().withNewMetadata().withName(node).endMetadata().build())
        .patch(MERGE, client.getKubernetesSerialization().asJson(patch));
  }
}
