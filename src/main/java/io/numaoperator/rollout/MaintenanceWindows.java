package io.numaoperator.rollout;

import io.numaoperator.api.RolloutPolicy.Day;
import io.numaoperator.api.RolloutPolicy.MaintenanceWindow;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * When nodes may be taken out of service.
 *
 * @param windows none means always
 * @param fault why they cannot be understood; then it is never time
 */
public record MaintenanceWindows(List<Window> windows, Optional<String> fault) {
  public static final MaintenanceWindows ALWAYS =
      new MaintenanceWindows(List.of(), Optional.empty());

  private static final int LONGEST_DAYS = 8; // a window lasts 7 days at most

  public MaintenanceWindows {
    windows = List.copyOf(windows);
  }

  /**
   * @param days when it opens
   * @param start local time; one that a change to summer time skips is taken an hour later
   */
  public record Window(Set<DayOfWeek> days, LocalTime start, Duration duration, ZoneId zone) {
    private Stream<Instant> openings(Instant around) {
      var today = around.atZone(zone).toLocalDate();
      return IntStream.rangeClosed(-LONGEST_DAYS, LONGEST_DAYS)
          .mapToObj(today::plusDays)
          .filter(date -> days.contains(date.getDayOfWeek()))
          .map(date -> date.atTime(start).atZone(zone).toInstant());
    }

    private boolean isOpenAt(Instant now) {
      return openings(now).anyMatch(o -> !now.isBefore(o) && now.isBefore(o.plus(duration)));
    }
  }

  /** From the policy's words. */
  public static MaintenanceWindows of(Collection<MaintenanceWindow> spec) {
    try {
      return new MaintenanceWindows(
          spec.stream().map(MaintenanceWindows::window).toList(), Optional.empty());
    } catch (DateTimeException e) {
      return new MaintenanceWindows(
          List.of(), Optional.of("maintenanceWindows: " + e.getMessage() + "; nothing is started"));
    }
  }

  private static Window window(MaintenanceWindow spec) {
    return new Window(
        spec.days.isEmpty() ? EnumSet.allOf(DayOfWeek.class) : days(spec.days),
        LocalTime.parse(spec.start),
        Durations.parse(spec.duration),
        ZoneId.of(spec.timeZone));
  }

  private static Set<DayOfWeek> days(Collection<Day> days) {
    var set = EnumSet.noneOf(DayOfWeek.class);
    days.forEach(day -> set.add(DayOfWeek.of(day.ordinal() + 1)));
    return set;
  }

  boolean isOpenAt(Instant now) {
    return fault.isEmpty()
        && (windows.isEmpty() || windows.stream().anyMatch(window -> window.isOpenAt(now)));
  }

  /** When the next one opens, after now. */
  Optional<Instant> nextOpening(Instant now) {
    return windows.stream()
        .flatMap(window -> window.openings(now))
        .filter(opening -> opening.isAfter(now))
        .min(Instant::compareTo);
  }

  /** When one of those that are open now closes. */
  Optional<Instant> nextClosing(Instant now) {
    return windows.stream()
        .flatMap(window -> window.openings(now).map(opening -> opening.plus(window.duration())))
        .filter(closing -> closing.isAfter(now))
        .min(Instant::compareTo);
  }
}
