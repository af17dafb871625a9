package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GrantedProofTest {
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
}
