package io.numaoperator.api.kai;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import java.util.Map;

/** How KAI is installed. There is one, named {@link #NAME}; others are ignored. */
@Group(KaiConfig.GROUP)
@Version(KaiConfig.VERSION)
@Kind("Config")
@Plural("configs")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class KaiConfig extends CustomResource<KaiConfig.Spec, KaiStatus> {
  public static final String GROUP = "kai.scheduler";
  public static final String VERSION = "v1";
  public static final String NAME = "kai-config";

  /** Name of the CustomResourceDefinition. */
  public static final String CRD = "configs." + GROUP;

  /** The fields that are used. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Spec {
    /** Where KAI's pods run; kai-scheduler when left out. */
    public String namespace;

    public Global global;
    public Exporter numaPlacementExporter;
  }

  /** What all of KAI shares. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Global {
    /** kai-scheduler when left out. */
    public String schedulerName;
  }

  /** The DaemonSet that writes onto pods where the kubelet placed them. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Exporter {
    public Service service;

    /** When left out: a label of nfd-worker, which need not be there. */
    public Map<String, String> nodeSelector;

    public List<Toleration> tolerations;
  }

  /** Whether it runs. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public static class Service {
    public Boolean enabled;
  }
}
