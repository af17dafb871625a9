package io.numaoperator.readiness;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicyStatus.NodeCounts;
import io.numaoperator.api.NumaPolicyStatus.NotReadyNode;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The conditions of a policy, from those of its nodes. */
public final class PolicyReadiness {
  public static final String READY = "Ready";
  public static final String RECONCILING = "Reconciling";
  public static final String STALLED = "Stalled";

  /** Part of the policy → condition of the node that it is judged by. */
  private static final Map<String, String> PARTS =
      Map.of(
          "KubeletsConfigured", NodeReadiness.KUBELET,
          "DevicesReporting", NodeReadiness.DEVICES,
          "TopologyPublished", NodeReadiness.TOPOLOGY,
          "SchedulerReady", NodeReadiness.SCHEDULER);

  private static final int LISTED = 20;

  private PolicyReadiness() {}

  /**
   * One node of the policy.
   *
   * @param conditions its conditions; empty before it was judged
   * @param updating its kubelet is being changed, or it is cordoned for that
   * @param failed its change failed, or cannot be made
   */
  public record NodeVerdict(
      String name, List<Condition> conditions, boolean updating, boolean failed) {}

  /**
   * @param nodes the policy's nodes
   * @param conflicts nodes that it selects but an older policy has, as {@code node (policy)}
   * @param problems what keeps parts from being applied at all; part → verdict
   * @param stopped the rollout starts nothing more because a node failed
   * @param restoring the policy is being deleted, and brings its nodes back to their own settings
   */
  public record PolicyEvidence(
      List<NodeVerdict> nodes,
      List<String> conflicts,
      Map<String, Verdict> problems,
      boolean stopped,
      boolean restoring) {}

  /** All conditions by type. */
  public static Map<String, Verdict> judge(PolicyEvidence e) {
    var verdicts = new LinkedHashMap<String, Verdict>();
    var ready = ready(e);
    var stalled = stalled(e);
    verdicts.put(READY, ready);
    verdicts.put(RECONCILING, reconciling(e, ready, stalled));
    verdicts.put(STALLED, stalled);
    PARTS.keySet().stream()
        .sorted()
        .forEach(
            part ->
                verdicts.put(
                    part,
                    Optional.ofNullable(e.problems().get(part))
                        .orElseGet(() -> part(e, PARTS.get(part)))));
    return verdicts;
  }

  /** How many nodes are in which state. */
  public static NodeCounts count(PolicyEvidence e) {
    var counts = new NodeCounts();
    counts.matched = e.nodes().size();
    counts.ready = (int) e.nodes().stream().filter(PolicyReadiness::isReady).count();
    counts.updating = (int) e.nodes().stream().filter(NodeVerdict::updating).count();
    counts.failed = (int) e.nodes().stream().filter(NodeVerdict::failed).count();
    return counts;
  }

  /** The nodes that are not ready, the worst first; at most 20. */
  public static List<NotReadyNode> notReady(PolicyEvidence e) {
    return e.nodes().stream()
        .filter(n -> !isReady(n))
        .sorted(
            Comparator.comparing((NodeVerdict n) -> !n.failed())
                .thenComparing(n -> !n.updating())
                .thenComparing(NodeVerdict::name))
        .limit(LISTED)
        .map(PolicyReadiness::describe)
        .toList();
  }

  private static Verdict restoring(PolicyEvidence e) {
    var first = notReady(e).stream().findFirst();
    return Verdict.no(
        "Restoring",
        "the policy is being deleted, and %d nodes are still to be brought back to their own kubelet"
                .formatted(e.nodes().size())
            + " settings"
            + first
                .map(n -> ", first %s (%s: %s)".formatted(n.name, n.reason, n.message))
                .orElse("")
            + "; to let them go as they are, set rollout.onDelete to Keep");
  }

  private static Verdict ready(PolicyEvidence e) {
    if (e.restoring()) {
      return restoring(e);
    }
    if (!e.conflicts().isEmpty()) {
      return Verdict.no(
          "Conflict",
          e.conflicts().size()
              + " selected nodes belong to an older policy, which keeps them: "
              + sample(e.conflicts()));
    }
    var broken = broken(e);
    if (broken.isPresent()) {
      return broken.get();
    }
    if (e.nodes().isEmpty()) {
      return Verdict.yes(
          "NoNodes", "the selector matches no node; nodes that appear are taken care of");
    }
    var counts = count(e);
    if (counts.ready.equals(counts.matched)) {
      return Verdict.yes(
          "AllNodesReady", counts.ready + " of " + counts.matched + " nodes are ready");
    }
    var worst = notReady(e).getFirst();
    return new Verdict(
        e.nodes().stream().allMatch(n -> isReady(n) || isUnknown(n))
            ? Condition.Status.Unknown
            : Condition.Status.False,
        worst.reason,
        counts.ready
            + " of "
            + counts.matched
            + " nodes are ready; "
            + worst.name
            + ": "
            + worst.message);
  }

