package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which scheduler reads NodeResourceTopology objects. */
@ValidationRule(
    value =
        "self.provider in ['Auto', 'NodeResourceTopologyMatch'] ||"
            + " !has(self.nodeResourceTopologyMatch)",
    message =
        "scheduler.nodeResourceTopologyMatch needs scheduler.provider NodeResourceTopologyMatch or"
            + " Auto")
@ValidationRule(
    value = "self.provider == 'KAI' || !has(self.kai)",
    message = "scheduler.kai needs scheduler.provider KAI")
@ValidationRule(
    value = "self.provider == 'External' || !has(self.external)",
    message = "scheduler.external needs scheduler.provider External")
@ValidationRule(
    value =
        "self.provider != 'None' || !has(self.assignNamespaces) || self.assignNamespaces == 'Off'",
    message = "scheduler.assignNamespaces needs a scheduler: provider is None")
public class SchedulerPolicy {
  @Default("Auto")
  @JsonPropertyDescription(
      "Auto: NodeResourceTopologyMatch where a released image fits the cluster's version, else"
          + " BuiltIn. NodeResourceTopologyMatch: the scheduler-plugins' kube-scheduler. KAI: KAI"
          + " Scheduler's numa plugin. BuiltIn: the cluster's own kube-scheduler with the"
          + " operator's extender. External: the plugin inside a scheduler that somebody else runs."
          + " None: no NUMA-aware scheduler; the policy's owner accepts that pods can loop in"
          + " TopologyAffinityError. The setting is the cluster's: where two policies disagree, the"
          + " older one in mode Enforce wins.")
  public Provider provider = Provider.Auto;

  @Default("numa-scheduler")
  @Size(min = 1, max = 63)
  @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
  @ValidationRule(
      value = "self == oldSelf",
      message = "schedulerName cannot be changed: pods that carry it would never be scheduled")
  @JsonPropertyDescription(
      "The name that pods put into spec.schedulerName. Default numa-scheduler. It cannot be"
          + " changed: pods that carry it would wait forever.")
  public String schedulerName = "numa-scheduler";

  @Default("Off")
  @JsonPropertyDescription(
      "Who gives pods the scheduler's name. Off (default): whoever writes them, in"
          + " spec.schedulerName. Labelled: new pods in namespaces with the label"
          + " numaoperator.io/assign-scheduler=true get it by a MutatingAdmissionPolicy (Kubernetes"
          + " 1.36 or newer), where they name no other and belong to no DaemonSet.")
  public AssignNamespaces assignNamespaces = AssignNamespaces.Off;

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

  @JsonPropertyDescription("Settings for provider KAI.")
  public Kai kai;

  @JsonPropertyDescription("Settings for provider External.")
  public External external;

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

    @JsonPropertyDescription("How the plugin scores the nodes that a pod fits on.")
    public ScoringStrategy scoringStrategy = new ScoringStrategy();

    @Default("5")
    @Min(5)
    @Max(300)
    @JsonPropertyDescription(
        "cacheResyncPeriodSeconds of the plugin: how often the cache looks for nodes whose object"
            + " accounts for all pods again. Default 5. Without a cache (0) the plugin fails open.")
    public Integer cacheResyncPeriodSeconds = 5;

