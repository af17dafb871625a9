package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** What the owner of the nodes wants. */
public class NumaPolicySpec {
  @Required
  @JsonPropertyDescription(
      "What the operator may do. Observe: plan, compare and report, change nothing. Enforce: bring"
          + " the selected nodes' kubelets to this policy, node by node as spec.rollout says."
          + " Required, without default: nobody's nodes are drained because a field was forgotten.")
  public Mode mode;

  @Required
  @JsonPropertyDescription(
      "Which nodes this policy is for, by their labels. An empty selector ({}) means every node but"
          + " the control plane. A node belongs to one policy only: where two select it, the older"
          + " policy keeps it and the younger reports Conflict. A selector that matches nothing is"
          + " fine: node pools scale from zero.")
  public NodeSelector nodeSelector;

  @Default("false")
  @JsonPropertyDescription(
      "Also take selected nodes that carry node-role.kubernetes.io/control-plane. Default false:"
          + " a control-plane kubelet is left alone even when the selector matches it.")
  public Boolean allowControlPlane = false;

  @Default("{}")
  @JsonPropertyDescription(
      "How the kubelets' CPU, Memory and Topology Managers are set. When left out: static CPUs, one"
          + " physical core reserved per NUMA node, Static memory with the node's own reservations,"
          + " and single-numa-node alignment of whole pods.")
  public KubeletPolicy kubelet = new KubeletPolicy();

  @Default("{}")
  @JsonPropertyDescription("Which device plugin serves the GPUs, and what is configured for it.")
  public DevicePluginPolicy devicePlugin = new DevicePluginPolicy();

  @Default("{}")
  @JsonPropertyDescription(
      "What publishes each node's free resources per NUMA node (NodeResourceTopology objects), so"
          + " that a scheduler can see them.")
  public TopologyUpdaterPolicy topologyUpdater = new TopologyUpdaterPolicy();

  @Default("{}")
  @JsonPropertyDescription(
      "Which scheduler reads these objects. With a strict topology policy and a scheduler that does"
          + " not, pods are bound to nodes that then reject them with TopologyAffinityError.")
  public SchedulerPolicy scheduler = new SchedulerPolicy();

  @Default("{}")
  @JsonPropertyDescription("How changes reach the nodes: budget, drain, verification.")
  public RolloutPolicy rollout = new RolloutPolicy();

  @Default("{}")
  @JsonPropertyDescription("What is done about pods that kubelets reject.")
  public TroubleshootingPolicy troubleshooting = new TroubleshootingPolicy();

  @Size(min = 12, max = 64)
  @JsonPropertyDescription(
      "Makes Enforce wait until status.plan.hash of this policy is this, and then change nodes only"
          + " as that plan says. Left out: no approval is needed. Look at the plan first (mode"
          + " Observe, or any value here), then copy the hash. It covers what every node's kubelet is"
          + " to be set to: when the policy, a node's own configuration or the operator plans"
          + " otherwise later, those nodes wait again with reason WaitingForApproval. A node that"
          + " appears later, or is replaced, and has the same plan as an approved one is approved"
          + " with it: the order of nodes, their number and the exact size of their memory are not"
          + " part of the hash. An attempt that runs is not stopped.")
  public String approvedPlan;

  /** What the operator may do. */
  public enum Mode {
    Observe,
    Enforce
  }
}
