package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ClusterVersion;
import io.numaoperator.plan.KubernetesRelease;
import io.numaoperator.plan.device.VgpuResources;
import io.numaoperator.plan.scheduler.KaiFacts;
import io.numaoperator.plan.scheduler.SchedulerFacts;
import io.numaoperator.plan.scheduler.TopologyRevision;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What plans have to know of the cluster as a whole. */
@ApplicationScoped
class Cluster {
  private final KubernetesClient client;
  private final ClusterCache cache;
  private final OperatorSettings settings;
  private final ClusterVersion server;
  private final KubernetesRelease release;
  private final boolean mutatingAdmissionPolicies;
  private final boolean validatingAdmissionPolicies;

  @Inject
  Cluster(KubernetesClient client, ClusterCache cache, OperatorSettings settings) {
    this.client = client;
    this.cache = cache;
    this.settings = settings;
    var version = client.getKubernetesVersion().getGitVersion();
    this.release =
        KubernetesRelease.parse(version)
            .orElseThrow(() -> new IllegalStateException("not a Kubernetes release: " + version));
    this.server =
        ClusterVersion.parse(version)
            .orElseThrow(() -> new IllegalStateException("not a Kubernetes version: " + version));
    this.mutatingAdmissionPolicies = client.supports(MutatingAdmissionPolicy.class);
    this.validatingAdmissionPolicies = client.supports(ValidatingAdmissionPolicy.class);
  }

  /** Goes through all nodes: asked for once a pass, and handed on. */
  ClusterFacts facts() {
    var nodes = selected();
    var kubelets = nodes.stream().map(Nodes::kubeletVersion).collect(Collectors.toSet());
    return new ClusterFacts(
        settings.namespace(),
        settings.image(),
        server,
        oldest(kubelets),
        VgpuResources.areAllocatable(nodes),
        release,
        rancher(kubelets),
        validatingAdmissionPolicies);
  }

  /** The nodes of all policies. */
  private List<Node> selected() {
    var policies = cache.livePolicies();
    return cache
        .nodes()
        .list()
        .filter(node -> policies.stream().anyMatch(p -> Nodes.isSelected(p, node)))
        .toList();
  }

  /** Their kubelets' versions say so: v1.34.1+k3s1, v1.34.1+rke2r1. */
  private static SortedSet<String> rancher(Set<String> kubelets) {
    return kubelets.stream()
        .flatMap(version -> Stream.of("k3s", "rke2").filter(name -> version.contains("+" + name)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private ClusterVersion oldest(Set<String> kubelets) {
    return kubelets.stream()
        .flatMap(version -> ClusterVersion.parse(version).stream())
        .min(Comparator.naturalOrder())
        .orElse(server);
  }

  /**
   * @param kai looked up for the one scheduler that needs it
   */
  SchedulerFacts schedulerFacts(KaiFacts kai) {
    return new SchedulerFacts(
        TopologyRevision.ofAny(cache.topologies().list().toList()), mutatingAdmissionPolicies, kai);
  }

  /** Those of a namespace; asked for only before something of theirs would be deleted. */
  List<DaemonSet> daemonSets(String namespace) {
    return client.apps().daemonSets().inNamespace(namespace).list().getItems();
  }

  /** A ConfigMap of somebody else; these are few and not watched. */
  Optional<ConfigMap> configMap(String namespace, String name) {
    return Optional.ofNullable(client.configMaps().inNamespace(namespace).withName(name).get());
  }
}
