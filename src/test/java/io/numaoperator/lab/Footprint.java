package io.numaoperator.lab;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicyBinding;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * All that the operator made, in all namespaces, with what it says: two that are equal are of the
 * same providers with the same settings, and nothing of others is left in them.
 *
 * @param objects kind, namespace and name → what it says, without what the API server notes of it
 */
record Footprint(SortedMap<String, String> objects) {
  private static final String OURS = "app.kubernetes.io/part-of";

  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(
          ConfigMap.class,
          Secret.class,
          Service.class,
          ServiceAccount.class,
          Deployment.class,
          DaemonSet.class,
          PodDisruptionBudget.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          MutatingAdmissionPolicy.class,
          MutatingAdmissionPolicyBinding.class,
          KaiConfig.class,
          SchedulingShard.class,
          KaiQueue.class);

  /** As it is now. */
  static Footprint of(KubernetesClient client) {
    var objects = new TreeMap<String, String>();
    found(client).forEach(object -> objects.put(key(object), content(object)));
    return new Footprint(objects);
  }

  /** The objects and their versions: equal only while nobody wrote any of them. */
  static List<String> versions(KubernetesClient client) {
    return found(client)
        .map(object -> key(object) + " " + object.getMetadata().getResourceVersion())
        .sorted()
        .toList();
  }

  private static Stream<HasMetadata> found(KubernetesClient client) {
    return KINDS.stream()
        .flatMap(
            kind ->
                client
                    .resources(kind)
                    .inAnyNamespace()
                    .withLabel(OURS, "numa-operator")
                    .list()
                    .getItems()
                    .stream())
        .map(HasMetadata.class::cast)
        .filter(object -> !isInstalled(object));
  }

  /** The operator's own roles, which kubectl applied. */
  private static boolean isInstalled(HasMetadata object) {
    var annotations = object.getMetadata().getAnnotations();
    return annotations != null
        && annotations.containsKey("kubectl.kubernetes.io/last-applied-configuration");
  }

  private static String key(HasMetadata object) {
    var meta = object.getMetadata();
    return "%s %s/%s"
        .formatted(
            object.getKind(),
            meta.getNamespace() == null ? "" : meta.getNamespace(),
            meta.getName());
  }

  /** The objects that one has and the other has not, or has otherwise; with what they say. */
  static List<String> differences(Footprint one, Footprint other) {
    return Stream.concat(one.objects().keySet().stream(), other.objects().keySet().stream())
        .distinct()
        .filter(key -> !Objects.equals(one.objects().get(key), other.objects().get(key)))
        .map(key -> key + ": " + one.objects().get(key) + " and " + other.objects().get(key))
        .toList();
  }

  /** A Secret's certificates are others each time, and so is a Service's address. */
  private static String content(HasMetadata object) {
    if (object instanceof Secret secret) {
      return String.join(" ", new TreeMap<>(secret.getData()).keySet());
    }
    var json = (ObjectNode) Serialization.jsonMapper().valueToTree(object);
    json.remove(List.of("metadata", "status"));
    if (object instanceof Service) {
      ((ObjectNode) json.get("spec")).remove(List.of("clusterIP", "clusterIPs"));
    }
    return json.put("labels", new TreeMap<>(object.getMetadata().getLabels()).toString())
        .toString();
  }
}
