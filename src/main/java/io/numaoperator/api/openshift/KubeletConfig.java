package io.numaoperator.api.openshift;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;

/**
 * Settings of the kubelets of a MachineConfigPool; the Machine Config Operator carries them out.
 */
@Group(KubeletConfig.GROUP)
@Version(KubeletConfig.VERSION)
@Kind("KubeletConfig")
@Plural("kubeletconfigs")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class KubeletConfig extends CustomResource<KubeletConfig.Spec, KubeletConfig.Status> {
  public static final String GROUP = "machineconfiguration.openshift.io";
  public static final String VERSION = "v1";

  /** Which pools, and what. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Spec {
    /** By the labels of the pool, not of its nodes. */
    public LabelSelector machineConfigPoolSelector;

    /** Fields of KubeletConfiguration; it may hold any. */
    public JsonNode kubeletConfig;
  }

  /** What the Machine Config Operator made of it. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Status {
    public List<PoolCondition> conditions;
    public Long observedGeneration;
  }
}
