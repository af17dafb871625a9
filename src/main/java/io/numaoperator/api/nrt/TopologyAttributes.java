package io.numaoperator.api.nrt;

/**
 * What our agent writes into a NodeResourceTopology beyond what every updater does. Other
 * schedulers do not read it; without it a guess is made.
 */
public final class TopologyAttributes {
  /**
   * Attribute of the node: hardware threads of a core; there if and only if the CPU Manager has
   * full-pcpus-only.
   */
  public static final String FULL_PCPUS_ONLY = "numaoperator.io/full-pcpus-only";

  /** Attribute of the node: "true" with prefer-closest-numa-nodes. */
  public static final String PREFER_CLOSEST = "numaoperator.io/prefer-closest-numa-nodes";

  /**
   * Attribute of a zone: the zones, as a list such as 0-1, that memory on this one was given
   * together with, itself included; absent when no container has pinned memory here.
   */
  public static final String MEMORY_GROUP = "numaoperator.io/memory-group";

  private TopologyAttributes() {}
}
