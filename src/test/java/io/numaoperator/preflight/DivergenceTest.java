package io.numaoperator.preflight;

import static io.numaoperator.kubelet.Fragments.fragment;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import java.util.List;
import org.junit.jupiter.api.Test;

class DivergenceTest {
  private static final KubeletFragment OWN =
      fragment(
          "{cpuManagerPolicy: none, topologyManagerPolicy: none, systemReserved: {memory: 1Gi}}");
  private static final Planned PLAN =
      new Planned(fragment("topologyManagerPolicy: restricted"), "wanted", List.of());

  private final NumaNodeStateStatus seen = new NumaNodeStateStatus();

  DivergenceTest() {
    seen.effective = new EffectiveKubelet();
    seen.effective.settings = OWN;
    seen.baseline = OWN;
  }

  private void applied() {
    seen.effective.settings = OwnSettings.with(OWN, PLAN.fragment());
    seen.dropInHash = "wanted";
    seen.attempt = new Attempt();
    seen.attempt.number = 1L;
    seen.attempt.hash = "wanted";
    seen.attempt.result = Result.Succeeded;
  }

  @Test
  void aNodeThatWasNeverChangedHasNotDrifted() {
    assertThat(Divergence.of(PLAN, seen).messages())
        .containsExactly("topologyManagerPolicy is none, wanted restricted");
    assertThat(Divergence.of(PLAN, seen).drifted()).isFalse();
  }

  /** Its own configuration says the same: it is never touched. */
  @Test
  void aNodeThatIsRightByItselfNeedsNoFile() {
    seen.effective.settings = OwnSettings.with(OWN, PLAN.fragment());
    seen.baseline = seen.effective.settings;
    assertThat(Divergence.of(PLAN, seen).messages()).isEmpty();
  }

  @Test
  void whatWasAppliedAndStaysIsWell() {
    applied();
    assertThat(Divergence.of(PLAN, seen).messages()).isEmpty();
    assertThat(Divergence.of(PLAN, seen).drifted()).isFalse();
  }

  /** The running kubelet does not show it yet; its next start will. */
  @Test
  void aFileThatWasChangedOrRemovedIsDriftThoughTheKubeletRunsOn() {
    applied();
    seen.dropInHash = "edited";
    assertThat(Divergence.of(PLAN, seen).drifted()).isTrue();
    assertThat(Divergence.of(PLAN, seen).messages().getFirst()).contains("was changed");
    seen.dropInHash = null;
    assertThat(Divergence.of(PLAN, seen).drifted()).isTrue();
    assertThat(Divergence.of(PLAN, seen).messages().getFirst()).contains("was removed");
  }

  @Test
  void aKubeletThatRunsOtherwiseAgainHasDrifted() {
    applied();
    seen.effective.settings = OWN;
    assertThat(Divergence.of(PLAN, seen).drifted()).isTrue();
  }

  @Test
  void aRolledBackAttemptIsNoDrift() {
    applied();
    seen.effective.settings = OWN;
    seen.attempt.result = Result.RolledBack;
    assertThat(Divergence.of(PLAN, seen).drifted()).isFalse();
  }

  /** An earlier policy asked for more; what it set is given back. */
  @Test
  void whatAnEarlierDropInSetIsGivenBack() {
    applied();
    var former = fragment("{topologyManagerPolicy: restricted, systemReserved: {memory: 8Gi}}");
    seen.effective.settings = OwnSettings.with(OWN, former);
    seen.dropInHash = "former";
    seen.attempt.hash = "former";
    assertThat(Divergence.of(PLAN, seen).messages())
        .containsExactly(
            "systemReserved[memory] is 8Gi, and is no longer wanted: the node's own is 1Gi");
    assertThat(Divergence.of(PLAN, seen).drifted()).isFalse();
    assertThat(Divergence.changes(PLAN, seen)).hasSize(1);
  }

  @Test
  void whatIsToBeRestoredIsTheFileAndAllThatItSet() {
    assertThat(Divergence.fromOwn(seen).messages()).isEmpty();
    applied();
    assertThat(Divergence.fromOwn(seen).messages())
        .containsExactly(
            "90-numaoperator.conf is there",
            "topologyManagerPolicy is restricted, and is no longer wanted: the node's own is none");
    seen.dropInHash = null; // removed by hand; the kubelet runs on
    assertThat(Divergence.fromOwn(seen).messages()).hasSize(1);
    seen.effective.settings = OWN;
    assertThat(Divergence.fromOwn(seen).messages()).isEmpty();
  }

  /** Another operator version writes the same settings in other bytes: no reason for a restart. */
  @Test
  void anotherFileOfTheSameMeaningIsNotReplaced() {
    applied();
    seen.dropInHash = "former";
    seen.attempt.hash = "former";
    assertThat(Divergence.of(PLAN, seen).messages()).isEmpty();
  }
}
