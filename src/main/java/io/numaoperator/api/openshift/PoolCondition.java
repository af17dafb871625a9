package io.numaoperator.api.openshift;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * A condition of a KubeletConfig (Success, Failure) or a MachineConfigPool (Updated, Degraded …).
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
public class PoolCondition {
  public String type;
  public String status;
  public String message;
}
