package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crdv2.generator.v1.SchemaCustomizer;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import java.util.ArrayList;
import java.util.List;

/** What the operator says about a policy; per-node detail is in the NumaNodeStates. */
@SchemaCustomizer(value = ListMap.class, input = "conditions=type")
public class NumaPolicyStatus {
  @JsonPropertyDescription("The spec's generation that this status was made from.")
  public Long observedGeneration;

  @Size(max = 16)
  @JsonPropertyDescription(
      "Ready: every node is as the policy wants it. Reconciling and Stalled have the meaning of"
          + " kstatus. KubeletsConfigured, DevicesReporting, TopologyPublished and SchedulerReady"
          + " judge one part each, over all nodes. PodsAdmitted: no owner's pods are rejected by these"
          + " nodes again and again.")
  public List<Condition> conditions = new ArrayList<>();

  @JsonPropertyDescription("How many nodes are in which state.")
  public NodeCounts nodes;

  @JsonPropertyDescription(
      "How many pods with devices run on the policy's nodes though another scheduler than the"
          + " policy's bound them. A scheduler that does not see NUMA nodes can bind a pod where the"
          + " kubelet rejects it (TopologyAffinityError): set spec.schedulerName of such pods. Counted"
          + " with scheduler.provider BuiltIn; absent when there is none.")
  public Integer foreignPods;

  @Size(max = 20)
  @JsonPropertyDescription("Nodes that are not ready, the worst first; at most 20.")
  public List<NotReadyNode> notReady = new ArrayList<>();

  @JsonPropertyDescription("How many more nodes are not ready than are listed.")
  public Integer notReadyLeftOut;

  @Size(max = 16)
  @JsonPropertyDescription(
      "Whose pods the policy's nodes reject again and again (3 times within 10 minutes), and why; at"
          + " most 16, the most rejections first.")
  public List<RejectionLoop> rejectionLoops = new ArrayList<>();

  @JsonPropertyDescription("How many more such owners there are than are listed.")
  public Integer rejectionLoopsLeftOut;

  @JsonPropertyDescription(
      "What the policy means for its nodes' kubelets, over all nodes; node by node it is in the"
          + " NumaNodeStates. Absent while no node has a plan.")
  public PolicyPlan plan;

  @JsonPropertyDescription(
      "What spec.approvedPlan approved, noted when the plan was just that: the operator's memory of"
          + " it, when nodes come and go.")
  public Approved approved;

  /** The plan over all nodes. */
  public static class PolicyPlan {
    @Required
    @Size(min = 12, max = 64)
    @JsonPropertyDescription(
        "Hash over the different plans of the nodes. Copy it into spec.approvedPlan to approve.")
    public String hash;

    @Size(max = 32)
    @JsonPropertyDescription("The different plans of its nodes, the commonest first; at most 32.")
    public List<NodePlan> nodePlans = new ArrayList<>();

    @JsonPropertyDescription("How many more different plans there are than are listed.")
    public Integer nodePlansLeftOut;
  }

  /** One plan that some of the nodes have. */
  public static class NodePlan {
    @Required
    @Size(min = 12, max = 64)
    @JsonPropertyDescription("status.plan.hash of the NumaNodeStates that have it.")
    public String hash;

    @Required
    @JsonPropertyDescription("How many nodes have it.")
    public Integer nodes;

    @Required
    @Size(max = 253)
    @JsonPropertyDescription("One of these nodes, to look at.")
    public String example;
  }

  /** An approval that was given. */
  public static class Approved {
    @Required
    @Size(min = 12, max = 64)
    @JsonPropertyDescription("The value of spec.approvedPlan that approved it.")
    public String plan;

    @Size(max = 1000)
    @JsonPropertyDescription("The plans of nodes that it covers (status.plan.hash of each).")
    public List<String> nodePlans = new ArrayList<>();
  }

  /** An owner whose pods are rejected again and again. */
  public static class RejectionLoop {
    @Required
    @Size(max = 512)
    @JsonPropertyDescription("Kind and namespace/name, for example Deployment train/llm.")
    public String owner;

    @Required
    @JsonPropertyDescription(
        "How many of its pods were rejected in the last 10 minutes, at least: rounded down to 3, 5,"
            + " 10, 20, 50, 100 and so on.")
    public Integer pods;

    @Size(max = 16)
    @JsonPropertyDescription("The nodes that rejected them; at most 16.")
    public List<String> nodes = new ArrayList<>();

    @Required
    @JsonPropertyDescription("Since when (RFC 3339).")
    public String since;

    @Size(max = 1024)
    @JsonPropertyDescription("Why, in numbers, as of the last rejection that was looked at.")
    public String cause;
  }

  /** Counts of the policy's nodes. */
  public static class NodeCounts {
    @JsonPropertyDescription("Nodes that belong to this policy.")
    public Integer matched = 0;

    @JsonPropertyDescription("Nodes whose AlignmentReady condition is True.")
    public Integer ready = 0;

    @JsonPropertyDescription("Nodes that are being changed now.")
    public Integer updating = 0;

    @JsonPropertyDescription("Nodes whose change failed or that cannot be changed.")
    public Integer failed = 0;
  }

  /** One node that is not ready. */
  public static class NotReadyNode {
    @Required
    @JsonPropertyDescription("The node's name.")
    public String name;

    @JsonPropertyDescription("The reason of its AlignmentReady condition.")
    public String reason;

    @Size(max = 1024)
    @JsonPropertyDescription("The message of its AlignmentReady condition.")
    public String message;
  }
}
