package io.numaoperator.readiness;

import static io.numaoperator.readiness.Chain.when;
import static io.numaoperator.readiness.Waiting.listed;

import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Wait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The conditions of one node. */
public final class NodeReadiness {
  public static final String KUBELET = "KubeletConfigured";
  public static final String DEVICES = "DevicesReporting";
  public static final String TOPOLOGY = "TopologyPublished";
  public static final String SCHEDULER = "SchedulerAware";
  public static final String ALIGNMENT = "AlignmentReady";

  private static final Chain<NodeEvidence> KUBELET_CHAIN =
      Chain.of(
          List.of(
              NodeReadiness::inventoryIsAwaited,
              NodeReadiness::agentIsSilent,
              NodeReadiness::changeIsUnderWay,
              NodeReadiness::kubeletStayedDown,
              NodeReadiness::kubeletIsDown,
              NodeReadiness::settingsAreAwaited,
              NodeReadiness::planIsRefused,
              NodeReadiness::changeWasRolledBack,
              NodeReadiness::othersDeliver,
              NodeReadiness::settingsDiffer,
              NodeReadiness::stateFilesDisagree,
              NodeReadiness::nodeIsNotReady),
          e ->
              Verdict.yes(
                  "Configured",
                  "the running kubelet says that it is as wanted ("
                      + e.observed().effective.settings.topologyManagerPolicy
                      + ", scope "
                      + e.observed().effective.settings.topologyManagerScope
                      + "), and so do its state files"
                      + notProven(e)
                      + nextVersion(e)));

  private NodeReadiness() {}

  /** All conditions, by type, in the order of the chain that they form. */
  public static Map<String, Verdict> judge(NodeEvidence evidence) {
    var verdicts = new LinkedHashMap<String, Verdict>();
    verdicts.put(KUBELET, KUBELET_CHAIN.judge(evidence));
    verdicts.put(DEVICES, DeviceChecks.CHAIN.judge(evidence));
    verdicts.put(TOPOLOGY, TopologyLink.judge(evidence));
    verdicts.put(SCHEDULER, SchedulerLink.judge(evidence));
    verdicts.put(ALIGNMENT, alignment(evidence, verdicts));
    return verdicts;
  }

  // ---- the kubelet

  static Optional<Verdict> inventoryIsAwaited(NodeEvidence e) {
    return when(
        e.observed().inventory == null || e.observed().inventory.kubelet == null,
        () ->
            Verdict.unknown(
                "AwaitingInventory",
                e.agent() instanceof Agent.Silent(var reason, var why)
                    ? "the node's agent has not reported yet: " + why
                    : "the node's agent has not reported its inventory yet" + agentError(e)));
  }

  private static Optional<Verdict> settingsAreAwaited(NodeEvidence e) {
    return when(
        e.plan() instanceof Plan.Awaited,
        () ->
            Verdict.unknown(
                "AwaitingSettings",
                "the running kubelet has not said yet what it is set to" + agentError(e)));
  }

  static Optional<Verdict> agentIsSilent(NodeEvidence e) {
    return e.agent() instanceof Agent.Silent(var reason, var why)
        ? Optional.of(
            Verdict.unknown(reason, "what is known about this node may be out of date: " + why))
        : Optional.empty();
  }

  private static Optional<Verdict> changeIsUnderWay(NodeEvidence e) {
    return when(
        e.progress().underChange() || e.progress().granted(),
        () ->
            Verdict.no(
                "Updating",
                "attempt "
                    + e.progress().grant().map(g -> g.attempt()).orElse(0L)
                    + (e.progress().underChange()
                        ? ": " + e.observed().attempt.step
                        : " is granted to the agent")));
  }

  private static Optional<Verdict> kubeletStayedDown(NodeEvidence e) {
    return when(
        e.observed().attempt != null
            && e.observed().attempt.result == Result.RollbackFailed
            && !e.node().ready(),
        () ->
            Verdict.no(
                "RollbackFailed",
                "the kubelet did not come back after attempt "
                    + e.observed().attempt.number
                    + "; the node stays cordoned. Kubelet: "
                    + error(e)));
  }

  private static Optional<Verdict> planIsRefused(NodeEvidence e) {
    return e.plan() instanceof Plan.Refused(var reason, var message)
        ? Optional.of(Verdict.no(reason, message))
        : Optional.empty();
  }

  private static Optional<Verdict> changeWasRolledBack(NodeEvidence e) {
    return when(
        e.progress().kubeletFailed(),
        () ->
            Verdict.no(
                "RolledBack",
                "attempt "
                    + e.observed().attempt.number
                    + " failed and the node is as before; "
                    + e.progress()
                        .drain()
                        .givenUp()
                        .map(again -> "it is tried again at " + again.notBefore())
                        .orElse("it is not tried again until the policy changes")
                    + ". Kubelet: "
                    + error(e)));
  }

  private static Optional<Verdict> othersDeliver(NodeEvidence e) {
    return e.plan() instanceof Plan.Elsewhere(var differences, var reason, var message)
        ? when(
            !differences.isEmpty(),
            () -> Verdict.no(reason, message + "; to change: " + listed(differences)))
        : Optional.empty();
  }

