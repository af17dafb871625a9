package io.numaoperator.api.kai;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Map;

/** One scheduler of KAI, for a part of the nodes. */
@Group(KaiConfig.GROUP)
@Version(KaiConfig.VERSION)
@Kind("SchedulingShard")
@Plural("schedulingshards")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class SchedulingShard extends CustomResource<SchedulingShard.Spec, KaiStatus> {

  /** The fields that are used. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Spec {
    /** By name. */
    public Map<String, Plugin> plugins;
  }

  /** A plugin of the scheduler. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Plugin {
    public Boolean enabled;

    /** They replace the plugin's defaults as a whole. */
    public Map<String, String> arguments;
  }
}