  /** The first part that cannot be as the policy wants it. */
  private static Optional<Verdict> broken(PolicyEvidence e) {
    return e.problems().entrySet().stream()
        .filter(p -> p.getValue().status() == Condition.Status.False)
        .findFirst()
        .map(p -> Verdict.no(p.getValue().reason(), p.getKey() + ": " + p.getValue().message()));
  }

  /**
   * Never True beside Stalled but while a node is being changed: kstatus, which takes the first
   * that is True, would wait for ever.
   */
  private static Verdict reconciling(PolicyEvidence e, Verdict ready, Verdict stalled) {
    if (ready.isTrue()) {
      return Verdict.no("Done", "nothing is left to do");
    }
    var counts = count(e);
    if (e.stopped() || (stalled.isTrue() && counts.updating == 0)) {
      return Verdict.no("Stopped", "what is left waits for what Stalled says");
    }
    return Verdict.yes(
        "Working",
        counts.updating
            + " nodes are being changed, "
            + (counts.matched - counts.ready)
            + " are not ready");
  }

  private static Verdict stalled(PolicyEvidence e) {
    var failed = e.nodes().stream().filter(NodeVerdict::failed).map(NodeVerdict::name).toList();
    if (e.stopped()) {
      return Verdict.yes(
          "NodeFailed",
          "no further node is started until the spec changes; failed: " + sample(failed));
    }
    if (!e.conflicts().isEmpty()) {
      return Verdict.yes("Conflict", "nodes belong to an older policy: " + sample(e.conflicts()));
    }
    return broken(e)
        .map(why -> Verdict.yes(why.reason(), why.message()))
        .orElseGet(() -> Verdict.no("Progressing", "nothing stands in the way"));
  }

  private static Verdict part(PolicyEvidence e, String ofNode) {
    if (e.nodes().isEmpty()) {
      return Verdict.yes("NoNodes", "there is no node to judge");
    }
    var notTrue =
        e.nodes().stream()
            .filter(
                n -> condition(n, ofNode).map(c -> c.status != Condition.Status.True).orElse(true))
            .sorted(
                Comparator.comparing(
                    n -> condition(n, ofNode).map(c -> c.status).orElse(Condition.Status.Unknown)))
            .toList();
    if (notTrue.isEmpty()) {
      return Verdict.yes("AllNodes", "true on all " + e.nodes().size() + " nodes");
    }
    var first = notTrue.getFirst();
    return condition(first, ofNode)
        .map(
            c ->
                new Verdict(
                    c.status,
                    c.reason,
                    notTrue.size()
                        + " of "
                        + e.nodes().size()
                        + " nodes; "
                        + first.name()
                        + ": "
                        + c.message))
        .orElseGet(
            () -> Verdict.unknown("NotJudged", notTrue.size() + " nodes were not judged yet"));
  }

  private static NotReadyNode describe(NodeVerdict node) {
    var line = new NotReadyNode();
    line.name = node.name();
    var condition = condition(node, NodeReadiness.ALIGNMENT);
    line.reason = condition.map(c -> c.reason).orElse("NotJudged");
    line.message = condition.map(c -> c.message).orElse("the node was not judged yet");
    return line;
  }

  private static boolean isReady(NodeVerdict node) {
    return condition(node, NodeReadiness.ALIGNMENT)
        .map(c -> c.status == Condition.Status.True)
        .orElse(false);
  }

  private static boolean isUnknown(NodeVerdict node) {
    return condition(node, NodeReadiness.ALIGNMENT)
        .map(c -> c.status == Condition.Status.Unknown)
        .orElse(true);
  }

  private static Optional<Condition> condition(NodeVerdict node, String type) {
    return node.conditions().stream().filter(c -> c.type.equals(type)).findFirst();
  }

  private static String sample(List<String> names) {
    var shown = String.join(", ", names.subList(0, Math.min(5, names.size())));
    return names.size() > 5 ? shown + " and " + (names.size() - 5) + " more" : shown;
  }
}
