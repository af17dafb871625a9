package io.numaoperator.readiness;

import io.numaoperator.readiness.NodeEvidence.Scheduler;

/** Whether pods are sent to a node by a scheduler that sees its zones. */
final class SchedulerLink {
  private SchedulerLink() {}

  static Verdict judge(NodeEvidence e) {
    return switch (e.scheduler()) {
      case Scheduler.NotWanted notWanted ->
          Verdict.unknown(
              "NoScheduler",
              "the policy has no NUMA-aware scheduler: its owner accepts that pods can be bound"
                  + " here and then be rejected with TopologyAffinityError");
      case Scheduler.NotJudged(var why) -> Verdict.unknown("NotJudged", why);
      case Scheduler.Assumed(var scheduler) ->
          Verdict.yes(
              "AssumedAware",
              "scheduler "
                  + scheduler
                  + " looks at its pods; that it sees this node's zones is its owner's word"
                  + " (scheduler.external.assumeAware), not something that was seen");
      case Scheduler.Down(var why) -> Verdict.no("SchedulerDown", why);
      case Scheduler.Unaware(var why) -> Verdict.no("NotSeen", why);
      case Scheduler.Aware(var foreign) ->
          Verdict.yes(
              "Aware",
              "the scheduler places pods by this node's NodeResourceTopology" + told(foreign));
    };
  }

  private static String told(int foreignPods) {
    return foreignPods == 0
        ? ""
        : "; "
            + foreignPods
            + " pods with devices were bound here by another scheduler, which may send more than"
            + " fit: set their spec.schedulerName";
  }
}
