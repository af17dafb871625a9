package io.numaoperator.api.kai;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** A share of the cluster. */
@Group(KaiQueue.GROUP)
@Version(KaiQueue.VERSION)
@Kind("Queue")
@Plural("queues")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class KaiQueue extends CustomResource<KaiQueue.Spec, Void> {
  public static final String GROUP = "scheduling.run.ai";
  public static final String VERSION = "v2";

  /**
   * The fields that are used.
   *
   * @param parentQueue none for the root of a tree
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Spec(String parentQueue, Resources resources) {}

  /** By kind of resource: CPU in thousandths, memory in 10^6 bytes, GPUs. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Resources(Share cpu, Share memory, Share gpu) {}

  /** -1 is without bound. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Share(double quota, double limit, double overQuotaWeight) {
    /** Nothing guaranteed, nothing forbidden. */
    public static Share free() {
      return new Share(0, -1, 1);
    }
  }
}
