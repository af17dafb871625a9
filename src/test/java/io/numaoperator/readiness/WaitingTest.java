package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Wait;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whoever waits is told for what, by name and time. */
class WaitingTest {
  private static final Instant AT = Instant.parse("2026-01-01T22:00:00Z");
  private static final Optional<String> JOB = Optional.of("Job train/llm");

  static Stream<Arguments> inService() {
    return Stream.of(
        Arguments.of(
            new Wait.Turn(2, List.of("gpu-8 (not Ready)", "gpu-9 (cordoned by others)")),
            "Waiting",
            "maxUnavailable 2, which is used up by gpu-8 (not Ready); gpu-9 (cordoned by others);"),
        Arguments.of(
            new Wait.Together("Job train/llm", 3, 4),
            "Waiting",
            "until 3 nodes that run Job train/llm fit into rollout.maxUnavailable 4"),
        Arguments.of(
            new Wait.Stopped(List.of("gpu-1")), "Waiting", "since the change failed on gpu-1;"),
        Arguments.of(
            new Wait.Window(Optional.of(AT)),
            "OutsideWindow",
            "the next maintenance window opens at 2026-01-01T22:00:00Z;"),
        Arguments.of(new Wait.Window(Optional.empty()), "OutsideWindow", "no window opens;"),
        Arguments.of(
            new Wait.Canary(List.of("gpu-1"), Optional.empty()),
            "WaitingForCanary",
            "the canaries come first: gpu-1;"),
        Arguments.of(
            new Wait.Canary(List.of("gpu-1"), Optional.of(AT)),
            "WaitingForCanary",
            "the canaries soak until 2026-01-01T22:00:00Z: gpu-1;"),
        Arguments.of(new Wait.Retry(AT), "Waiting", "made again at 2026-01-01T22:00:00Z;"),
        Arguments.of(
            new Wait.Backoff(new GivenUp(2, AT, "train/llm-0")),
            "DrainGivenUp",
            "(2 times in a row; in the way: train/llm-0); tried again at 2026-01-01T22:00:00Z;"));
  }

  @ParameterizedTest
  @MethodSource
  void inService(Wait wait, String reason, String message) {
    var verdict = Waiting.inService(Optional.of(wait), "everything");
    assertThat(verdict.reason()).isEqualTo(reason);
    assertThat(verdict.message()).contains(message).endsWith("; to change: everything");
  }

  @Test
  void cordonedForPods() {
    var pods = new Wait.Pods(List.of("a/1", "a/2", "a/3", "a/4"), Optional.of(AT), JOB);
    assertThat(Waiting.cordoned(7, Optional.of(pods)).message())
        .isEqualTo(
            "cordoned together with the other nodes that run Job train/llm; waits for pods that hold"
                + " devices or exclusive CPUs to end: a/1; a/2; a/3 and 1 more; goes back into"
                + " service at 2026-01-01T22:00:00Z");
  }

  @Test
  void evictionsAndWhoRefusesThem() {
    var asked =
        new Wait.Evictions(
            List.of("web/shop"),
            Map.of(),
            List.of("kube-system/proxy (of a DaemonSet)"),
            AT,
            Optional.empty());
    var verdict = Waiting.cordoned(7, Optional.of(asked));
    assertThat(verdict.reason()).isEqualTo("Evicting");
    assertThat(verdict.message())
        .isEqualTo(
            "cordoned; evicts web/shop; stay on the node: kube-system/proxy (of a DaemonSet); goes"
                + " back into service at 2026-01-01T22:00:00Z");
    var refused =
        asked.refused(Map.of("web/shop", "The disruption budget shop needs 2 healthy pods"));
    verdict = Waiting.cordoned(7, Optional.of(refused));
    assertThat(verdict.reason()).isEqualTo("EvictionRefused");
    assertThat(verdict.message())
        .contains("cannot evict web/shop: The disruption budget shop needs 2 healthy pods");
  }

  @Test
  void beforeTheRolloutHasLooked() {
    assertThat(Waiting.cordoned(7, Optional.empty()).reason()).isEqualTo("Cordoned");
    assertThat(Waiting.cordoned(7, Optional.of(new Wait.Free(JOB, AT))).message())
        .contains("attempt 7", "Job train/llm", "back into service at 2026-01-01T22:00:00Z");
    assertThat(Waiting.inService(Optional.empty(), "x").reason()).isEqualTo("Waiting");
  }
}
