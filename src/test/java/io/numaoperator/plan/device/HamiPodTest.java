package io.numaoperator.plan.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The GPU that a pod runs on against the one that HAMi accounts for. */
class HamiPodTest {
  private static final String ALLOCATED = "GPU-a,NVIDIA,20000,0:;";

  private static HamiPod pod(String given, Optional<Boolean> refit, String... annotations) {
    var all = new HashMap<String, String>();
    all.put(HamiAllocation.ANNOTATION, ALLOCATED);
    for (int i = 0; i < annotations.length; i += 2) {
      all.put(annotations[i], annotations[i + 1]);
    }
    return new HamiPod("train/llm", Set.of(given), all, refit);
  }

  @Test
  void bothAreTheSame() {
    assertThat(pod("GPU-a", Optional.of(true)).disagreement()).isEmpty();
  }

  /** The order of what holds HAMi back: each is told alone. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "-           | true  | -                      | has no annotation hami.io/numa-alignment",
        "-           | true  | nvidia.com/numa-bind   | keeps its GPUs together, not beside its CPUs",
        "strict      | true  | nvidia.com/use-gpuuuid | pins its GPU",
        "best-effort | false | -                      | the refit is off",
        "Strict      | false | -                      | strict only logs while the refit is off",
        "best-effort | true  | -                      | leaves the kubelet's choice",
        "strict      | true  | -                      | strict should have failed it"
      })
  void anotherGpuIsToldWithTheReason(String mode, boolean refit, String other, String why) {
    var annotations = new HashMap<String, String>();
    annotations.put(HamiAllocation.ANNOTATION, ALLOCATED);
    if (mode != null) {
      annotations.put(HamiPod.MODE, mode);
    }
    if (other != null) {
      annotations.put(other, "true");
    }
    var pod = new HamiPod("train/llm", Set.of("GPU-b"), annotations, Optional.of(refit));
    assertThat(pod.disagreement())
        .hasValueSatisfying(
            told ->
                assertThat(told)
                    .startsWith("pod train/llm runs on GPU-b and HAMi accounts for GPU-a: ")
                    .contains(why));
  }

  @Test
  void unevenAmountsAreNeverMoved() {
    var pod =
        pod(
            "GPU-b",
            Optional.of(true),
            HamiPod.MODE,
            "strict",
            HamiAllocation.ANNOTATION,
            "GPU-a,NVIDIA,20000,0:GPU-c,NVIDIA,10000,0:;");
    assertThat(pod.disagreement())
        .hasValueSatisfying(t -> assertThat(t).contains("different amounts"));
  }

  @Test
  void severalContainersAreOnePod() {
    var text = "GPU-a,NVIDIA,100,10:;GPU-b,NVIDIA,200,20:GPU-c,NVIDIA,200,20:;";
    var allocation = HamiAllocation.parse(text).orElseThrow();
    assertThat(allocation.gpus()).containsExactly("GPU-a", "GPU-b", "GPU-c");
    assertThat(allocation.isUneven()).isFalse();
    var pod =
        new HamiPod(
            "a/b",
            Set.of("GPU-a", "GPU-b", "GPU-c"),
            Map.of(HamiAllocation.ANNOTATION, text),
            Optional.empty());
    assertThat(pod.disagreement()).isEmpty();
  }

  @Test
  void whatIsNotAnAllocationSaysNothing() {
    for (var text : new String[] {"", ";", "GPU-a", "GPU-a,NVIDIA:;"}) {
      assertThat(pod("GPU-b", Optional.of(true), HamiAllocation.ANNOTATION, text).disagreement())
          .isEmpty();
    }
  }

  @Test
  void strictWithoutRefitIsWarnedOf() {
    assertThat(pod("GPU-a", Optional.of(false), HamiPod.MODE, "strict").warning()).isPresent();
    assertThat(pod("GPU-a", Optional.of(true), HamiPod.MODE, "strict").warning()).isEmpty();
    assertThat(pod("GPU-a", Optional.of(false), HamiPod.MODE, "best-effort").warning()).isEmpty();
    assertThat(pod("GPU-a", Optional.empty(), HamiPod.MODE, "strict").warning()).isEmpty();
  }
}
