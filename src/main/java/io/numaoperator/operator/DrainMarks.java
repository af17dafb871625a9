package io.numaoperator.operator;

import io.fabric8.kubernetes.api.model.Node;
import io.numaoperator.api.Names;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.Drain.GivenUp;
import io.numaoperator.rollout.Drain.Phase;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is remembered of a drain, as annotations of its Node: they are written in the same request
 * as cordon and uncordon, so that no operator ever finds one without the other. What a person
 * spoiled is taken as absent: then a drain begins anew, which does no harm.
 */
final class DrainMarks {
  private static final int LONGEST_WHY = 256;

  private DrainMarks() {}

  static Drain read(Node node) {
    var marks = Optional.ofNullable(node.getMetadata().getAnnotations()).orElse(Map.of());
    return new Drain(
        Optional.ofNullable(marks.get(Names.DRAIN_ANNOTATION)).flatMap(DrainMarks::phase),
        Optional.ofNullable(marks.get(Names.DRAINED_WITH_ANNOTATION)),
        Optional.ofNullable(marks.get(Names.DRAIN_GIVEN_UP_ANNOTATION))
            .flatMap(DrainMarks::givenUp),
        List.of());
  }

  static String write(Phase phase) {
    return switch (phase) {
          case Phase.Waiting waiting -> "Waiting/";
          case Phase.Evicting evicting -> "Evicting/";
        }
        + time(phase.since());
  }

  static String write(GivenUp givenUp) {
    var why = givenUp.why();
    return givenUp.count()
        + "/"
        + time(givenUp.notBefore())
        + "/"
        + why.substring(0, Math.min(why.length(), LONGEST_WHY));
  }

  private static Optional<Phase> phase(String mark) {
    var parts = mark.split("/", 2);
    return parts.length < 2
        ? Optional.empty()
        : instant(parts[1])
            .flatMap(
                since ->
                    switch (parts[0]) {
                      case "Waiting" -> Optional.of(new Phase.Waiting(since));
                      case "Evicting" -> Optional.of(new Phase.Evicting(since));
                      default -> Optional.empty();
                    });
  }

  private static Optional<GivenUp> givenUp(String mark) {
    var parts = mark.split("/", 3);
    return parts.length < 3 || !parts[0].matches("[1-9][0-9]{0,5}")
        ? Optional.empty()
        : instant(parts[1]).map(at -> new GivenUp(Integer.parseInt(parts[0]), at, parts[2]));
  }

  private static Optional<Instant> instant(String text) {
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  /** Whole seconds are enough for a person, and for us. */
  private static String time(Instant instant) {
    return instant.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
