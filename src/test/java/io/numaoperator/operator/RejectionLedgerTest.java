package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.numaoperator.explain.Rejection;
import io.numaoperator.operator.RejectionLedger.Rejected;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RejectionLedgerTest {
  private final RejectionLedger ledger = new RejectionLedger();

  private static Pod pod(String name, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("train")
        .withName(name)
        .withUid(name)
        .withResourceVersion("7")
        .withCreationTimestamp("2026-01-01T00:00:00Z")
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .endSpec()
        .withNewStatus()
        .withPhase("Failed")
        .withReason("TopologyAffinityError")
        .endStatus()
        .build();
  }

  private List<String> takeIn() {
    return ledger.takeIn("ours"::equals).stream().map(Rejection::pod).toList();
  }

  @Test
  void newOnesOfOurNodesAreTold() {
    ledger.tell(pod("a", "ours"), true);
    ledger.tell(pod("b", "ours"), false);
    ledger.tell(pod("c", "theirs"), true);
    assertThat(takeIn()).containsExactly("train/a");
    assertThat(takeIn()).isEmpty();
    assertThat(ledger.pods()).extracting(p -> p.rejection().uid()).containsOnly("a", "b");
  }

  /** Kept as one that is there, it would be one of the newest that cleaning up leaves. */
  @Test
  void aPodThatIsGoneBeforeItIsTakenInIsGone() {
    ledger.tell(pod("a", "ours"), true);
    ledger.tellGone("a");
    takeIn();
    assertThat(ledger.pods()).extracting(Rejected::gone).containsExactly(true);
  }

  @Test
  void aPodOnItsWayOutIsGone() {
    var pod = pod("a", "ours");
    pod.getMetadata().setDeletionTimestamp("2026-01-01T00:00:01Z");
    ledger.tell(pod, true);
    takeIn();
    assertThat(ledger.pods()).extracting(Rejected::gone).containsExactly(true);
  }

  @Test
  void whatIsGoneIsForgottenWhenItCountsForNoLoop() {
    ledger.tell(pod("a", "ours"), true);
    takeIn();
    ledger.forget(Instant.parse("2026-01-02T00:00:00Z"));
    assertThat(ledger.pods()).hasSize(1);
    ledger.tellGone("a");
    takeIn();
    ledger.forget(Instant.parse("2026-01-01T00:00:01Z"));
    assertThat(ledger.pods()).hasSize(1);
    ledger.forget(Instant.parse("2026-01-02T00:00:00Z"));
    assertThat(ledger.pods()).isEmpty();
  }
}