    @JsonPropertyDescription("The plugin's cache.")
    public Cache cache = new Cache();
  }

  /** scoringStrategy. */
  public static class ScoringStrategy {
    @Default("LeastAllocated")
    @JsonPropertyDescription(
        "LeastAllocated (default), MostAllocated, BalancedAllocation or LeastNUMANodes. The last"
            + " one is the only one that scores nodes of other policies than SingleNUMANode, too.")
    public Scoring type = Scoring.LeastAllocated;

    @Size(max = 16)
    @JsonPropertyDescription(
        "Weights; when left out, cpu and memory have weight 1. All that a pod requests is scored;"
            + " what is not named here has weight 1.")
    public List<Weight> resources = new ArrayList<>();
  }

  /** A resource's weight. */
  public static class Weight {
    @Required
    @Size(min = 1, max = 128)
    @Pattern("^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
    @JsonPropertyDescription("Name of the resource, for example nvidia.com/gpu.")
    public String name;

    @Default("1")
    @Min(1)
    @Max(100)
    @JsonPropertyDescription("Its weight. Default 1.")
    public Integer weight = 1;
  }

  /**
   * cache. Its resyncScope is always OnlyResources: the watcher behind All spins a core once its
   * watch closes (scheduler-plugins#973).
   */
  public static class Cache {
    @Default("OnlyExclusiveResources")
    @JsonPropertyDescription(
        "Which pods of other schedulers make a node wait until its object accounts for them."
            + " OnlyExclusiveResources (default): those with exclusive CPUs or devices. None: none."
            + " All holds back each node for every DaemonSet pod.")
    public ForeignPodsDetect foreignPodsDetect = ForeignPodsDetect.OnlyExclusiveResources;

    @Default("Autodetect")
    @JsonPropertyDescription(
        "Which pods a node's fingerprint covers. Autodetect (default): as its object says. All. The"
            + " plugin's OnlyExclusiveResources is left out: no updater's fingerprint matches it.")
    public ResyncMethod resyncMethod = ResyncMethod.Autodetect;

    @Default("Auto")
    @JsonPropertyDescription(
        "Auto (default): the informer that counts the pods that the oldest kubelet lists, Shared"
            + " from 1.34 (running pods only), Dedicated before (terminated ones too).")
    public InformerMode informerMode = InformerMode.Auto;
  }

  /** KAI Scheduler's part. */
  public static class Kai {
    @Default("default")
    @Size(min = 1, max = 63)
    @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    @JsonPropertyDescription(
        "Name of the SchedulingShard whose scheduler places the pods. Default default.")
    public String shard = "default";

    @Default("true")
    @JsonPropertyDescription(
        "reconstructAvailable of the numa plugin. true (default): what is free is computed from the"
            + " pods' placements instead of read from the NodeResourceTopology, which lags.")
    public Boolean reconstructAvailable = true;

    @Size(max = 16)
    @JsonPropertyDescription(
        "Labels of the nodes on which the placement exporter runs. When left out: those that the"
            + " policy's nodeSelector.matchLabels names, or every Linux node where one set of"
            + " labels cannot say it.")
    public Map<String, String> exporterNodeSelector;

    @Default("false")
    @JsonPropertyDescription(
        "Whether to make the queues numa-parent and numa (child), without quota and limit. Off by"
            + " default: queues are how a cluster shares its GPUs. Queues that are there under"
            + " these names are left as they are.")
    public Boolean defaultQueues = false;
  }

  /** Somebody else's scheduler. */
  public static class External {
    @Size(min = 1, max = 63)
    @Pattern("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    @JsonPropertyDescription(
        "The name under which it schedules, for example default-scheduler. When left out,"
            + " scheduler.schedulerName.")
    public String schedulerName;

    @Default("false")
    @JsonPropertyDescription(
        "Its owner's word that it has the plugin and reads NodeResourceTopology objects: whether it"
            + " does cannot be seen from outside. false (default): it is not known, and strict"
            + " kubelets wait. true: nodes get reason AssumedAware while it looks at its pods.")
    public Boolean assumeAware = false;
  }

  /** Who gives pods the scheduler's name. */
  public enum AssignNamespaces {
    Off,
    Labelled
  }

  /** cache.foreignPodsDetect. */
  public enum ForeignPodsDetect {
    None,
    OnlyExclusiveResources,
    All
  }

  /** cache.resyncMethod. */
  public enum ResyncMethod {
    Autodetect,
    All
  }

  /** cache.informerMode. */
  public enum InformerMode {
    Auto,
    Shared,
    Dedicated
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
