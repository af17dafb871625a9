package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.explain.Loop;
import io.numaoperator.explain.Owner;
import io.numaoperator.explain.Rejection;
import io.numaoperator.plan.Policies;
import io.numaoperator.topology.fit.PodRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a policy says of rejected pods. */
class PolicySummaryTest {
  private final NumaPolicy policy = Policies.policy("gpu", 1);

  private Optional<NumaPolicyStatus> status(Optional<List<ExplainedLoop>> loops) {
    var next = new PolicySummary(policy, List.of()).status(List.of(), Map.of(), nodes -> loops);
    next.ifPresent(policy::setStatus);
    return next;
  }

  private static ExplainedLoop loop(String name, String cause) {
    var owner = new Owner("train", new OwnerReference(), "Job", name);
    var newest =
        new Rejection(
            "train/x",
            "u",
            "gpu-1",
            "TopologyAffinityError",
            "no",
            Instant.EPOCH,
            new PodRequest(true, false, List.of()),
            "default-scheduler",
            Optional.of(owner));
    return new ExplainedLoop(new Loop(owner, Instant.EPOCH, 7, Set.of("gpu-1"), newest), cause);
  }

  private Condition admitted() {
    return policy.getStatus().conditions.stream()
        .filter(c -> c.type.equals("PodsAdmitted"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void loopsAreToldWithTheirCause() {
    var many = new ArrayList<ExplainedLoop>();
    for (int i = 0; i < 20; i++) {
      many.add(loop("job-" + i, "needs 4 and has 2".repeat(100)));
    }
    var status = status(Optional.of(many)).orElseThrow();
    assertThat(status.rejectionLoops).hasSize(16);
    assertThat(status.rejectionLoopsLeftOut).isEqualTo(4);
    assertThat(status.rejectionLoops.getFirst().owner).isEqualTo("Job train/job-0");
    assertThat(status.rejectionLoops.getFirst().pods).isEqualTo(5);
    assertThat(status.rejectionLoops.getFirst().cause).hasSize(1024);
    assertThat(admitted().reason).isEqualTo("RejectionLoop");
  }

  /** A new leader has not looked yet: a condition that flaps would be two writes for nothing. */
  @Test
  void whatWasSaidStaysUntilThereIsSomethingNewToSay() {
    status(Optional.empty());
    assertThat(admitted().status).isEqualTo(Condition.Status.Unknown);
    status(Optional.of(List.of(loop("a", "needs 4"))));
    assertThat(status(Optional.empty())).isEmpty();
    assertThat(admitted().status).isEqualTo(Condition.Status.False);
    assertThat(policy.getStatus().rejectionLoops).hasSize(1);
    status(Optional.of(List.of()));
    assertThat(admitted().status).isEqualTo(Condition.Status.True);
    assertThat(policy.getStatus().rejectionLoops).isEmpty();
    assertThat(status(Optional.empty())).isEmpty();
  }
}
