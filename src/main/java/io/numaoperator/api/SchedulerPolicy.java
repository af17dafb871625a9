package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** Which scheduler reads NodeResourceTopology objects. */
@ValidationRule(
    value =
        "self.provider in ['Auto', 'NodeResourceTopologyMatch'] ||"
            + " !has(self.nodeResourceTopologyMatch)",
    message =
        "scheduler.nodeResourceTopologyMatch needs scheduler.provider NodeResourceTopologyMatch or"
            + " Auto")
public class SchedulerPolicy {
  @Default("Auto")
  @JsonPropertyDescription(
      "Auto: NodeResourceTopologyMatch where a released image fits the cluster's version, else"
          + " BuiltIn. NodeResourceTopologyMatch: the scheduler-plugins' kube-scheduler. KAI: KAI"
          + " Scheduler's numa plugin. BuiltIn: the cluster's own kube-scheduler with the operator's"
          + " extender. External: the plugin inside a scheduler that somebody else runs. None: no"
          + " NUMA-aware scheduler; the policy's owner accepts that pods can loop in"
          + " TopologyAffinityError. The setting is the cluster's: where two policies disagree, the"
          + " older one wins.")
  public Provider provider = Provider.Auto;

  @Default("numa-scheduler")
  @Size(min = 1, max = 63)
  @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
  @ValidationRule(
      value = "self == oldSelf",
      message = "schedulerName cannot be changed: pods that carry it would never be scheduled")
  @JsonPropertyDescription(
      "The name that pods put into spec.schedulerName. Default numa-scheduler. It cannot be changed:"
          + " pods that carry it would wait forever.")
  public String schedulerName = "numa-scheduler";

  @Default("1")
  @Min(1)
  @Max(5)
  @JsonPropertyDescription("How many replicas of the scheduler run; one of them leads.")
  public Integer replicas = 1;

  @Default("Deny")
  @JsonPropertyDescription(
      "Whether the BuiltIn scheduler may put pods that need alignment on nodes without a"
          + " NodeResourceTopology. Deny (default): no, nothing is known about them. Allow: yes.")
  public UnknownNodes unknownNodes = UnknownNodes.Deny;

  @JsonPropertyDescription("Settings for provider NodeResourceTopologyMatch.")
  public NodeResourceTopologyMatch nodeResourceTopologyMatch;

  /** The schedulers that the operator knows. */
  public enum Provider {
    Auto,
    NodeResourceTopologyMatch,
    KAI,
    BuiltIn,
    External,
    None
  }

  /** The scheduler-plugins' part. */
  public static class NodeResourceTopologyMatch {
    @Size(min = 1, max = 512)
    @JsonPropertyDescription(
        "Image of the scheduler. When left out, the release for the cluster's minor version.")
    public String image;

    @Default("LeastAllocated")
    @JsonPropertyDescription("scoringStrategy.type of the plugin.")
    public Scoring scoring = Scoring.LeastAllocated;

    @Default("5")
    @Min(5)
    @Max(300)
    @JsonPropertyDescription("cacheResyncPeriodSeconds of the plugin.")
    public Integer cacheResyncPeriodSeconds = 5;
  }

  /** What happens to nodes without NodeResourceTopology. */
  public enum UnknownNodes {
    Allow,
    Deny
  }

  /** scoringStrategy.type. */
  public enum Scoring {
    LeastAllocated,
    MostAllocated,
    BalancedAllocation,
    LeastNUMANodes
  }
}
