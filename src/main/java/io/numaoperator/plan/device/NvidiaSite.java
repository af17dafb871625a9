package io.numaoperator.plan.device;

import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.DevicePluginPolicy.DeviceAccess;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaPolicy;
import java.util.Optional;

/**
 * Where a policy's NVIDIA plugin is, and what it is to do.
 *
 * @param config the ConfigMap of ours that it is to mount
 * @param clusterPolicy that installs it; empty without the GPU Operator
 * @param access as the policy wants it; Unchanged where no CPU Manager would take devices away
 */
record NvidiaSite(ConfigMapRef config, Optional<String> clusterPolicy, DeviceAccess access) {
  static final String CONFIG_MAP = "numaoperator-nvidia-config";

  static NvidiaSite of(NumaPolicy policy) {
    var plugin = policy.getSpec().devicePlugin;
    var site = plugin.provider == Provider.GPUOperator ? gpuOperator(plugin) : nvidia(plugin);
    return policy.getSpec().kubelet.cpuManager.policy == StaticOrNone.Static
        ? site
        : new NvidiaSite(site.config, site.clusterPolicy, DeviceAccess.Unchanged);
  }

  private static NvidiaSite nvidia(DevicePluginPolicy plugin) {
    var settings = plugin.nvidia == null ? new DevicePluginPolicy.Nvidia() : plugin.nvidia;
    return new NvidiaSite(
        new ConfigMapRef(settings.namespace, CONFIG_MAP), Optional.empty(), settings.deviceAccess);
  }

  private static NvidiaSite gpuOperator(DevicePluginPolicy plugin) {
    var settings =
        plugin.gpuOperator == null ? new DevicePluginPolicy.GpuOperator() : plugin.gpuOperator;
    return new NvidiaSite(
        new ConfigMapRef(settings.namespace, CONFIG_MAP),
        Optional.of(settings.clusterPolicy),
        settings.deviceAccess);
  }
}
