package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** What the operator wants of a node; written by the operator only. */
public class NumaNodeStateSpec {
  @Required
  @Size(min = 1, max = 253)
  @JsonPropertyDescription("The NumaPolicy that has this node.")
  public String policy;

  @JsonPropertyDescription(
      "What the node's kubelet should be set to. Absent until the node's inventory is known; while"
          + " the plan has a fault (see condition KubeletConfigured), what it was before.")
  public DesiredKubelet kubelet;

  @JsonPropertyDescription("Permission for one attempt to apply it. Absent means hold.")
  public Grant grant;

  @JsonPropertyDescription("What the agent does about the node's NodeResourceTopology.")
  public DesiredTopology topology;

  /** The agent's part in publishing. */
  public static class DesiredTopology {
    @Required
    @JsonPropertyDescription(
        "true: the agent publishes it (topologyUpdater.provider BuiltIn). false: somebody else"
            + " does; the agent only compares it with what the kubelet says.")
    public Boolean publish;

    @Min(0)
    @Max(7200)
    @JsonPropertyDescription(
        "How long, in seconds, what somebody else publishes may lag behind the kubelet before it"
            + " counts as different. Absent: not at all.")
    public Integer lagSeconds;
  }

  /** The desired configuration. */
  @ValidationRule(
      value = "has(self.fragment) != (has(self.restore) && self.restore)",
      message = "give either a fragment or restore: true")
  public static class DesiredKubelet {
    @JsonPropertyDescription("The content of the kubelet drop-in file.")
    public KubeletFragment fragment;

    @JsonPropertyDescription(
        "true: what the operator put on the node is removed (the drop-in file, the drop-in of the"
            + " kubelet's unit, the edit of its main file), so that the kubelet runs with the"
            + " node's own settings.")
    public Boolean restore;

    @JsonPropertyDescription(
        "Where the agent puts it. DropIn (when absent): a drop-in file. MainFile: into the"
            + " kubelet's own --config file, for kubelets before 1.32, which merge drop-ins"
            + " unreliably; the owner's version is kept on the node.")
    public File file;

    @Required
    @Size(min = 12, max = 64)
    @JsonPropertyDescription(
        "Hash of the drop-in file's bytes; with restore, of a drop-in file without settings.")
    public String hash;

    @Required
    @Size(min = 2, max = 16)
    @JsonPropertyDescription("How long a changed kubelet must be stable, for example 60s.")
    public String verificationWindow;

    @JsonPropertyDescription(
        "Generation of the policy at which this took the place of another desired configuration of"
            + " the node; absent for its first. Nodes that were changed for the same or a later one"
            + " prove it as canaries.")
    public Long policyGeneration;
  }

  /** Where a fragment goes on the node. */
  public enum File {
    DropIn,
    MainFile
  }

  /** Permission for one attempt. It is fenced: all three must match what the agent sees. */
  public static class Grant {
    @Required
    @ValidationRule(
        value = "self >= oldSelf",
        message = "attempt numbers never go back: an old grant must not be given again")
    @JsonPropertyDescription("Number of the attempt; each is used once.")
    public Long attempt;

    @Required
    @JsonPropertyDescription("Hash of the fragment that may be applied.")
    public String hash;

    @Required
    @JsonPropertyDescription("Boot of the node that it was planned for.")
    public String bootId;
  }
}
