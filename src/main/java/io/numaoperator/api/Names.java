package io.numaoperator.api;

/** Names that are part of the product's contract: group, labels, annotations, field managers. */
public final class Names {
  public static final String GROUP = "numaoperator.io";
  public static final String VERSION = "v1alpha1";

  /** Label of a NumaNodeState: the policy that has the node. */
  public static final String POLICY_LABEL = GROUP + "/policy";

  /** Label of a Node whose AlignmentReady condition is True; workloads can select it. */
  public static final String ALIGNED_LABEL = GROUP + "/aligned";

  /**
   * Label of a Namespace: "true" gives its new pods the scheduler's name (spec.scheduler's
   * assignNamespaces).
   */
  public static final String ASSIGN_SCHEDULER_LABEL = GROUP + "/assign-scheduler";

  /** Annotation of a NumaPolicy: "true" starts no new change on any of its nodes. */
  public static final String PAUSED_ANNOTATION = GROUP + "/paused";

  /** Annotation of a Node: "true" leaves this node's kubelet alone. */
  public static final String SKIP_ANNOTATION = GROUP + "/skip";

  /**
   * Annotation of a Node that the operator cordoned: {@code POLICY/ATTEMPT}. Only a node that
   * carries it is ever uncordoned by the operator, and an agent starts a change only on a node that
   * carries it for the very attempt.
   */
  public static final String CORDONED_ANNOTATION = GROUP + "/cordoned-for";

  /**
   * Finalizer of a NumaPolicy whose nodes are brought back to their own settings before it goes.
   */
  public static final String RESTORE_FINALIZER = GROUP + "/restore-kubelets";

  /**
   * Annotation of a Node that is being drained, {@code Waiting/TIME} or {@code Evicting/TIME}: what
   * it waits for and since when (RFC 3339).
   */
  public static final String DRAIN_ANNOTATION = GROUP + "/drain";

  /**
   * Annotation of a Node that is drained together with others: what runs on all of them, for a
   * person to read.
   */
  public static final String DRAINED_WITH_ANNOTATION = GROUP + "/drained-with";

  /**
   * Annotation of a Node that went back into service unchanged because its pods did not end in
   * time, or its agent refused or was silent: {@code COUNT/TIME/WHY}, how often in a row, when it
   * is tried again, and what was in the way. Removing it tries again now.
   */
  public static final String DRAIN_GIVEN_UP_ANNOTATION = GROUP + "/drain-given-up";

  /**
   * Annotation of a Node whose device plugin loads, or has loaded, settings of ours: {@code
   * PROVIDER/STATE/HASH/TIME/WAS}, the last being its configuration label of before.
   */
  public static final String DEVICE_PLUGIN_ANNOTATION = GROUP + "/device-plugin";

  /**
   * Annotation of an agent pod: a hash of what it was made from. An agent with another one than the
   * operator would make now gets no grant, and is replaced.
   */
  public static final String AGENT_ANNOTATION = GROUP + "/agent-template";

  /** Label of a proof pod: the number of the attempt that it proves. */
  public static final String PROOF_LABEL = GROUP + "/proof-of-attempt";

  /** Field manager of everything that the operator applies. */
  public static final String OPERATOR_FIELD_MANAGER = "numa-operator";

  /** Field manager of what an agent writes: the status of its NumaNodeState. */
  public static final String AGENT_FIELD_MANAGER = "numa-agent";

  /** File name of the kubelet drop-in; late in the lexical order, so that it wins. */
  public static final String DROP_IN_FILE = "90-numaoperator.conf";

  private Names() {}
}
