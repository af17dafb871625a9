package io.numaoperator.api.openshift;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;

/** Nodes that get the same configuration, one after the other within its maxUnavailable. */
@Group(KubeletConfig.GROUP)
@Version(KubeletConfig.VERSION)
@Kind("MachineConfigPool")
@Plural("machineconfigpools")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class MachineConfigPool
    extends CustomResource<MachineConfigPool.Spec, MachineConfigPool.Status> {

  /** Which nodes. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Spec {
    public LabelSelector nodeSelector;
    public Boolean paused;
  }

  /** How far it is. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Status {
    public List<PoolCondition> conditions;
    public Integer machineCount;
    public Integer updatedMachineCount;
  }
}
