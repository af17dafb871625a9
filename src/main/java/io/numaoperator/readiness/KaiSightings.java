package io.numaoperator.readiness;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What is seen of KAI Scheduler. It reads NodeResourceTopology objects as they come, but asks only
 * once, at its start, whether there is such a kind; without it the plugin silently does nothing.
 * Pods without a word say nothing here: it leaves a pod whose PodGroup is missing without one.
 *
 * @param config what its Config says, set by KAI's operator
 * @param shard the same of the shard that places the pods
 * @param numaPlugin whether the shard has the plugin on
 * @param topologyKind when the CustomResourceDefinition was made
 * @param schedulers when each ready pod of the shard's scheduler started
 * @param exporterNodes nodes on which the placement exporter is ready
 */
public record KaiSightings(
    Optional<Report> config,
    Optional<Report> shard,
    boolean numaPlugin,
    Instant topologyKind,
    List<Instant> schedulers,
    Set<String> exporterNodes) {
  private static final List<String> NEEDED =
      List.of("DependenciesFulfilled", "Deployed", "Available");

  public KaiSightings {
    schedulers = List.copyOf(schedulers);
    exporterNodes = Set.copyOf(exporterNodes);
  }

  /**
   * @param object kind and name
   */
  public record Report(String object, List<Said> conditions) {
    public Report {
      conditions = List.copyOf(conditions);
    }

    /**
     * One condition.
     *
     * @param current it was set for the object as it is now
     */
    public record Said(String type, boolean holds, boolean current, String message) {}

    private Optional<String> fault() {
      return NEEDED.stream().flatMap(type -> fault(type).stream()).findFirst();
    }

    private Optional<String> fault(String type) {
      var said = conditions.stream().filter(c -> c.type().equals(type)).findFirst();
      if (said.isEmpty() || !said.get().current()) {
        return Optional.of(
            "KAI's operator has not said %s of %s as it is now".formatted(type, object));
      }
      return said.get().holds()
          ? Optional.empty()
          : Optional.of("%s is not %s: %s".formatted(object, type, said.get().message()));
    }
  }

  /** What keeps it from placing pods by zones; empty when nothing does. */
  public Optional<String> fault() {
    if (config.isEmpty()) {
      return Optional.of("there is no Config kai-config");
    }
    if (shard.isEmpty()) {
      return Optional.of("the SchedulingShard is not there");
    }
    if (!numaPlugin) {
      return Optional.of("plugin numa is not enabled in " + shard.get().object());
    }
    return config.get().fault().or(() -> shard.get().fault()).or(this::startedTooEarly);
  }

  private Optional<String> startedTooEarly() {
    return schedulers.stream()
        .filter(started -> !started.isAfter(topologyKind))
        .findFirst()
        .map(
            started ->
                "a scheduler of KAI started at %s, before there were NodeResourceTopology objects"
                        .formatted(started)
                    + " (%s), and does not look for them again: its owner restarts it"
                        .formatted(topologyKind));
  }

  /** What cannot be known; empty when all can. */
  public Optional<String> doubt() {
    return schedulers.isEmpty()
        ? Optional.of(
            "no ready pod of the shard's scheduler is found, so whether it started after the kind"
                + " NodeResourceTopology was there is not known")
        : Optional.empty();
  }
}
