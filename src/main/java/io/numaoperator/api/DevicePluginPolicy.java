package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Which device plugin serves the GPUs. */
@ValidationRule(
    value = "self.provider == 'HAMi' || !has(self.hami)",
    message = "devicePlugin.hami needs devicePlugin.provider HAMi")
@ValidationRule(
    value = "self.provider == 'NVIDIA' || !has(self.nvidia)",
    message = "devicePlugin.nvidia needs devicePlugin.provider NVIDIA")
@ValidationRule(
    value = "self.provider == 'GPUOperator' || !has(self.gpuOperator)",
    message = "devicePlugin.gpuOperator needs devicePlugin.provider GPUOperator")
public class DevicePluginPolicy {
  @Default("None")
  @JsonPropertyDescription(
      "None: the operator configures no device plugin and only judges what the kubelet reports."
          + " NVIDIA: the NVIDIA device plugin. GPUOperator: the same through the GPU Operator's"
          + " ClusterPolicy. HAMi: HAMi's nodeconfig gets an entry for each node.")
  public Provider provider = Provider.None;

  @JsonPropertyDescription("Settings for provider HAMi.")
  public Hami hami;

  @JsonPropertyDescription("Settings for provider NVIDIA.")
  public Nvidia nvidia;

  @JsonPropertyDescription("Settings for provider GPUOperator.")
  public GpuOperator gpuOperator;

  /** The device plugins that the operator knows. */
  public enum Provider {
    None,
    NVIDIA,
    GPUOperator,
    HAMi
  }

  /** HAMi's part. */
  public static class Hami {
    @Default("hami-system")
    @Size(min = 1, max = 63)
    @JsonPropertyDescription("Namespace where HAMi is installed.")
    public String namespace = "hami-system";

    @Default("numaoperator-hami-config")
    @Size(min = 1, max = 253)
    @JsonPropertyDescription(
        "Name of the ConfigMap that the operator writes in that namespace; the owner of HAMi's Helm"
            + " release sets devicePlugin.nodeConfiguration.externalConfigName to it once.")
    public String configMapName = "numaoperator-hami-config";

    @Min(1)
    @Max(1024)
    @JsonPropertyDescription(
        "devicesplitcount of each node: how many pods may share a GPU. When left out, HAMi's own.")
    public Integer deviceSplitCount;
  }

  /** The NVIDIA device plugin's part. */
  public static class Nvidia {
    @Default("nvidia-device-plugin")
    @Size(min = 1, max = 63)
    @JsonPropertyDescription(
        "Namespace where the plugin is installed. The operator writes the ConfigMap"
            + " numaoperator-nvidia-config there; the owner of the plugin's Helm release sets"
            + " config.name to it once.")
    public String namespace = "nvidia-device-plugin";

    @Default("DeviceSpecs")
    @JsonPropertyDescription(DEVICE_ACCESS)
    public DeviceAccess deviceAccess = DeviceAccess.DeviceSpecs;
  }

  /** The GPU Operator's part. */
  public static class GpuOperator {
    @Default("gpu-operator")
    @Size(min = 1, max = 63)
    @JsonPropertyDescription(
        "Namespace where the GPU Operator is installed. The operator writes the ConfigMap"
            + " numaoperator-nvidia-config there.")
    public String namespace = "gpu-operator";

    @Default("cluster-policy")
    @Size(min = 1, max = 253)
    @JsonPropertyDescription(
        "Name of the ClusterPolicy whose devicePlugin.config.name is to be that ConfigMap. Where"
            + " Helm owns the ClusterPolicy, or it names another ConfigMap, it is left alone and"
            + " the policy's DevicesReporting condition has the command for its owner.")
    public String clusterPolicy = "cluster-policy";

    @Default("DeviceSpecs")
    @JsonPropertyDescription(DEVICE_ACCESS)
    public DeviceAccess deviceAccess = DeviceAccess.DeviceSpecs;
  }

  private static final String DEVICE_ACCESS =
      "How containers keep their GPUs while the CPU Manager is Static: its updates take away device"
          + " files that the kubelet was not told of, and a running container then fails with"
          + " 'Failed to initialize NVML: Unknown Error'. DeviceSpecs: the plugin tells the kubelet"
          + " (passDeviceSpecs). CDI: the container runtime adds them (deviceListStrategy cdi-cri,"
          + " which needs a runtime with CDI). Unchanged: the plugin's configuration is left as it"
          + " is. Where the plugin's configuration or environment has either already, nothing is"
          + " changed.";

  /** How GPUs get into containers. */
  public enum DeviceAccess {
    DeviceSpecs,
    CDI,
    Unchanged
  }
}
