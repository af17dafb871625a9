package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.rollout.Proof.Held;
import io.numaoperator.rollout.Proof.Next;
import io.numaoperator.rollout.Proof.Noted;
import io.numaoperator.rollout.Proof.Seen;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProofTest {
  private static final Instant NOW = TestNode.NOW;
  private static final Optional<String> GPU = Optional.of("nvidia.com/gpu");
  private static final List<Ask> ASKS =
      List.of(new Ask("ns/p-0", 6, GPU), new Ask("ns/p-1", 6, GPU));

  private boolean proving = true;
  private Optional<Noted> noted = Optional.of(new Noted(NOW, ASKS, Optional.empty()));
  private Optional<ProofPlan> plan = Optional.of(new ProofPlan.Pods(ASKS));
  private final List<Seen> pods = new ArrayList<>();
  private final Map<String, Held> held = new HashMap<>();
  private List<String> others = List.of();
  private List<String> arriving = List.of();
  private Optional<String> refused = Optional.empty();
  private boolean agentAlive = true;
  private Optional<String> withdrawn = Optional.empty();

  // ---- the way to Passed

  @Test
  void notesThePodsBeforeItMakesThem() {
    noted = Optional.empty();
    assertThat(next()).isEqualTo(new Next.Note(ASKS));
  }

  @Test
  void makesThoseThatAskForTheSameAtOnce() {
    assertThat(next()).isEqualTo(new Next.Make(ASKS));
  }

  /** After a restart of the operator, whatever the plan would be now. */
  @Test
  void makesWhatWasNotedAndIsMissing() {
    plan = Optional.of(new ProofPlan.NotNeeded("changed meanwhile"));
    running("ns/p-0");
    assertThat(next()).isEqualTo(new Next.Make(List.of(ASKS.getLast())));
  }

  @Test
  void thoseThatAskForLessWaitForTheOthersZones() {
    var asks = List.of(ASKS.getFirst(), new Ask("ns/p-1", 6, Optional.empty()));
    noted = Optional.of(new Noted(NOW, asks, Optional.empty()));
    assertThat(next()).isEqualTo(new Next.Make(List.of(asks.getFirst())));
    running("ns/p-0");
    assertThat(next()).isInstanceOf(Next.Wait.class);
    holds("ns/p-0", 0);
    assertThat(next()).isEqualTo(new Next.Make(List.of(asks.getLast())));
  }

  @Test
  void passesWhenEachHasAZoneOfItsOwn() {
    running("ns/p-0");
    running("ns/p-1");
    holds("ns/p-0", 1);
    assertThat(next()).isEqualTo(new Next.Wait(NOW.plus(Proof.PATIENCE)));
    holds("ns/p-1", 0);
    assertThat(next())
        .isEqualTo(new Next.Judge(ProofVerdict.Passed, "CPUs of zone 0; CPUs of zone 1"));
  }

  /** PodResources tells of CPUs, memory and devices before any image is pulled. */
  @Test
  void passesBeforeAnyContainerRuns() {
    waiting("ns/p-0");
    waiting("ns/p-1");
    holds("ns/p-0", 0);
    holds("ns/p-1", 1);
    assertThat(verdict()).isEqualTo(ProofVerdict.Passed);
  }

  @Test
  void whatIsHeldInPartIsNotJudgedYet() {
    running("ns/p-0");
    running("ns/p-1");
    holds("ns/p-0", 0);
    held.put("ns/p-1", new Held("ns/p-1", false, false, Set.of(), "GPU only"));
    assertThat(next()).isInstanceOf(Next.Wait.class);
  }

  // ---- Failed: evidence against the kubelet

  @ParameterizedTest
  @ValueSource(strings = {"TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError"})
  void failsWhenTheKubeletRefusesOne(String reason) {
    ended("ns/p-0", reason);
    assertThat(next())
        .isEqualTo(
            new Next.Judge(
                ProofVerdict.Failed,
                "the kubelet refused proof pod ns/p-0 (6 CPUs, 1 nvidia.com/gpu): "
                    + reason
                    + ": its words"));
  }

  @Test
  void failsWhenOneIsNotAligned() {
    held.put("ns/p-1", new Held("ns/p-1", false, true, Set.of(0), "GPU of zone 1"));
    assertThat(next())
        .isEqualTo(
            new Next.Judge(
                ProofVerdict.Failed,
                "proof pod ns/p-1 (6 CPUs, 1 nvidia.com/gpu) is not aligned: GPU of zone 1"));
  }

  @Test
  void failsWhenTwoAreWhereOnlyOneHasRoom() {
    holds("ns/p-0", 0);
    holds("ns/p-1", 0);
    assertThat(verdict()).isEqualTo(ProofVerdict.Failed);
  }

  @Test
  void failsWhenARunningPodWasGivenNothing() {
    running("ns/p-0");
    running("ns/p-1");
    assertThat(next(Proof.PATIENCE.toSeconds() - 1)).isInstanceOf(Next.Wait.class);
    assertThat(next(Proof.PATIENCE.toSeconds()))
        .isInstanceOfSatisfying(
            Next.Judge.class, judge -> assertThat(judge.verdict()).isEqualTo(ProofVerdict.Failed));
  }

  // ---- NotProven: nothing is held against the kubelet

  @ParameterizedTest
  @CsvSource({"OutOfcpu", "OutOfpods", "NodeAffinity", "DeadlineExceeded", "Evicted", "Preempting"})
  void whatHasOtherReasonsIsNotHeldAgainstTheKubelet(String reason) {
    ended("ns/p-0", reason);
    assertThat(verdict()).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void aFailureWithOtherPodsInTheWayIsNone() {
    ended("ns/p-0", "TopologyAffinityError");
    others = List.of("train/llm");
    assertThat(next())
        .isInstanceOfSatisfying(
            Next.Judge.class,
            judge -> {
              assertThat(judge.verdict()).isEqualTo(ProofVerdict.NotProven);
              assertThat(judge.message()).contains("train/llm", "TopologyAffinityError");
            });
    others = List.of();
    arriving = List.of("kube-system/cni");
    assertThat(verdict()).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void otherPodsDoNotKeepItFromBeingTried() {
    noted = Optional.empty();
    others = List.of("monitoring/exporter");
    assertThat(next()).isEqualTo(new Next.Note(ASKS));
  }

  @Test
  void podsThatAWebhookChangedProveNothing() {
    pods.add(new Seen("ns/p-0", Seen.Phase.Ended, "TopologyAffinityError", "x", false, false));
    // the kubelet was asked for something else
    assertThat(verdict()).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void noAnswerIsNoFailure() {
    waiting("ns/p-0");
    waiting("ns/p-1");
    assertThat(verdict(Proof.PATIENCE.toSeconds())).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void aSilentAgentIsNoFailure() {
    running("ns/p-0");
    running("ns/p-1");
    agentAlive = false;
    assertThat(verdict(Proof.PATIENCE.toSeconds())).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void whatTheApiServerDoesNotTakeIsTold() {
    refused = Optional.of("exceeded quota");
    assertThat(next()).isEqualTo(new Next.Make(ASKS)); // again
    assertThat(next(Proof.PATIENCE.toSeconds()))
        .isInstanceOfSatisfying(
            Next.Judge.class,
            judge -> {
              assertThat(judge.verdict()).isEqualTo(ProofVerdict.NotProven);
              assertThat(judge.message()).contains("exceeded quota");
            });
  }

  @Test
  void settingsThatAreNotToldAreWaitedFor() {
    noted = Optional.empty();
    plan = Optional.empty();
    assertThat(next()).isInstanceOf(Next.Wait.class);
    assertThat(verdict(Proof.PATIENCE.toSeconds())).isEqualTo(ProofVerdict.NotProven);
  }

  // ---- the end

  @Test
  void isNotNeededWhereNothingIsAligned() {
    noted = Optional.empty();
    plan = Optional.of(new ProofPlan.NotNeeded("no"));
    assertThat(next()).isEqualTo(new Next.Judge(ProofVerdict.NotNeeded, "no"));
  }

  @Test
  void isNotBegunWhenNobodyWantsItAnyMore() {
    noted = Optional.empty();
    withdrawn = Optional.of("no policy has the node any more");
    assertThat(verdict()).isEqualTo(ProofVerdict.NotNeeded);
  }

  @Test
  void endsWhenNobodyWantsItAnyMore() {
    withdrawn = Optional.of("no policy has the node any more");
    assertThat(verdict()).isEqualTo(ProofVerdict.NotProven);
  }

  @Test
  void removesThePodsAfterTheVerdictAndWhenTheAttemptIsOver() {
    running("ns/p-0");
    pods.add(new Seen("ns/p-1", Seen.Phase.Running, "", "", true, true));
    noted = Optional.of(new Noted(NOW, ASKS, Optional.of(ProofVerdict.Passed)));
    assertThat(next()).isEqualTo(new Next.Remove(List.of("ns/p-0")));
    noted = Optional.empty();
    proving = false;
    assertThat(next()).isEqualTo(new Next.Remove(List.of("ns/p-0")));
    pods.removeFirst();
    assertThat(next()).isEqualTo(new Next.Nothing());
  }

  @Test
  void podsOfAFormerAttemptGoFirst() {
    noted = Optional.empty();
    running("ns/old-0");
    assertThat(next()).isEqualTo(new Next.Remove(List.of("ns/old-0")));
  }

  // ---- making things

  private void running(String name) {
    pods.add(new Seen(name, Seen.Phase.Running, "", "", true, false));
  }

  private void waiting(String name) {
    pods.add(new Seen(name, Seen.Phase.Waiting, "", "", true, false));
  }

  private void ended(String name, String reason) {
    pods.add(new Seen(name, Seen.Phase.Ended, reason, "its words", true, false));
  }

  private void holds(String name, int zone) {
    held.put(name, new Held(name, true, true, Set.of(zone), "CPUs of zone " + zone));
  }

  private ProofVerdict verdict() {
    return verdict(0);
  }

  private ProofVerdict verdict(long seconds) {
    return ((Next.Judge) next(seconds)).verdict();
  }

  private Next next() {
    return next(0);
  }

  private Next next(long seconds) {
    return Proof.next(
        new Proof.View(
            proving,
            noted,
            () -> plan,
            pods,
            held,
            others,
            arriving,
            refused,
            agentAlive,
            withdrawn,
            NOW),
        NOW.plusSeconds(seconds));
  }
}
