package io.numaoperator.plan.device;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A device plugin's pod on a node: what it was started with is the evidence, whatever a chart says.
 *
 * @param ready its Ready condition is True
 * @param configMaps names of those that it mounts
 * @param env of its containers, as far as the values are given
 * @param image of the plugin's container
 * @param privileged whether that one is
 */
public record RunningPlugin(
    Kind kind,
    String namespace,
    String pod,
    boolean ready,
    Instant created,
    Set<String> configMaps,
    Map<String, String> env,
    String image,
    boolean privileged) {

  /** Whose plugin, and by which labels its pods are found. */
  public enum Kind {
    HAMi("app.kubernetes.io/component", "hami-device-plugin"),
    NVIDIA("app.kubernetes.io/name", "nvidia-device-plugin"),
    GPUOperator("app", "nvidia-device-plugin-daemonset");

    private final String label;
    private final String value;

    Kind(String label, String value) {
      this.label = label;
      this.value = value;
    }

    public String label() {
      return label;
    }

    public String value() {
      return value;
    }
  }

  public RunningPlugin {
    configMaps = Set.copyOf(configMaps);
    env = Map.copyOf(env);
  }

  /** Charts have other pods with the same labels: MPS daemons, feature discovery. */
  public static boolean isPlugin(Pod pod) {
    return pod.getSpec().getContainers().stream()
        .anyMatch(c -> c.getName().contains("device-plugin"));
  }

  /** Of a pod that {@link Kind}'s label selects. */
  public static RunningPlugin of(Kind kind, Pod pod) {
    var containers = pod.getSpec().getContainers();
    var plugin = containers.stream().filter(c -> !isHelper(c)).findFirst();
    return new RunningPlugin(
        kind,
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        isReady(pod),
        Optional.ofNullable(pod.getMetadata().getCreationTimestamp())
            .map(Instant::parse)
            .orElse(Instant.EPOCH),
        pod.getSpec().getVolumes().stream()
            .flatMap(volume -> Optional.ofNullable(volume.getConfigMap()).stream())
            .map(source -> source.getName())
            .collect(Collectors.toSet()),
        env(containers.stream()),
        plugin.map(Container::getImage).orElse(""),
        plugin.filter(RunningPlugin::isPrivileged).isPresent());
  }

  /** NVIDIA's config-manager beside the plugin, and HAMi's monitor. */
  private static boolean isHelper(Container container) {
    return container.getCommand().stream().anyMatch("config-manager"::equals)
        || container.getName().endsWith("monitor")
        || container.getName().startsWith("config-manager");
  }

  private static boolean isPrivileged(Container container) {
    return Optional.ofNullable(container.getSecurityContext())
        .map(context -> Boolean.TRUE.equals(context.getPrivileged()))
        .orElse(false);
  }

  private static Map<String, String> env(Stream<Container> containers) {
    var env = new TreeMap<String, String>();
    containers
        .flatMap(container -> container.getEnv().stream())
        .filter(variable -> variable.getValue() != null)
        .forEach(variable -> env.putIfAbsent(variable.getName(), variable.getValue()));
    return env;
  }

  private static boolean isReady(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null
        && Optional.ofNullable(pod.getStatus()).stream()
            .flatMap(status -> status.getConditions().stream())
            .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  public boolean mounts(ConfigMapRef ref) {
    return namespace.equals(ref.namespace()) && configMaps.contains(ref.name());
  }

  /** Empty where the plugin's environment does not say. */
  public Optional<String> env(String name) {
    return Optional.ofNullable(env.get(name)).filter(value -> !value.isEmpty());
  }
}
