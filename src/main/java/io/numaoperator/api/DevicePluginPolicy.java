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
    value = "self.provider in ['NVIDIA', 'GPUOperator'] || !has(self.nvidia)",
    message = "devicePlugin.nvidia needs devicePlugin.provider NVIDIA or GPUOperator")
public class DevicePluginPolicy {
  @Default("None")
  @JsonPropertyDescription(
      "None: the operator configures no device plugin and only judges what the kubelet reports."
          + " NVIDIA: the NVIDIA device plugin. GPUOperator: the same through the GPU Operator's"
          + " ClusterPolicy. HAMi: HAMi's nodeconfig gets an entry for each node.")
  public Provider provider = Provider.None;

  @JsonPropertyDescription("Settings for provider HAMi.")
  public Hami hami;

  @JsonPropertyDescription("Settings for providers NVIDIA and GPUOperator.")
  public Nvidia nvidia;

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
    @JsonPropertyDescription("Namespace where the plugin is installed.")
    public String namespace = "nvidia-device-plugin";
  }
}
