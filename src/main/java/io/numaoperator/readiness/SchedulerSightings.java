package io.numaoperator.readiness;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What is seen of a scheduler that the operator runs and that reads NodeResourceTopology objects at
 * its start. That a pod of it runs is the least of it: the one that leads must be the wanted one,
 * it must go on renewing its Lease, and pods that name it must not lie unattended.
 *
 * @param wanted what its plan says; empty while it is held back
 * @param deployed the Deployment
 * @param lease by which one replica leads
 * @param replicas its pods
 * @param unattended a pod that names it and that no scheduler has looked at
 * @param now when all this was seen
 */
public record SchedulerSightings(
    Optional<Wanted> wanted,
    Optional<Deployed> deployed,
    Optional<Hold> lease,
    List<Replica> replicas,
    Optional<Unattended> unattended,
    Instant now) {
  /** A lease is renewed every 2 s and valid for 15 s; the rest is for clocks that differ. */
  private static final Duration SILENCE = Duration.ofSeconds(30);

  /** A scheduler with nothing to do looks at a new pod within a second. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  public SchedulerSightings {
    replicas = List.copyOf(replicas);
  }

  /**
   * What its pods start from.
   *
   * @param config hash of its configuration
   * @param revision of the topologies ({@code TopologyRevision})
   */
  public record Start(String image, String config, String revision) {
    private boolean isOfTheSameProgram(Start other) {
      return image.equals(other.image) && config.equals(other.config);
    }
  }

  /** What the plan says that its pods start from. */
  public record Wanted(Start start) {}

  /**
   * @param observed whether its controller has seen its newest generation
   * @param available how many replicas are available
   */
  public record Deployed(Start start, boolean observed, int available) {}

  /**
   * @param holder pod name, "_", and something unique (kube-scheduler's identity)
   */
  public record Hold(String holder, Instant renewed) {}

  /**
   * @param started when its container last started; empty while it does not run
   */
  public record Replica(String pod, Start start, boolean ready, Optional<Instant> started) {}

  /** A pod in the scheduler's name, without any word of a scheduler about it. */
  public record Unattended(String pod, Instant created) {}

  /** What keeps it from placing pods as wanted; empty when nothing does. */
  public Optional<String> fault() {
    if (wanted.isEmpty()) {
      return Optional.of("it is started when there is a NodeResourceTopology");
    }
    if (deployed.isEmpty()) {
      return Optional.of("its Deployment is not there yet");
    }
    if (!deployed.get().start().isOfTheSameProgram(wanted.get().start())) {
      return Optional.of("its Deployment has another image or configuration than is wanted");
    }
    if (!deployed.get().observed()) {
      return Optional.of("its Deployment was changed and is not carried out yet");
    }
    if (deployed.get().available() == 0) {
      return Optional.of("no replica of the scheduler is available");
    }
    if (lease.isEmpty() || lease.get().holder().isEmpty()) {
      return Optional.of("none of its replicas leads: its Lease has no holder");
    }
    if (lease.get().renewed().plus(SILENCE).isBefore(now)) {
      return Optional.of(
          "%s leads but has not renewed its Lease since %s"
              .formatted(lease.get().holder(), lease.get().renewed()));
    }
    return leaderFault().or(this::inattention);
  }

  private Optional<String> leaderFault() {
    var leader = leader();
    if (leader.isEmpty()) {
      return Optional.of(
          "its Lease is held by %s, which is none of its pods".formatted(lease.get().holder()));
    }
    if (!leader.get().start().isOfTheSameProgram(wanted.get().start())) {
      return Optional.of(
          "pod %s leads with another image or configuration than is wanted"
              .formatted(leader.get().pod()));
    }
    if (!leader.get().ready() || leader.get().started().isEmpty()) {
      return Optional.of("pod %s leads but is not ready".formatted(leader.get().pod()));
    }
    return Optional.empty();
  }

  private Optional<String> inattention() {
    return unattended.flatMap(pod -> inattention(pod, now));
  }

  /** A pod that waited too long for any word; for schedulers of others too. */
  public static Optional<String> inattention(Unattended pod, Instant now) {
    return pod.created().plus(PATIENCE).isBefore(now)
        ? Optional.of(
            "pod %s names it and was created at %s, and no scheduler has looked at it"
                .formatted(pod.pod(), pod.created()))
        : Optional.empty();
  }

  /**
   * Whether the leader has read a node's topology: it started from exactly the topologies that
   * there are now, or after what it takes from them only at its start last changed.
   *
   * @param changed when the object was made, or the node's kubelet was last set otherwise
   */
  public boolean hasRead(Instant changed) {
    return leader()
        .filter(
            replica ->
                wanted.filter(w -> w.start().equals(replica.start())).isPresent()
                    || replica.started().filter(changed::isBefore).isPresent())
        .isPresent();
  }

  private Optional<Replica> leader() {
    return lease.flatMap(
        hold ->
            replicas.stream()
                .filter(replica -> hold.holder().startsWith(replica.pod() + "_"))
                .findFirst());
  }
}
