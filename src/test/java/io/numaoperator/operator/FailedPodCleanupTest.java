package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.numaoperator.explain.Owner;
import io.numaoperator.explain.Rejection;
import io.numaoperator.operator.RejectionLedger.Rejected;
import io.numaoperator.topology.fit.PodRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FailedPodCleanupTest {
  private static Rejected pod(String name, Optional<String> owner, String node, boolean gone) {
    int second = Integer.parseInt(name.substring(1));
    return new Rejected(
        new Rejection(
            "train/" + name,
            name,
            node,
            "TopologyAffinityError",
            "",
            Instant.ofEpochSecond(second),
            new PodRequest(true, false, List.of()),
            "default-scheduler",
            owner.map(o -> new Owner("train", new OwnerReference(), "Job", o))),
        "1",
        gone);
  }

  private static List<String> surplus(List<Rejected> pods) {
    return FailedPodCleanup.surplus(pods, "ours"::equals).stream()
        .map(pod -> pod.rejection().pod())
        .toList();
  }

  @Test
  void theNewestThreeOfEachOwnerStay() {
    var pods = new ArrayList<Rejected>();
    for (int i = 1; i <= 5; i++) {
      pods.add(pod("a" + i, Optional.of("a"), "ours", false));
      pods.add(pod("x" + i, Optional.of("x"), "theirs", false));
      pods.add(pod("n" + i, Optional.empty(), "ours", false));
    }
    pods.add(pod("b1", Optional.of("b"), "ours", false));
    assertThat(surplus(pods)).containsExactly("train/a1", "train/a2");
  }

  @Test
  void whatIsGoneIsNeitherDeletedAgainNorKeptForTheOthers() {
    var pods = new ArrayList<Rejected>();
    for (int i = 1; i <= 5; i++) {
      pods.add(pod("a" + i, Optional.of("a"), "ours", i > 3));
    }
    assertThat(surplus(pods)).isEmpty();
  }
}
