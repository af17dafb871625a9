package io.numaoperator.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.kubelet.VersionGates.Availability;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VersionGatesTest {
  @ParameterizedTest
  @CsvSource({
    "v1.36.3,1,36,3",
    "v1.34.1+k3s1,1,34,1",
    "v1.35.4-eks-abc,1,35,4",
    "1.33.0,1,33,0",
    "v1.37.0-alpha.1.2+abc,1,37,0",
    "v1.36,1,36,0"
  })
  void readsVersions(String text, int major, int minor, int patch) {
    assertThat(KubeletVersion.parse(text)).hasValue(new KubeletVersion(major, minor, patch));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "v1", "latest", "v1.x.3", "v1.36.3 ", "v1.36.3.4", "v99999.1.1"})
  void doesNotGuessVersions(String text) {
    assertThat(KubeletVersion.parse(text)).isEmpty();
  }

  @Test
  void ordersByMajorAndMinor() {
    assertThat(version(34)).isEqualByComparingTo(new KubeletVersion(1, 34, 9));
    assertThat(version(9)).isLessThan(version(10));
    assertThat(new KubeletVersion(2, 0, 0).isAtLeast(37)).isTrue();
    assertThat(version(31).isAtLeast(32)).isFalse();
  }

  /** Facts of policy_options.go by version: - unknown, a alpha, b beta, + GA. */
  @ParameterizedTest
  @CsvSource({
    "full-pcpus-only,                  b,b,b,+,+,+,+,+",
    "distribute-cpus-across-numa,      a,a,a,b,b,b,b,b",
    "align-by-socket,                  a,a,a,a,a,a,a,a",
    "distribute-cpus-across-cores,     -,a,a,a,a,a,a,a",
    "strict-cpu-reservation,           -,-,a,b,b,+,+,+",
    "prefer-align-cpus-by-uncorecache, -,-,a,a,b,b,+,+",
    "prefer-closest-numa-nodes,        b,b,+,+,+,+,+,+",
    "max-allowable-numa-nodes,         -,b,b,b,b,+,+,+"
  })
  void knowsEachOptionByVersion(
      String name,
      String v30,
      String v31,
      String v32,
      String v33,
      String v34,
      String v35,
      String v36,
      String v37) {
    var option = KubeletOption.named(name).orElseThrow();
    int minor = 30;
    for (var maturity : new String[] {v30, v31, v32, v33, v34, v35, v36, v37}) {
      var prefix = option.isCpuOption() ? "CPUManagerPolicy" : "TopologyManagerPolicy";
      var byDefault = gates(minor, Map.of()).availability(option);
      var alphaOn = gates(minor, Map.of(prefix + "AlphaOptions", true)).availability(option);
      var betaOff = gates(minor, Map.of(prefix + "BetaOptions", false)).availability(option);
      var available = new Availability.Available();
      switch (maturity) {
        case "-" -> {
          assertThat(byDefault).isEqualTo(new Availability.KnownSince(option.since()));
          assertThat(alphaOn).isEqualTo(byDefault);
        }
        case "a" -> {
          assertThat(byDefault).isEqualTo(new Availability.NeedsGate(prefix + "AlphaOptions"));
          assertThat(alphaOn).isEqualTo(available);
        }
        case "b" -> {
          assertThat(byDefault).isEqualTo(available);
          assertThat(betaOff).isEqualTo(new Availability.NeedsGate(prefix + "BetaOptions"));
        }
        default -> {
          assertThat(byDefault).isEqualTo(available);
          assertThat(betaOff).isEqualTo(available);
        }
      }
      minor++;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "36,AllAlpha=true,align-by-socket,true",
    "36,AllAlpha=true;CPUManagerPolicyAlphaOptions=false,align-by-socket,false",
    "33,AllBeta=false,distribute-cpus-across-numa,false",
    "33,AllBeta=false;CPUManagerPolicyBetaOptions=true,distribute-cpus-across-numa,true",
    "36,AllBeta=false,full-pcpus-only,true",
    "32,CPUManagerPolicyOptions=false,full-pcpus-only,false",
    "33,CPUManagerPolicyOptions=false,full-pcpus-only,true",
    "31,TopologyManagerPolicyOptions=false,prefer-closest-numa-nodes,false",
    "32,TopologyManagerPolicyOptions=false,prefer-closest-numa-nodes,true",
    "36,TopologyManagerPolicyAlphaOptions=true,align-by-socket,false"
  })
  void gatesWinInTheOrderOfTheKubelet(int minor, String set, String option, boolean accepted) {
    Map<String, Boolean> featureGates =
        Stream.of(set.split(";"))
            .map(gate -> gate.split("="))
            .collect(Collectors.toMap(gate -> gate[0], gate -> Boolean.valueOf(gate[1])));
    assertThat(gates(minor, featureGates).accepts(KubeletOption.named(option).orElseThrow()))
        .isEqualTo(accepted);
  }

  @ParameterizedTest
  @CsvSource({
    "31,false,false,true",
    "32,true,false,true",
    "33,true,true,true",
    "35,true,true,true",
    "36,true,true,false",
    "37,true,true,false"
  })
  void knowsWhatElseCameWithAVersion(
      int minor, boolean merges, boolean configz, boolean memoryManagerGate) {
    var gates = gates(minor, Map.of());
    assertThat(gates.mergesDropInsSafely()).isEqualTo(merges);
    assertThat(gates.servesConfigzWithoutNodesProxy()).isEqualTo(configz);
    assertThat(gates.knowsGateMemoryManager()).isEqualTo(memoryManagerGate);
  }

  @Test
  void fineGrainedAuthorizationFollowsItsGate() {
    var gate = "KubeletFineGrainedAuthz";
    assertThat(gates(32, Map.of(gate, true)).servesConfigzWithoutNodesProxy()).isTrue();
    assertThat(gates(31, Map.of(gate, true)).servesConfigzWithoutNodesProxy()).isFalse();
    assertThat(gates(34, Map.of(gate, false)).servesConfigzWithoutNodesProxy()).isFalse();
    assertThat(gates(36, Map.of(gate, false)).servesConfigzWithoutNodesProxy()).isTrue();
  }

  private static VersionGates gates(int minor, Map<String, Boolean> featureGates) {
    return new VersionGates(version(minor), featureGates);
  }

  private static KubeletVersion version(int minor) {
    return new KubeletVersion(1, minor, 3);
  }
}
