package io.numaoperator.plan.device;

import java.util.List;
import java.util.Optional;

/**
 * What is known of the device plugins of a node.
 *
 * @param hasPolicy whether a policy has the node
 * @param label its {@link NvidiaConfig#NODE_LABEL}
 * @param mark what the operator remembers of it
 * @param register what HAMi's plugin says of its GPUs ({@link HamiRegister})
 * @param plugins the pods that run there
 */
public record NodeDevices(
    boolean hasPolicy,
    Optional<String> label,
    Optional<DeviceMark> mark,
    Optional<String> register,
    List<RunningPlugin> plugins) {
  public static final NodeDevices UNKNOWN =
      new NodeDevices(false, Optional.empty(), Optional.empty(), Optional.empty(), List.of());

  public NodeDevices {
    plugins = List.copyOf(plugins);
  }

  /** As one that no policy has: what it was given stays. */
  public NodeDevices leftAlone() {
    return new NodeDevices(false, label, mark, register, plugins);
  }

  public Optional<RunningPlugin> plugin(RunningPlugin.Kind kind) {
    return plugins.stream().filter(plugin -> plugin.kind() == kind).findFirst();
  }
}
