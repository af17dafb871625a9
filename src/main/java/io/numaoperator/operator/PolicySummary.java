package io.numaoperator.operator;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.api.NumaPolicyStatus.RejectionLoop;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.readiness.Admissions;
import io.numaoperator.readiness.Conditions;
import io.numaoperator.readiness.PolicyReadiness;
import io.numaoperator.readiness.PolicyReadiness.NodeVerdict;
import io.numaoperator.readiness.PolicyReadiness.PolicyEvidence;
import io.numaoperator.readiness.Verdict;
import io.numaoperator.rollout.NodeProgress.Cordon;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The status of a policy, from its nodes. They are judged here and now: the conditions in their
 * objects may still be of the policy's former spec, and would say Ready when it is not.
 */
record PolicySummary(NumaPolicy policy, List<NodeAssessment> assessments) {
  private static final int LOOPS_TOLD = 16;

  /** The new status, if it says anything else than the old one. */
  Optional<NumaPolicyStatus> status(
      List<String> conflicts,
      Map<String, Verdict> problems,
      Function<Set<String>, Optional<List<ExplainedLoop>>> loopsOn) {
    var evidence =
        new PolicyEvidence(
            verdicts(), conflicts, problems, isStopped(), Restoration.isUnderWay(policy));
    var loops =
        loopsOn.apply(assessments.stream().map(NodeAssessment::name).collect(Collectors.toSet()));
    var verdicts = PolicyReadiness.judge(evidence);
    verdicts.put(Admissions.ADMITTED, admissions(loops));
    var status = new NumaPolicyStatus();
    status.observedGeneration = policy.getMetadata().getGeneration();
    status.conditions =
        Conditions.update(
            oldConditions(), verdicts, policy.getMetadata().getGeneration(), Instant.now());
    status.nodes = PolicyReadiness.count(evidence);
    int foreign = assessments.stream().mapToInt(NodeAssessment::foreignPods).sum();
    status.foreignPods = foreign == 0 ? null : foreign;
    status.notReady = PolicyReadiness.notReady(evidence);
    status.notReadyLeftOut = status.nodes.matched - status.nodes.ready - status.notReady.size();
    loops.ifPresentOrElse(known -> tell(known, status), () -> keepLoops(status));
    var plans = plans(assessments);
    status.plan = PlanReport.ofAll(plans).orElse(null);
    status.approved = Approvals.wire(Approvals.of(policy, plans.values())).orElse(null);
    return Json.same(status, policy.getStatus()) ? Optional.empty() : Optional.of(status);
  }

  /** Until rejected pods are looked at, after a restart say, what was said of them stays. */
  private Verdict admissions(Optional<List<ExplainedLoop>> loops) {
    return oldConditions().stream()
        .filter(c -> loops.isEmpty() && c.type.equals(Admissions.ADMITTED))
        .map(c -> new Verdict(c.status, c.reason, c.message))
        .findFirst()
        .orElseGet(() -> Admissions.judge(loops));
  }

  private void keepLoops(NumaPolicyStatus status) {
    Optional.ofNullable(policy.getStatus())
        .ifPresent(
            old -> {
              status.rejectionLoops = old.rejectionLoops;
              status.rejectionLoopsLeftOut = old.rejectionLoopsLeftOut;
            });
  }

  private static void tell(List<ExplainedLoop> loops, NumaPolicyStatus status) {
    status.rejectionLoops = loops.stream().limit(LOOPS_TOLD).map(PolicySummary::loop).toList();
    status.rejectionLoopsLeftOut = loops.size() > LOOPS_TOLD ? loops.size() - LOOPS_TOLD : null;
  }

  private static RejectionLoop loop(ExplainedLoop explained) {
    var loop = new RejectionLoop();
    loop.owner = explained.loop().name();
    loop.pods = explained.loop().podsTold();
    loop.nodes = explained.loop().nodes().stream().limit(LOOPS_TOLD).toList();
    loop.since = explained.loop().since().toString();
    loop.cause = explained.cause().substring(0, Math.min(1024, explained.cause().length()));
    return loop;
  }

  /** Node → hash of its plan. */
  static Map<String, String> plans(List<NodeAssessment> nodes) {
    var plans = new TreeMap<String, String>();
    for (var node : nodes) {
      node.standing()
          .hash()
          .ifPresent(hash -> plans.put(node.node().getMetadata().getName(), hash));
    }
    return plans;
  }

  private List<NodeVerdict> verdicts() {
    return assessments.stream()
        .map(
            assessment -> {
              var node = assessment.progress();
              return new NodeVerdict(
                  node.name(),
                  assessment.conditions(Instant.now()),
                  node.underChange() || node.cordon() instanceof Cordon.Ours,
                  node.failed());
            })
        .toList();
  }

  private boolean isStopped() {
    return policy.getSpec().rollout.pauseOnFailure
        && assessments.stream().anyMatch(a -> a.progress().failed());
  }

  private List<Condition> oldConditions() {
    return Optional.ofNullable(policy.getStatus()).map(s -> s.conditions).orElse(List.of());
  }
}
