package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.RolloutPolicy.Day;
import io.numaoperator.api.RolloutPolicy.MaintenanceWindow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceWindowsTest {
  private static MaintenanceWindows window(
      List<Day> days, String start, String duration, String zone) {
    var spec = new MaintenanceWindow();
    spec.days = days;
    spec.start = start;
    spec.duration = duration;
    spec.timeZone = zone;
    return MaintenanceWindows.of(List.of(spec));
  }

  @Test
  void noneMeansAlways() {
    var windows = MaintenanceWindows.of(List.of());
    assertThat(windows.isOpenAt(Instant.EPOCH)).isTrue();
    assertThat(windows.nextOpening(Instant.EPOCH)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "2026-03-06T21:59:59Z, false", // a Friday
    "2026-03-06T22:00:00Z, true",
    "2026-03-07T03:59:59Z, true", // past midnight it is still Friday's
    "2026-03-07T04:00:00Z, false",
    "2026-03-07T23:00:00Z, true",
    "2026-03-08T23:00:00Z, false"
  })
  void isOpenOnItsDaysAndPastMidnight(Instant at, boolean open) {
    assertThat(window(List.of(Day.Fri, Day.Sat), "22:00", "6h", "UTC").isOpenAt(at))
        .isEqualTo(open);
  }

  @Test
  void startsByTheClockOnTheWall() {
    var berlin = window(List.of(), "22:00", "1h", "Europe/Berlin");
    assertThat(berlin.nextOpening(Instant.parse("2026-01-10T00:00:00Z")))
        .contains(Instant.parse("2026-01-10T21:00:00Z"));
    assertThat(berlin.nextOpening(Instant.parse("2026-07-10T00:00:00Z")))
        .contains(Instant.parse("2026-07-10T20:00:00Z"));
  }

  /** On 29 March 2026 there is no 02:30 in Berlin. */
  @Test
  void aTimeThatTheClockSkipsIsTakenLater() {
    var berlin = window(List.of(Day.Sun), "02:30", "1h", "Europe/Berlin");
    assertThat(berlin.nextOpening(Instant.parse("2026-03-28T12:00:00Z")))
        .contains(Instant.parse("2026-03-29T01:30:00Z"));
  }

  @Test
  void mayLastForDays() {
    var weekend = window(List.of(Day.Fri), "18:00", "60h", "UTC");
    assertThat(weekend.isOpenAt(Instant.parse("2026-03-09T05:59:00Z"))).isTrue(); // Monday
    assertThat(weekend.isOpenAt(Instant.parse("2026-03-09T06:00:00Z"))).isFalse();
    assertThat(weekend.nextClosing(Instant.parse("2026-03-08T12:00:00Z")))
        .contains(Instant.parse("2026-03-09T06:00:00Z"));
    var week = window(List.of(Day.Fri), "18:00", "168h", "UTC");
    assertThat(week.isOpenAt(Instant.parse("2026-03-13T17:59:59Z"))).isTrue();
  }

  @Test
  void whatCannotBeUnderstoodIsNeverOpen() {
    var windows = window(List.of(), "22:00", "1h", "Europe/Atlantis");
    assertThat(windows.fault()).hasValueSatisfying(f -> assertThat(f).contains("Atlantis"));
    for (int hour = 0; hour < 48; hour++) {
      assertThat(windows.isOpenAt(Instant.EPOCH.plus(Duration.ofHours(hour)))).isFalse();
    }
  }
}
