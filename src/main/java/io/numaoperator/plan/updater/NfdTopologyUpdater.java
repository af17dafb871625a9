package io.numaoperator.plan.updater;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.plan.Access;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.NodePlacement;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Part;
import io.numaoperator.plan.Provision;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Node Feature Discovery's topology updater, v0.19 or newer, as a DaemonSet of our own: NFD's chart
 * mounts the PodResources socket itself, and that mount is dead after the kubelet's next restart.
 * nfd-gc is not part of it: it would delete objects that others published; the operator takes away
 * those of this updater whose nodes are gone.
 */
final class NfdTopologyUpdater implements TopologyUpdaterProvider {
  static final String NAME = "numa-topology-updater";
  private static final String PROVIDER = "nfd";
  private static final int FIRST_KUBELET_MINOR = 33;

  // v0.19.0: the minor is 19; other tags and digests say nothing
  private static final Pattern TAG = Pattern.compile(".*:v?0\\.(?<minor>[0-9]{1,3})\\.[0-9]+.*");
  private static final int FIRST_MINOR = 19;

  private static final String CONFIG_KEY = "nfd-topology-updater.conf";
  // an excluded cpu or held device crashes NodeResourceTopologyMatch; nothing is excluded
  private static final String CONFIG = "excludeList: {}\n";

  // released images look for the host's files below /host-*
  private static final String KUBELET_DIRECTORY = "/host-var/lib/kubelet";

  @Override
  public boolean publishedByAgent() {
    return false;
  }

  @Override
  public Provision plan(Input input) {
    var kubelet = input.facts().oldestKubelet();
    if (!kubelet.atLeast(FIRST_KUBELET_MINOR)) {
      // KubeletFineGrainedAuthz is on from 1.33; before, configz needs nodes/proxy, which is root
      // on every node. Without it the updater crash-loops (NFD #1098).
      return new Provision.Refused(
          "KubeletTooOld",
          "topologyUpdater.provider NFD needs kubelets of 1.33 or newer, the oldest is %s: use BuiltIn"
              .formatted(kubelet));
    }
    if (isTooOld(image(input.setting()))) {
      return new Provision.Refused(
          "NFDTooOld",
          "topologyUpdater.nfd.image %s is older than v0.19: it needs nodes/proxy, which is root on every node, and the operator never grants it: take v0.19 or newer, or use BuiltIn"
              .formatted(image(input.setting())));
    }
    var ownership = Ownership.of(Part.TOPOLOGY_UPDATER, PROVIDER, input.policies());
    var access = new Access(ownership, input.facts().namespace(), NAME);
    return new Provision.Objects(
        PROVIDER,
        List.of(
            access.serviceAccount(),
            access.clusterRole(NAME, rules()),
            access.clusterRoleBinding(NAME, NAME),
            configMap(ownership, input),
            daemonSet(ownership, input)),
        List.of());
  }

  private static String image(TopologyUpdaterPolicy setting) {
    return (setting.nfd == null ? new TopologyUpdaterPolicy.Nfd() : setting.nfd).image;
  }

  /** Before v0.19 it asked for configz by way of nodes/proxy. */
  private static boolean isTooOld(String image) {
    var tag = TAG.matcher(image);
    return tag.matches() && Integer.parseInt(tag.group("minor")) < FIRST_MINOR;
  }

  private static List<PolicyRule> rules() {
    return List.of(
        Access.rule("", List.of("nodes"), "get", "list"),
        Access.rule("", List.of("nodes/configz"), "get"),
        // it makes its Namespace the owner of what it publishes
        Access.rule("", List.of("namespaces"), "get"),
        Access.rule("", List.of("pods"), "get", "list", "watch"),
        // v0.19 gets and updates; later ones apply (NFD #2564)
        Access.rule(
            "topology.node.k8s.io",
            List.of("noderesourcetopologies"),
            "get",
            "create",
            "update",
            "patch"),
        Access.rule(
            "apiextensions.k8s.io", List.of("customresourcedefinitions"), "get", "list", "watch"));
  }

  private static ConfigMap configMap(Ownership ownership, Input input) {
    return new ConfigMapBuilder()
        .withMetadata(ownership.metadata(input.facts().namespace(), NAME))
        .withData(Map.of(CONFIG_KEY, CONFIG))
        .build();
  }

