package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crdv2.generator.v1.SchemaCustomizer;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** What the operator wants of a node; written by the operator only. */
@SchemaCustomizer(value = AtomicMap.class, input = "grant,kubelet,topology")
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

    @JsonPropertyDescription(
        "Present: once the kubelet is verified the attempt goes on to step Proving, and ends with"
            + " the verdict that is written here. Absent: it ends when the kubelet is verified.")
    public Proof proof;
  }

  /** Pods that show that the changed kubelet aligns; see rollout.verification.proofPod. */
  public static class Proof {
    @Size(max = 64)
    @JsonPropertyDescription(
        "The pods that it consists of, in the order in which they are made; noted before the first"
            + " one is, so that there is only one set of them. Absent until the kubelet is"
            + " verified.")
    public List<ProofPod> pods;

    @Size(max = 64)
    @JsonPropertyDescription("When the pods were noted (RFC 3339).")
    public String since;

    @JsonPropertyDescription("How it ended; absent while it is under way.")
    public ProofVerdict verdict;

    @Size(max = 1024)
    @JsonPropertyDescription("The verdict in words.")
    public String message;
  }

  /** One proof pod: as many CPUs as only one such pod finds in a NUMA node. */
  public static class ProofPod {
    @Required
    @Size(max = 320)
    @JsonPropertyDescription("namespace/name; the namespace is the operator's.")
    public String pod;

    @Required
    @JsonPropertyDescription("How many exclusive CPUs it asks for.")
    public Integer cpus;

    @Size(max = 317)
    @JsonPropertyDescription("The extended resource that it asks for one of; absent for none.")
    public String device;
  }

  /** What proof pods have shown. */
  public enum ProofVerdict {
    /** Each NUMA node with free CPUs has held one, aligned. */
    Passed,
    /** The kubelet refused one or did not align it: the attempt is rolled back. */
    Failed,
    /** This kubelet is not set to align anything, or the policy does not ask for it. */
    NotNeeded,
    /** They could not be tried: nothing is held against the kubelet, and the change stays. */
    NotProven
  }
}
