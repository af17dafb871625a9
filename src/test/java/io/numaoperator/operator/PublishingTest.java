package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy.Provider;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PublishingTest {
  @Test
  void theAgentIsNeverLate() {
    var desired = Publishing.of(setting(Provider.BuiltIn)).desired();
    assertThat(desired.publish).isTrue();
    assertThat(desired.lagSeconds).isNull();
  }

  @ParameterizedTest
  @EnumSource(names = {"NFD", "External"})
  void othersMayBeAsLateAsTheirInterval(Provider provider) {
    var desired = Publishing.of(setting(provider)).desired();
    assertThat(desired.publish).isFalse();
    assertThat(desired.lagSeconds).isEqualTo(105);
  }

  /** In mode Observe one that publishes goes on, for those who read it, and none begins. */
  @ParameterizedTest
  @EnumSource
  void nothingBeginsWhereNothingMayBeChanged(Provider provider) {
    var publishing = Publishing.of(setting(provider));
    assertThat(publishing.observed(Optional.empty()).publish).isFalse();
    var others = Publishing.of(setting(Provider.External)).desired();
    assertThat(publishing.observed(Optional.of(others)).publish).isFalse();
    var before = Publishing.of(setting(Provider.BuiltIn)).desired();
    assertThat(publishing.observed(Optional.of(before))).isSameAs(before);
  }

  private static TopologyUpdaterPolicy setting(Provider provider) {
    var setting = new TopologyUpdaterPolicy();
    setting.provider = provider;
    setting.interval = "1m30s";
    return setting;
  }
}
