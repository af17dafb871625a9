package io.numaoperator.rollout;

import io.numaoperator.plan.kubelet.PlanHash;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Whether plans of nodes may be carried out. A person approves the plan over all nodes by its hash;
 * which plans of nodes that was is noted then, so that nodes may come and go afterwards.
 *
 * @param demanded the hash in the policy; empty when no approval is needed
 * @param plan the hash that the plan over all nodes has now; empty when no node has a plan
 * @param nodePlans the plans of nodes that are approved
 */
public record Approval(Optional<String> demanded, Optional<String> plan, Set<String> nodePlans) {
  /**
   * As the CRD has it; more different machines than that are approved while none of them changes.
   */
  private static final int MOST = 1000;

  public Approval {
    nodePlans = Set.copyOf(nodePlans);
  }

  /** What was noted of an approval: the policy's hash then, and the plans that it covered. */
  public record Noted(String plan, List<String> nodePlans) {}

  /**
   * @param noted from before; empty when nothing was approved yet
   * @param now the plans that the nodes have now
   */
  public static Approval of(
      Optional<String> demanded, Optional<Noted> noted, Collection<String> now) {
    var plan = PlanHash.ofAll(now);
    if (demanded.isPresent() && demanded.equals(plan)) {
      return new Approval(demanded, plan, Set.copyOf(now));
    }
    var before = noted.filter(n -> demanded.equals(Optional.of(n.plan())));
    return new Approval(
        demanded, plan, before.map(n -> Set.copyOf(n.nodePlans())).orElse(Set.of()));
  }

  /** Whether a node with this plan may be changed. */
  public boolean allows(String nodePlan) {
    return demanded.isEmpty() || nodePlans.contains(nodePlan);
  }

  /** What to note, at most 1,000 plans; empty when nothing is approved. */
  public Optional<Noted> noted() {
    return demanded
        .filter(hash -> !nodePlans.isEmpty())
        .map(hash -> new Noted(hash, nodePlans.stream().sorted().limit(MOST).toList()));
  }
}