  private static DaemonSet daemonSet(Ownership ownership, Input input) {
    return new DaemonSetBuilder()
        .withMetadata(ownership.metadata(input.facts().namespace(), NAME))
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(ownership.selector(NAME))
        .endSelector()
        .withNewUpdateStrategy()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxUnavailable(new IntOrString("25%"))
        .endRollingUpdate()
        .endUpdateStrategy()
        .withNewTemplate()
        // the updater reads its configuration once
        .withMetadata(
            ownership.podTemplate(NAME, Map.of(ContentHash.ANNOTATION, ContentHash.of(CONFIG))))
        .withSpec(podSpec(input))
        .endTemplate()
        .endSpec()
        .build();
  }

  private static PodSpec podSpec(Input input) {
    return new PodSpecBuilder()
        .withServiceAccountName(NAME)
        .withAutomountServiceAccountToken(true)
        .withEnableServiceLinks(false)
        .withDnsPolicy("ClusterFirstWithHostNet")
        // a node whose zones are stale is out of service for aligned pods
        .withPriorityClassName("system-node-critical")
        .withAffinity(NodePlacement.affinity(input.policies()))
        .withTolerations(NodePlacement.everywhere())
        .withNewSecurityContext()
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withContainers(container(input.setting()))
        .withVolumes(
            hostDirectory("sys", "/sys"),
            hostDirectory("kubelet", "/var/lib/kubelet"),
            new VolumeBuilder()
                .withName("config")
                .withNewConfigMap()
                .withName(NAME)
                .endConfigMap()
                .build())
        .build();
  }

  private static Container container(TopologyUpdaterPolicy setting) {
    return new ContainerBuilder()
        .withName("topology-updater")
        .withImage(image(setting))
        .withCommand("nfd-topology-updater")
        .withArgs(
            "-podresources-socket=" + KUBELET_DIRECTORY + "/pod-resources/kubelet.sock",
            // publishes when the managers' state files or the device checkpoint change
            "-kubelet-state-dir=" + KUBELET_DIRECTORY,
            "-sleep-interval=" + setting.interval)
        .withEnv(fieldRef("NODE_NAME", "spec.nodeName"), fieldRef("NODE_ADDRESS", "status.hostIP"))
        .addNewPort()
        .withName("http")
        .withContainerPort(8080)
        .endPort()
        // always 200 (NFD v0.19): says that the process lives, not that it publishes
        .withLivenessProbe(healthz())
        .withReadinessProbe(healthz())
        .withNewResources()
        .addToRequests("cpu", new Quantity("50m"))
        .addToRequests("memory", new Quantity("40Mi"))
        .addToLimits("memory", new Quantity("60Mi"))
        .endResources()
        .withSecurityContext(confined())
        .withVolumeMounts(
            new VolumeMountBuilder()
                .withName("sys")
                .withMountPath("/host-sys")
                .withReadOnly(true)
                .build(),
            // the directory, not the socket: a restarted kubelet makes a new socket.
            // HostToContainer: pods' volumes that the host unmounts must not stay mounted in here
            new VolumeMountBuilder()
                .withName("kubelet")
                .withMountPath(KUBELET_DIRECTORY)
                .withReadOnly(true)
                .withMountPropagation("HostToContainer")
                .build(),
            new VolumeMountBuilder()
                .withName("config")
                .withMountPath("/etc/kubernetes/node-feature-discovery")
                .withReadOnly(true)
                .build())
        .build();
  }

  private static SecurityContext confined() {
    return new SecurityContextBuilder()
        // the PodResources socket is root's
        .withRunAsUser(0L)
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .build();
  }

  private static Probe healthz() {
    return new ProbeBuilder()
        .withNewHttpGet()
        .withPath("/healthz")
        .withPort(new IntOrString("http"))
        .endHttpGet()
        .withInitialDelaySeconds(10)
        .withPeriodSeconds(10)
        .build();
  }

  private static EnvVar fieldRef(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }

  private static Volume hostDirectory(String name, String path) {
    return new VolumeBuilder()
        .withName(name)
        .withNewHostPath()
        .withPath(path)
        .withType("Directory")
        .endHostPath()
        .build();
  }
}
