package io.numaoperator.api.nvidia;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** What the GPU Operator installs on a cluster's GPU nodes. */
@Group(ClusterPolicy.GROUP)
@Version(ClusterPolicy.VERSION)
@Kind("ClusterPolicy")
@Plural("clusterpolicies")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class ClusterPolicy extends CustomResource<ClusterPolicy.Spec, ClusterPolicy.Status> {
  public static final String GROUP = "nvidia.com";
  public static final String VERSION = "v1";

  /** Its components. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Spec {
    public DevicePlugin devicePlugin;
  }

  /** The device plugin. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class DevicePlugin {
    public Config config;
  }

  /** Its named configurations. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Config {
    /** A ConfigMap of the GPU Operator's namespace. */
    public String name;

    /** The key of it for nodes that have no label. */
    @JsonProperty("default")
    public String fallback;
  }

  /** Not looked at. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Status {}
}
