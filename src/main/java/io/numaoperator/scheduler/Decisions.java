package io.numaoperator.scheduler;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The bindings that were decided for a node of late, oldest first. They are written into the node's
 * NodeResourceTopology before the pod is bound, on condition that nobody else wrote meanwhile: two
 * replicas, or one and its successor, never give away the same zone.
 */
record Decisions(List<Decision> all) {
  /** Annotation of a NodeResourceTopology. */
  static final String ANNOTATION = "numaoperator.io/decided";

  static final Decisions NONE = new Decisions(List.of());

  /**
   * How long a decision is remembered: much longer than a binding takes to show in every cache, and
   * no longer than a zone may stay blocked by a binding that failed.
   */
  static final Duration MEMORY = Duration.ofSeconds(30);

  private static final Pattern ENTRY =
      Pattern.compile("(?<namespace>[^/,@]+)/(?<name>[^/,@]+)/(?<uid>[^/,@]+)@(?<at>[0-9]{1,12})");

  Decisions {
    all = List.copyOf(all);
  }

  /** A binding; to the second. */
  record Decision(String namespace, String name, String uid, Instant at) {
    String text() {
      return "%s/%s/%s@%d".formatted(namespace, name, uid, at.getEpochSecond());
    }
  }

  /** What is not in the format is left out: another version's, which counts its own. */
  static Decisions parse(String text) {
    var all = new ArrayList<Decision>();
    for (var entry : text.split(",", -1)) {
      var match = ENTRY.matcher(entry);
      if (match.matches()) {
        all.add(
            new Decision(
                match.group("namespace"),
                match.group("name"),
                match.group("uid"),
                Instant.ofEpochSecond(Long.parseLong(match.group("at")))));
      }
    }
    return new Decisions(all);
  }

  String format() {
    return all.stream().map(Decision::text).collect(Collectors.joining(","));
  }

  /** Those that are remembered at this time. */
  Decisions at(Instant now) {
    return new Decisions(
        all.stream().filter(decision -> decision.at().plus(MEMORY).isAfter(now)).toList());
  }

  /** With this one as the last. */
  Decisions plus(PodView pod, Instant now) {
    return new Decisions(
        Stream.concat(
                without(pod.uid()).all.stream(),
                Stream.of(new Decision(pod.namespace(), pod.name(), pod.uid(), now)))
            .toList());
  }

  Decisions without(String uid) {
    return new Decisions(all.stream().filter(d -> !d.uid().equals(uid)).toList());
  }
}
