package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** What publishes NodeResourceTopology objects. */
@ValidationRule(
    value = "self.provider == 'NFD' || !has(self.nfd)",
    message = "topologyUpdater.nfd needs topologyUpdater.provider NFD")
public class TopologyUpdaterPolicy {
  @Default("BuiltIn")
  @JsonPropertyDescription(
      "BuiltIn: the operator's agent publishes them from the kubelet's PodResources API. NFD: Node"
          + " Feature Discovery's topology updater is deployed. External: somebody else does; only"
          + " their content is judged. The setting is the cluster's: where two policies disagree,"
          + " the older one in mode Enforce wins.")
  public Provider provider = Provider.BuiltIn;

  @Default("60s")
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('5s') && duration(self) <= duration('1h')",
      message = "interval must be between 5s and 1h")
  @JsonPropertyDescription(
      "How often the node is looked at even when nothing was seen to change, for example 60s."
          + " Changes are published when they happen. NFD, External: what is published counts as"
          + " stale when it differs from the kubelet for longer than that and 15 s.")
  public String interval = "60s";

  @JsonPropertyDescription("Settings for provider NFD.")
  public Nfd nfd;

  /** The updaters that the operator knows. */
  public enum Provider {
    BuiltIn,
    NFD,
    External
  }

  /** Node Feature Discovery's part. */
  public static class Nfd {
    @Default("registry.k8s.io/nfd/node-feature-discovery:v0.19.0")
    @Size(min = 1, max = 512)
    @JsonPropertyDescription("Image of the topology updater; v0.19 or newer.")
    public String image = "registry.k8s.io/nfd/node-feature-discovery:v0.19.0";
  }
}
