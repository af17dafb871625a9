package io.numaoperator.api.kai;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/** What KAI's operator says of a Config or a SchedulingShard. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonIgnoreProperties(ignoreUnknown = true)
public class KaiStatus {
  /** Deployed, Available, DependenciesFulfilled, Reconciling. */
  public List<KaiCondition> conditions;

  /** One of them. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class KaiCondition {
    public String type;
    public String status;
    public String message;

    /** The generation that it was set for. */
    public Long observedGeneration;
  }
}
