package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.numaoperator.api.Condition.Status;
import io.numaoperator.explain.ExplainedLoop;
import io.numaoperator.explain.Loop;
import io.numaoperator.explain.Owner;
import io.numaoperator.explain.Rejection;
import io.numaoperator.topology.fit.PodRequest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AdmissionsTest {
  private static ExplainedLoop loop(String name) {
    var owner = new Owner("train", new OwnerReference(), "Job", name);
    var newest =
        new Rejection(
            "train/x",
            "u",
            "gpu-1",
            "OutOfcpu",
            "no",
            Instant.EPOCH,
            new PodRequest(true, false, List.of()),
            "default-scheduler",
            Optional.of(owner));
    return new ExplainedLoop(
        new Loop(owner, Instant.EPOCH, 4, Set.of("gpu-1"), newest), "needs 4 and has 2");
  }

  @Test
  void aLoopIsSaidWithItsCause() {
    assertThat(Admissions.judge(Optional.empty()).status()).isEqualTo(Status.Unknown);
    assertThat(Admissions.judge(Optional.of(List.of())).status()).isEqualTo(Status.True);
    var verdict = Admissions.judge(Optional.of(List.of(loop("a"), loop("b"))));
    assertThat(verdict.status()).isEqualTo(Status.False);
    assertThat(verdict.message())
        .isEqualTo(
            "Job train/a: at least 3 pods rejected within 10 minutes by gpu-1; the last: needs 4"
                + " and has 2; and 1 more owners, see status.rejectionLoops");
  }
}
