package io.numaoperator.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EvictionThresholdTest {
  /**
   * The first line was seen with a real kubelet 1.36.3: it wanted 462967884 bytes for 200Mi and 1 %
   * of 24731708Ki. The others are the kubelet's arithmetic in single precision, in Go.
   */
  @ParameterizedTest
  @CsvSource({
    "1%,25325268992,253252684",
    "5%,16777216000,838860812",
    "7.5%,67484422144,5061331861",
    "10%,16777216000,1677721625",
    "99.9%,16777216000,16760439000",
    "0%,16777216000,0",
    "100%,16777216000,0",
    "0.0%,16777216000,0",
    "100Mi,16777216000,104857600"
  })
  void countsAsTheKubeletDoes(String value, long capacity, long bytes) {
    assertThat(EvictionThreshold.bytes(value, capacity)).hasValue(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-1", "-5%", "101%", "x%", "%", "NaN%", "0x1p3%", "1f%", "1.5"})
  void refusesWhatTheKubeletRefuses(String value) {
    assertThat(EvictionThreshold.bytes(value, 16777216000L)).isEmpty();
  }
}
