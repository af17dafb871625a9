package io.numaoperator.topology.fit;

/**
 * How a node's kubelet places what it admits.
 *
 * @param policy topologyManagerPolicy
 * @param scope topologyManagerScope
 * @param staticCpus whether the CPU Manager's policy is static
 * @param staticMemory whether the Memory Manager's policy is Static
 * @param fullCoresOnly the CPU Manager's option full-pcpus-only
 * @param threadsPerCore hardware threads of a core; 2 where it is not known
 * @param preferClosest the Topology Manager's option prefer-closest-numa-nodes
 */
public record KubeletRules(
    Policy policy,
    Scope scope,
    boolean staticCpus,
    boolean staticMemory,
    boolean fullCoresOnly,
    int threadsPerCore,
    boolean preferClosest) {

  /**
   * @throws IllegalArgumentException if a core has no thread
   */
  public KubeletRules {
    if (threadsPerCore < 1) {
      throw new IllegalArgumentException("a core of " + threadsPerCore + " threads");
    }
  }

  /** Both managers static, no options. */
  public static KubeletRules of(Policy policy, Scope scope) {
    return new KubeletRules(policy, scope, true, true, false, 2, false);
  }

  /** Whether hints of several zones are of no interest (policy_single_numa_node.go). */
  boolean narrow() {
    return policy == Policy.SingleNumaNode;
  }

  /** topologyManagerPolicy. */
  public enum Policy {
    None,
    BestEffort,
    Restricted,
    SingleNumaNode
  }

  /** topologyManagerScope. */
  public enum Scope {
    Container,
    Pod
  }
}
