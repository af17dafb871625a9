package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.agent.PodFingerprint.Pod;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PodFingerprintTest {
  /** Values printed by k8stopologyawareschedwg/podfingerprint itself. */
  @Test
  void isThatOfTheLibraryThatSchedulersUse() {
    assertThat(PodFingerprint.of(Set.of())).isEqualTo("pfp0v001ef46db3751d8e999");
    assertThat(PodFingerprint.of(Set.of(new Pod("default", "a"))))
        .isEqualTo("pfp0v00173ac1f6debaedf3d");
    assertThat(
            PodFingerprint.of(
                Set.of(
                    new Pod("train", "llm-worker-0123456789-abcdefghij-long-name"),
                    new Pod("default", "a"),
                    new Pod("kube-system", "b-1"))))
        .isEqualTo("pfp0v001caedf3b6ff3aea2a");
  }
}
