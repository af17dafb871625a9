package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.kubelet.StateFile;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/**
 * All that is needed to go on with an attempt after a crash at any point.
 *
 * @param before what was there before; {@link Before#unknown} until the backups are made
 * @param since when the phase was entered, in milliseconds since the epoch
 */
record Journal(Granted granted, Before before, Phase phase, long since) {
  /** As the CRD has it; a longer one would make the API server refuse the whole status. */
  private static final int LONGEST_ERROR = 2048;

  /**
   * What is to be done, fixed when the grant was taken.
   *
   * @param policy the NumaPolicy that the node was cordoned for
   * @param windowMillis how long a changed kubelet must be stable
   * @param unit the kubelet's systemd unit
   * @param restore the drop-in file is removed; the fragment is empty then
   */
  record Granted(
      long attempt,
      String hash,
      String policy,
      String bootId,
      KubeletFragment fragment,
      long windowMillis,
      String unit,
      String dropInDirectory,
      String rootDirectory,
      boolean restore) {
    Duration window() {
      return Duration.ofMillis(windowMillis);
    }

    String dropIn() {
      return dropInDirectory + "/" + Names.DROP_IN_FILE;
    }

    String cpuState() {
      return rootDirectory + "/" + StateFile.Kind.CPU.fileName();
    }

    String memoryState() {
      return rootDirectory + "/" + StateFile.Kind.MEMORY.fileName();
    }

    /** The value of the cordon annotation that allows this attempt. */
    String cordon() {
      return policy + "/" + attempt;
    }
  }

  /**
   * What was there before.
   *
   * @param saved the files that have a backup, or had none to make
   * @param clears the state files that the change deletes
   * @param devices how many devices of each resource the kubelet handed out
   */
  record Before(List<Saved> saved, List<String> clears, Map<String, Integer> devices) {
    static Before unknown() {
      return new Before(List.of(), List.of(), Map.of());
    }
  }

  /**
   * A file of the node before the change.
   *
   * @param present whether it was there; its bytes are in the backup then
   */
  record Saved(String path, boolean present) {}

  Journal at(Phase next, Instant now) {
    var entered = next.step() == phase.step() ? since : now.toEpochMilli();
    return new Journal(granted, before, next, entered);
  }

  Journal with(Before found) {
    return new Journal(granted, found, phase, since);
  }

  /** The state files that the change deletes or that did not exist before it. */
  List<Saved> touchedState() {
    return before.saved().stream()
        .filter(saved -> isState(saved.path()))
        .filter(saved -> !saved.present() || before.clears().contains(saved.path()))
        .toList();
  }

  /** The configuration that the change writes. */
  List<Saved> savedConfiguration() {
    return before.saved().stream().filter(saved -> !isState(saved.path())).toList();
  }

  private boolean isState(String path) {
    return path.equals(granted.cpuState()) || path.equals(granted.memoryState());
  }

  boolean done() {
    return phase instanceof Phase.Done;
  }

  /** What is reported of it. */
  Attempt report() {
    var attempt = new Attempt();
    attempt.number = granted.attempt();
    attempt.hash = granted.hash();
    attempt.step = phase.step();
    attempt.since = Instant.ofEpochMilli(since).truncatedTo(ChronoUnit.SECONDS).toString();
    attempt.result = phase instanceof Phase.Done done ? done.result() : null;
    attempt.error = error().isEmpty() ? null : error();
    return attempt;
  }

  private String error() {
    var error =
        switch (phase) {
          case Phase.RollingBack rollback -> rollback.why();
          case Phase.VerifyingRollback rollback -> rollback.why();
          case Phase.Done done -> done.error();
          default -> "";
        };
    return error.length() <= LONGEST_ERROR ? error : error.substring(0, LONGEST_ERROR - 1) + "…";
  }
}
