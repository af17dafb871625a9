package io.numaoperator.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccountedPodsTest {
  @Test
  void theMarkIsWhatTheContractSays() {
    // printf default/db-0 | sha256sum
    assertThat(AccountedPods.mark("default", "db-0")).isEqualTo("a2a9d67d");
    assertThat(AccountedPods.mark("default", "db-0"))
        .isNotEqualTo(AccountedPods.mark("defaul", "tdb-0"));
  }

  @Test
  void isTheSameTextForTheSamePods() {
    var pods =
        new AccountedPods(
            Map.of("e07f3312", Set.of(8, 0), "3fa94c01", Set.of(0), "91d2b7aa", Set.<Integer>of()));
    assertThat(pods.format()).isEqualTo("3fa94c01@0,91d2b7aa,e07f3312@0+8");
    assertThat(AccountedPods.parse(pods.format())).contains(pods);
    assertThat(AccountedPods.parse("")).contains(new AccountedPods(Map.of()));
    assertThat(new AccountedPods(Map.of()).format()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "3fa94c01@", "3fa94c01@0-1", "3fa94c01,", "3FA94C01", "3fa94c01@0+"})
  void refusesOtherText(String text) {
    assertThat(AccountedPods.parse(text)).isEmpty();
  }
}
