package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProofContainersTest {
  private static final Set<String> PODS = Set.of("numa/p-0", "numa/p-1");

  private final Containers containers = new Containers();

  @Test
  void proofPodsAreNobodysWorkload() {
    containers.aligned = 2;
    containers.crossNuma = 1;
    containers.notPinned = 5;
    containers.placed =
        List.of(
            placed("numa/p-0", Placement.CrossNUMA),
            placed("numa/p-1", Placement.Aligned),
            placed("train/llm", Placement.Aligned));
    ProofContainers.separate(containers, PODS);
    assertThat(containers.placed).extracting(c -> c.pod).containsExactly("train/llm");
    assertThat(containers.proofs).extracting(c -> c.pod).containsExactly("numa/p-0", "numa/p-1");
    assertThat(List.of(containers.aligned, containers.crossNuma, containers.notPinned))
        .containsExactly(1, 0, 5);
  }

  /** A look that fails leaves the last one's report. */
  @Test
  void theSameReportIsSeparatedOnce() {
    containers.aligned = 1;
    containers.placed = new ArrayList<>(List.of(placed("numa/p-0", Placement.Aligned)));
    ProofContainers.separate(containers, PODS);
    ProofContainers.separate(containers, PODS);
    assertThat(containers.proofs).hasSize(1);
    assertThat(containers.aligned).isZero();
  }

  @Test
  void withoutAProofNothingIsChanged() {
    containers.aligned = 1;
    containers.placed = List.of(placed("numa/p-0", Placement.Aligned));
    ProofContainers.separate(containers, Set.of());
    assertThat(containers.placed).hasSize(1);
    assertThat(containers.proofs).isNull();
  }

  @Test
  void whatIsGrantedIsReadFromTheState() throws Exception {
    var json = new ObjectMapper();
    assertThat(GrantedProof.of(json.readTree("{}")).pods()).isEmpty();
    var state =
        json.readTree(
            """
            {"spec": {"grant": {"attempt": 3, "proof": {"pods": [{"pod": "numa/p-0", "cpus": 6}],
              "verdict": "Passed", "message": "m"}}}}
            """);
    assertThat(GrantedProof.of(state))
        .isEqualTo(
            new GrantedProof(
                3, Set.of("numa/p-0"), java.util.Optional.of(ProofVerdict.Passed), "m"));
  }

  private static PlacedContainer placed(String pod, Placement placement) {
    var container = new PlacedContainer();
    container.pod = pod;
    container.container = "main";
    container.placement = placement;
    return container;
  }
}
