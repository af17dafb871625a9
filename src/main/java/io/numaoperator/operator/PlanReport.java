package io.numaoperator.operator;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Change;
import io.numaoperator.api.NumaNodeStateStatus.Plan;
import io.numaoperator.api.NumaPolicyStatus.NodePlan;
import io.numaoperator.api.NumaPolicyStatus.PolicyPlan;
import io.numaoperator.kubelet.SettingsDiff;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.PlanHash;
import io.numaoperator.preflight.Divergence;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Plans as the objects show them. */
final class PlanReport {
  private static final int CHANGES = 64;
  private static final int CHARACTERS = 1024;
  private static final int NOTES = 16;
  private static final int NODE_PLANS = 32;

  private PlanReport() {}

  /**
   * Of one node.
   *
   * @param hash of its plan
   * @param nextVersion what would stop it after an upgrade
   */
  static Plan of(
      String hash, Planned planned, NumaNodeStateStatus seen, Optional<String> nextVersion) {
    var changes = Divergence.changes(planned, seen);
    var plan = new Plan();
    plan.hash = hash;
    plan.changes = changes.stream().limit(CHANGES).map(PlanReport::wire).toList();
    plan.changesLeftOut = changes.size() > CHANGES ? changes.size() - CHANGES : null;
    plan.notes = planned.notes().stream().limit(NOTES).map(PlanReport::shortened).toList();
    plan.nextVersion = nextVersion.map(PlanReport::shortened).orElse(null);
    return plan;
  }

  static String hash(KubeletPolicy policy, Planned planned, NumaNodeStateStatus seen) {
    return PlanHash.of(
        policy.memoryManager,
        io.numaoperator.preflight.NodePlan.ownSettings(seen),
        planned.fragment());
  }

  /**
   * Over all nodes of a policy; empty when none has a plan.
   *
   * @param plans node → hash of its plan
   */
  static Optional<PolicyPlan> ofAll(Map<String, String> plans) {
    return PlanHash.ofAll(plans.values())
        .map(
            hash -> {
              var different = different(plans);
              var plan = new PolicyPlan();
              plan.hash = hash;
              plan.nodePlans = different.stream().limit(NODE_PLANS).toList();
              plan.nodePlansLeftOut =
                  different.size() > NODE_PLANS ? different.size() - NODE_PLANS : null;
              return plan;
            });
  }

  private static List<NodePlan> different(Map<String, String> plans) {
    var byHash = new TreeMap<String, NodePlan>();
    new TreeMap<>(plans)
        .forEach(
            (node, hash) -> {
              var line = byHash.computeIfAbsent(hash, h -> line(h, node));
              line.nodes++;
            });
    return byHash.values().stream()
        .sorted(Comparator.comparing((NodePlan line) -> -line.nodes).thenComparing(l -> l.hash))
        .toList();
  }

  private static NodePlan line(String hash, String node) {
    var line = new NodePlan();
    line.hash = hash;
    line.nodes = 0;
    line.example = node;
    return line;
  }

  private static Change wire(SettingsDiff.Change change) {
    var wire = new Change();
    wire.field = change.field();
    wire.from = change.from().map(PlanReport::shortened).orElse(null);
    wire.to = change.to().map(PlanReport::shortened).orElse(null);
    return wire;
  }

  private static String shortened(String text) {
    return Texts.shortened(text, CHARACTERS);
  }
}
