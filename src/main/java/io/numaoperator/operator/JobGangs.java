package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.rollout.Gangs;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Jobs that run on several nodes at once. A node is asked about once, when it is about to be taken:
 * that is one list of its pods and one of its job's, so no cluster-wide watch of pods is kept.
 */
@ApplicationScoped
class JobGangs implements Gangs {
  /** Labels by which frameworks mark the pods of one gang; the first that a pod has counts. */
  private static final List<String> GANG_LABELS =
      List.of(
          "scheduling.x-k8s.io/pod-group",
          "kueue.x-k8s.io/pod-group-name",
          "leaderworkerset.sigs.k8s.io/group-key",
          "jobset.sigs.k8s.io/jobset-name",
          "training.kubeflow.org/job-name");

  /** Their pods stand on their own: taking all at once is what their owners fear. */
  private static final Set<String> REPLICAS =
      Set.of("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Node");

  private final KubernetesClient client;
  private final ClusterCache cache;

  @Inject
  JobGangs(KubernetesClient client, ClusterCache cache) {
    this.client = client;
    this.cache = cache;
  }

  /**
   * What makes a pod a member.
   *
   * @param label empty when it is the controller
   * @param value the label's, or the controller's uid
   * @param name for a person to read
   */
  record Membership(String namespace, String label, String value, String name) {
    static Optional<Membership> of(Pod pod) {
      return byLabel(pod).or(() -> byController(pod));
    }

    private static Optional<Membership> byLabel(Pod pod) {
      var namespace = pod.getMetadata().getNamespace();
      var labels = Optional.ofNullable(pod.getMetadata().getLabels()).orElse(Map.of());
      return GANG_LABELS.stream()
          .filter(labels::containsKey)
          .findFirst()
          .map(
              label -> {
                var value = labels.get(label);
                var kind = label.substring(label.indexOf('/') + 1);
                return new Membership(
                    namespace, label, value, "%s %s/%s".formatted(kind, namespace, value));
              });
    }

    private static Optional<Membership> byController(Pod pod) {
      var namespace = pod.getMetadata().getNamespace();
      return Residents.controller(pod)
          .filter(owner -> !REPLICAS.contains(owner.getKind()))
          .map(
              owner ->
                  new Membership(
                      namespace,
                      "",
                      owner.getUid(),
                      "%s %s/%s".formatted(owner.getKind(), namespace, owner.getName())));
    }
  }

  @Override
  public Optional<Gang> of(String node) {
    var holders = holders(node);
    if (holders.isEmpty()) {
      return Optional.empty();
    }
    var pods = client.pods().inAnyNamespace().withField("spec.nodeName", node).list().getItems();
    return pods.stream()
        .filter(pod -> holders.contains(Residents.name(pod)))
        .flatMap(pod -> Membership.of(pod).stream())
        .distinct()
        .map(membership -> new Gang(membership.name(), nodes(membership)))
        .max(Comparator.comparing((Gang gang) -> gang.nodes().size()).thenComparing(Gang::name))
        .filter(gang -> gang.nodes().size() > 1);
  }

  private Set<String> holders(String node) {
    return cache.states().get(node).stream()
        .flatMap(state -> Optional.ofNullable(state.getStatus()).stream())
        .flatMap(status -> Optional.ofNullable(status.containers).stream())
        .flatMap(containers -> containers.placed.stream())
        .map(placed -> placed.pod)
        .collect(Collectors.toSet());
  }

  private Set<String> nodes(Membership membership) {
    return pods(membership)
        .filter(pod -> Membership.of(pod).filter(membership::equals).isPresent())
        .flatMap(pod -> Optional.ofNullable(pod.getSpec().getNodeName()).stream())
        .collect(Collectors.toSet());
  }

  private Stream<Pod> pods(Membership membership) {
    var all = client.pods().inNamespace(membership.namespace());
    var selected =
        membership.label().isEmpty()
            ? all.list()
            : all.withLabel(membership.label(), membership.value()).list();
    return selected.getItems().stream();
  }
}
