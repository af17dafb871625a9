package io.numaoperator.preflight;

import static io.numaoperator.kubelet.Fragments.fragment;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
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

  private void mainFile() {
    seen.effective.source = Source.Files;
    seen.inventory = new Inventory();
    seen.inventory.kubelet = new KubeletFacts();
    seen.inventory.kubelet.version = "v1.31.4";
    seen.inventory.kubelet.configFile = "/var/lib/kubelet/config.yaml";
  }

  @Test
  void aMainFileThatItsOwnerWroteAnewIsDrift() {
    applied();
    mainFile();
    assertThat(Divergence.of(PLAN, seen).messages()).isEmpty();
    seen.dropInHash = null;
    assertThat(Divergence.of(PLAN, seen).drifted()).isTrue();
    assertThat(Divergence.of(PLAN, seen).messages().getFirst())
        .startsWith("what was put into the kubelet's main file was removed");
  }

  /** Else its plan would never be done, and a restoration would never end. */
  @Test
  void aKubeletThatIsJudgedByItsFilesIsNotExpectedToShowWhatItCounts() {
    mainFile();
    var own = fragment("{reservedSystemCPUs: '0', systemReserved: {memory: 1Gi}}");
    seen.baseline = own;
    seen.effective.settings = own;
    assertThat(Divergence.fromOwn(seen).messages()).isEmpty();
    var plan = new Planned(fragment("{reservedSystemCPUs: '0,4'}"), "wanted", List.of());
    assertThat(Divergence.changes(plan, seen))
        .extracting(c -> c.field())
        .containsExactly("reservedSystemCPUs");
    seen.effective.settings = OwnSettings.written(own, plan.fragment());
    assertThat(Divergence.changes(plan, seen)).isEmpty();
    seen.effective.source = Source.Configz;
    assertThat(Divergence.changes(plan, seen)).as("it shows what it counts").isNotEmpty();
  }

  @Test
  void anEditOfTheMainFileAndADropInOfTheUnitAreToBeRestored() {
    mainFile();
    seen.dropInHash = "wanted";
    seen.inventory.kubelet.unitDropIn = "/etc/systemd/system/kubelet.service.d/60.conf";
    assertThat(Divergence.fromOwn(seen).messages())
        .containsExactly(
            "what was put into the kubelet's main file is there",
            "/etc/systemd/system/kubelet.service.d/60.conf is there");
  }

  /** Our own file from earlier may be there, or gone: it is no longer us who say what counts. */
  @Test
  void whereOthersDeliverOnlyWhatRunsCounts() {
    applied();
    seen.dropInHash = null;
    assertThat(Divergence.ofRunning(PLAN, seen)).isEqualTo(Divergence.none());
    seen.effective.settings = OWN;
    assertThat(Divergence.ofRunning(PLAN, seen).messages()).hasSize(1);
    assertThat(Divergence.ofRunning(PLAN, seen).drifted()).isFalse();
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
