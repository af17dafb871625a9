package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.numaoperator.api.Names;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Phase;
import io.numaoperator.rollout.NodeProgress.Cordon;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a successor reads is what its predecessor wrote. */
class DrainMarksTest {
  private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");

  private static Node node(Map<String, String> annotations) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("n")
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(true)
        .endSpec()
        .build();
  }

  @Test
  void readsWhatItWrote() {
    for (var phase : List.of(new Phase.Waiting(AT), new Phase.Evicting(AT))) {
      var givenUp = new GivenUp(3, AT, "train/llm: 1/2 of it");
      assertThat(
              DrainMarks.read(
                  node(
                      Map.of(
                          Names.DRAIN_ANNOTATION, DrainMarks.write(phase),
                          Names.DRAINED_WITH_ANNOTATION, "Job train/llm",
                          Names.DRAIN_GIVEN_UP_ANNOTATION, DrainMarks.write(givenUp)))))
          .isEqualTo(
              new Drain(
                  Optional.of(phase),
                  Optional.of("Job train/llm"),
                  Optional.of(givenUp),
                  List.of()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "Waiting",
        "Waiting/",
        "Waiting/soon",
        "Idle/2026-01-01T00:00:00Z",
        "0/2026-01-01T00:00:00Z/x",
        "x/y/z",
        "1/2026-01-01T00:00:00Z"
      })
  void whatAPersonSpoiledIsAbsent(String mark) {
    assertThat(
            DrainMarks.read(
                node(Map.of(Names.DRAIN_ANNOTATION, mark, Names.DRAIN_GIVEN_UP_ANNOTATION, mark))))
        .isEqualTo(Drain.NONE);
  }

  @Test
  void aCordonIsOursOnlyWithOurMark() {
    assertThat(Nodes.cordon(node(Map.of(Names.CORDONED_ANNOTATION, "gpu-nodes/7"))))
        .isEqualTo(new Cordon.Ours(7));
    for (var mark : List.of("", "gpu-nodes", "7", "gpu-nodes/x", "gpu-nodes/")) {
      assertThat(Nodes.cordon(node(Map.of(Names.CORDONED_ANNOTATION, mark))))
          .isEqualTo(new Cordon.Foreign());
    }
    assertThat(Nodes.cordon(node(Map.of()))).isEqualTo(new Cordon.Foreign());
  }
}
