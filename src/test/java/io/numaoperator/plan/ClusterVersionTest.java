package io.numaoperator.plan;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterVersionTest {
  @ParameterizedTest
  @CsvSource({
    "v1.34.2, 1, 34",
    "1.36.0, 1, 36",
    "v1.32.4+k3s1, 1, 32",
    "v1.33.1-gke.1107000, 1, 33",
    "v1.35.0-alpha.1, 1, 35",
    "1.31+, 1, 31",
    "v1.30, 1, 30",
    "v2.0.0, 2, 0"
  })
  void reads(String text, int major, int minor) {
    assertThat(ClusterVersion.parse(text)).contains(new ClusterVersion(major, minor));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "v", "1", "latest", "v1.x", "x1.34", "1.99999999999"})
  void refusesWhatIsNoVersion(String text) {
    assertThat(ClusterVersion.parse(text)).isEmpty();
  }

  @Test
  void comparesAsNumbers() {
    assertThat(new ClusterVersion(1, 9)).isLessThan(new ClusterVersion(1, 30));
    assertThat(new ClusterVersion(2, 0).atLeast(34)).isTrue();
    assertThat(new ClusterVersion(1, 34).atLeast(34)).isTrue();
    assertThat(new ClusterVersion(1, 33).atLeast(34)).isFalse();
  }
}
