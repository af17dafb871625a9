package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class LagTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Instant T0 = Instant.parse("2026-06-01T10:00:00Z");
  private static final String CPU = "node-0 cpu available is 4, the kubelet has ";
  private final Lag lag = new Lag();

  @Test
  void whatIsPublishedInTimeNeverCounts() {
    assertThat(lag.lasting(List.of(CPU + "2"), MINUTE, T0)).isEmpty();
    assertThat(lag.lasting(List.of(), MINUTE, T0.plusSeconds(50))).isEmpty();
    assertThat(lag.lasting(List.of(CPU + "2"), MINUTE, T0.plusSeconds(70))).isEmpty();
  }

  /** The updater is dead: its value stays, the kubelet's goes on. */
  @Test
  void whatStaysPublishedCountsWhateverTheKubeletDoesMeanwhile() {
    lag.lasting(List.of(CPU + "2"), MINUTE, T0);
    lag.lasting(List.of(CPU + "0"), MINUTE, T0.plusSeconds(30));
    assertThat(lag.lasting(List.of(CPU + "3"), MINUTE, T0.plusSeconds(60)))
        .containsExactly(CPU + "3");
  }

  /** The updater lives, and is always a step behind. */
  @Test
  void whatIsPublishedAnewStartsAnew() {
    lag.lasting(List.of(CPU + "2"), MINUTE, T0);
    var next = "node-0 cpu available is 2, the kubelet has 0";
    assertThat(lag.lasting(List.of(next), MINUTE, T0.plusSeconds(70))).isEmpty();
  }

  @Test
  void theDutyIsReadFromTheSpec() throws Exception {
    var json = new JsonMapper();
    assertThat(TopologyPublisher.Duty.of(json.readTree("{\"policy\": \"p\"}"))).isEmpty();
    assertThat(TopologyPublisher.Duty.of(json.readTree("{\"topology\": {\"publish\": true}}")))
        .contains(new TopologyPublisher.Duty.Publish());
    assertThat(
            TopologyPublisher.Duty.of(
                json.readTree("{\"topology\": {\"publish\": false, \"lagSeconds\": 75}}")))
        .contains(new TopologyPublisher.Duty.Compare(Duration.ofSeconds(75)));
  }
}