  private static Optional<Verdict> settingsDiffer(NodeEvidence e) {
    if (!(e.plan() instanceof Plan.Ready ready) || ready.differences().isEmpty()) {
      return Optional.empty();
    }
    var what = listed(ready.differences());
    if (e.policy().mode == Mode.Observe) {
      return Optional.of(
          Verdict.no("Differs", "mode Observe changes nothing; Enforce would change " + what));
    }
    if (e.progress().skipped()) {
      return Optional.of(
          Verdict.no("Skipped", "left alone as its annotation asks; it differs in " + what));
    }
    if (e.paused()) {
      return Optional.of(Verdict.no("Paused", "the policy is paused; it differs in " + what));
    }
    if (e.progress().target() instanceof Target.Unapproved(var plan)) {
      return Optional.of(
          Verdict.no(
              "WaitingForApproval",
              "its plan is not the approved one; look at status.plan, and to approve the policy's"
                  + " plan as it is now, set its spec.approvedPlan to "
                  + plan
                  + ". To change: "
                  + what));
    }
    if (e.agent() instanceof Agent.Outdated(var why)) {
      return Optional.of(Verdict.no("AgentOutdated", why + "; to change: " + what));
    }
    if (e.progress().heldBack().isPresent()) {
      return Optional.of(
          Verdict.no(
              "WaitingForScheduler", e.progress().heldBack().get() + "; to change: " + what));
    }
    return Optional.of(
        switch (e.progress().cordon()) {
          case Cordon.Ours ours -> Waiting.cordoned(ours.attempt(), e.waitsFor());
          case Cordon.Foreign foreign ->
              Verdict.no(
                  "CordonedByOthers",
                  "somebody else cordoned the node; it is changed when they uncordon it");
          case Cordon.None none when isRetried(e) ->
              Verdict.no(
                  "GrantRefused", Waiting.again(e.waitsFor()) + "; the agent said: " + error(e));
          case Cordon.None none when ready.drifted() ->
              Verdict.no(
                  "Drifted",
                  "somebody undid what was applied; healed in its turn: "
                      + Waiting.inService(e.waitsFor(), what).message());
          case Cordon.None none -> Waiting.inService(e.waitsFor(), what);
        });
  }

  private static boolean isRetried(NodeEvidence e) {
    return e.observed().attempt != null
        && e.observed().attempt.result == Result.Refused
        && e.waitsFor()
            .map(
                wait ->
                    wait instanceof Wait.Retry
                        || (wait instanceof Wait.Backoff(var givenUp) && givenUp.refused()))
            .orElse(true);
  }

  private static Optional<Verdict> stateFilesDisagree(NodeEvidence e) {
    var files = Optional.ofNullable(e.observed().stateFiles);
    var wantCpu = e.policy().kubelet.cpuManager.policy == StaticOrNone.Static ? "static" : "none";
    var wantMemory =
        e.policy().kubelet.memoryManager.policy == StaticOrNone.Static ? "Static" : "None";
    var cpu = files.map(f -> f.cpuPolicy).orElse("absent");
    var memory = files.map(f -> f.memoryPolicy).orElse("absent");
    return when(
        !cpu.toLowerCase(Locale.ROOT).equals(wantCpu) || !memory.equalsIgnoreCase(wantMemory),
        () ->
            Verdict.no(
                "StateFilesDisagree",
                "the kubelet's state files say CPU "
                    + cpu
                    + " and memory "
                    + memory
                    + " where "
                    + wantCpu
                    + " and "
                    + wantMemory
                    + " are wanted"));
  }

  private static String notProven(NodeEvidence e) {
    var attempt = e.observed().attempt;
    return attempt != null && attempt.proof == ProofVerdict.NotProven
        ? "; not shown by proof pods: " + attempt.proofMessage
        : "";
  }

  private static Optional<Verdict> kubeletIsDown(NodeEvidence e) {
    return when(
        e.observed().inventory.kubelet.pid == null,
        () -> Verdict.no("KubeletDown", "the kubelet is not running on the node"));
  }

  private static Optional<Verdict> nodeIsNotReady(NodeEvidence e) {
    return when(
        !e.node().ready(),
        () -> Verdict.no("NodeNotReady", "the Node's Ready condition is not True"));
  }

  /**
   * A pod that the kubelet admits here will be aligned, and it can be sent here with open eyes.
   * With {@code scheduler: None} the owner accepted that the scheduler is blind, so it is not
   * demanded.
   */
  private static Verdict alignment(NodeEvidence e, Map<String, Verdict> parts) {
    return parts.entrySet().stream()
        .filter(part -> !part.getValue().isTrue())
        .filter(
            part ->
                !part.getKey().equals(SCHEDULER) || !(e.scheduler() instanceof Scheduler.NotWanted))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseGet(
            () -> Verdict.yes("Aligned", "a pod that this node admits is aligned by its kubelet"));
  }

  // ---- words

  private static String nextVersion(NodeEvidence e) {
    return e.plan() instanceof Plan.Ready ready
        ? ready.nextVersion().map(warning -> "; before an upgrade: " + warning).orElse("")
        : "";
  }

  private static String error(NodeEvidence e) {
    return Objects.requireNonNullElse(e.observed().attempt.error, "no error line was found");
  }

  private static String agentError(NodeEvidence e) {
    return e.observed().agentError == null ? "" : ": " + e.observed().agentError;
  }
}
