package io.numaoperator.plan.scheduler;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.numaoperator.plan.ContentHash;
import io.numaoperator.plan.Ownership;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The scheduler's ConfigMap, Deployment and PodDisruptionBudget.
 *
 * @param secret mounted on {@link #SECRET_DIRECTORY}
 */
record SchedulerWorkload(
    Ownership ownership, String namespace, int replicas, Optional<String> secret) {
  static final String CONFIG_KEY = "scheduler-config.yaml";
  static final String SECRET_DIRECTORY = "/etc/numa-extender";
  private static final String NAME = NodeResourceTopologyMatch.NAME;
  private static final String CONFIG_DIRECTORY = "/etc/numa-scheduler";
  private static final int SECURE_PORT = 10259;

  ConfigMap configMap(String config) {
    return new ConfigMapBuilder()
        .withMetadata(ownership.metadata(namespace, NAME))
        .withData(Map.of(CONFIG_KEY, config))
        .build();
  }

  /** One replica needs none: a budget of zero disruptions would block the drain of its node. */
  Optional<HasMetadata> disruptionBudget() {
    return replicas > 1
        ? Optional.of(
            new PodDisruptionBudgetBuilder()
                .withMetadata(ownership.metadata(namespace, NAME))
                .withNewSpec()
                .withMaxUnavailable(new IntOrString(1))
                .withNewSelector()
                .withMatchLabels(ownership.selector(NAME))
                .endSelector()
                .endSpec()
                .build())
        : Optional.empty();
  }

  /**
   * @param annotations of the pods: when they change, the scheduler is restarted
   */
  Deployment deployment(String image, String config, Map<String, String> annotations) {
    var all = new HashMap<>(annotations);
    all.put(ContentHash.ANNOTATION, ContentHash.of(config));
    return new DeploymentBuilder()
        .withMetadata(ownership.metadata(namespace, NAME))
        .withNewSpec()
        .withReplicas(replicas)
        .withNewSelector()
        .withMatchLabels(ownership.selector(NAME))
        .endSelector()
        .withNewTemplate()
        .withMetadata(ownership.podTemplate(NAME, all))
        .withSpec(podSpec(image))
        .endTemplate()
        .endSpec()
        .build();
  }

  private PodSpec podSpec(String image) {
    return new PodSpecBuilder()
        .withServiceAccountName(NAME)
        .withAutomountServiceAccountToken(true)
        .withEnableServiceLinks(false)
        .withPriorityClassName("system-cluster-critical")
        .withNodeSelector(Map.of("kubernetes.io/os", "linux"))
        .addNewToleration()
        .withKey("node-role.kubernetes.io/control-plane")
        .withOperator("Exists")
        .withEffect("NoSchedule")
        .endToleration()
        // spread, not anti-affinity: that one deadlocks a rollout when replicas equal nodes
        .addNewTopologySpreadConstraint()
        .withMaxSkew(1)
        .withTopologyKey("kubernetes.io/hostname")
        .withWhenUnsatisfiable("ScheduleAnyway")
        .withNewLabelSelector()
        .withMatchLabels(ownership.selector(NAME))
        .endLabelSelector()
        .withMatchLabelKeys("pod-template-hash")
        .endTopologySpreadConstraint()
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withRunAsUser(65532L)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withContainers(container(image))
        .withVolumes(volumes())
        .build();
  }

  private List<Volume> volumes() {
    var volumes = new ArrayList<Volume>();
    volumes.add(
        new VolumeBuilder()
            .withName("config")
            .withNewConfigMap()
            .withName(NAME)
            .endConfigMap()
            .build());
    secret.ifPresent(
        name ->
            volumes.add(
                new VolumeBuilder()
                    .withName("secret")
                    .withNewSecret()
                    .withSecretName(name)
                    .endSecret()
                    .build()));
    return volumes;
  }

  private List<VolumeMount> mounts() {
    var mounts = new ArrayList<VolumeMount>();
    mounts.add(mount("config", CONFIG_DIRECTORY));
    secret.ifPresent(name -> mounts.add(mount("secret", SECRET_DIRECTORY)));
    return mounts;
  }

  private static VolumeMount mount(String volume, String path) {
    return new VolumeMountBuilder().withName(volume).withMountPath(path).withReadOnly(true).build();
  }

  private Container container(String image) {
    return new ContainerBuilder()
        .withName("kube-scheduler")
        .withImage(image)
        // by PATH: Kubernetes' image has it in /usr/local/bin, scheduler-plugins' in /bin
        .withCommand("kube-scheduler")
        .withArgs(
            "--config=" + CONFIG_DIRECTORY + "/" + CONFIG_KEY,
            "--secure-port=" + SECURE_PORT,
            // who asks its secure port shows a bearer token. To know client certificates too, it
            // would read a ConfigMap of kube-system, and we would have to grant that there
            "--authentication-skip-lookup=true")
        .addNewPort()
        .withName("https")
        .withContainerPort(SECURE_PORT)
        .endPort()
        .withLivenessProbe(healthz().edit().withInitialDelaySeconds(15).build())
        .withReadinessProbe(healthz())
        .withNewResources()
        .addToRequests("cpu", new Quantity("100m"))
        .addToRequests("memory", new Quantity("128Mi"))
        .endResources()
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withVolumeMounts(mounts())
        .build();
  }

  private static Probe healthz() {
    return new ProbeBuilder()
        .withNewHttpGet()
        .withPath("/healthz")
        .withPort(new IntOrString("https"))
        .withScheme("HTTPS")
        .endHttpGet()
        .withPeriodSeconds(10)
        .build();
  }
}
