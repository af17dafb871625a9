package io.numaoperator.agent;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeStateSpec.ProofVerdict;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.kubelet.StateFile;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
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

  /** In which form the operator's settings are on the node after a change. */
  enum Form {
    DROP_IN,
    MAIN_FILE,
    /** Not at all: the node runs with its own. */
    NONE
  }

  /**
   * What is to be done, fixed when the grant was taken.
   *
   * @param policy the NumaPolicy that the node was cordoned for
   * @param fragment empty with form NONE
   * @param windowMillis how long a changed kubelet must be stable
   * @param unit the kubelet's systemd unit
   * @param dropInDirectory empty where the kubelet has none and gets none
   * @param form what is there in another form is taken away with the change
   * @param execStart the unit's command, where it has to be given the drop-in directory first; else
   *     empty
   * @param mainFile the kubelet's --config file; empty where it has none
   * @param proof whether pods have to show that the changed kubelet aligns
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
      Form form,
      List<String> execStart,
      String mainFile,
      boolean proof) {
    /** A journal of an older agent has not the last four. */
    Granted {
      form = form == null ? Form.DROP_IN : form;
      execStart = execStart == null ? List.of() : List.copyOf(execStart);
      mainFile = mainFile == null ? "" : mainFile;
    }

    Duration window() {
      return Duration.ofMillis(windowMillis);
    }

    String dropIn() {
      return dropInDirectory + "/" + Names.DROP_IN_FILE;
    }

    /** Whether the kubelet gets its drop-in directory with this change. */
    boolean enablesDirectory() {
      return !execStart.isEmpty();
    }

    String unitDropIn() {
      return UnitDropIn.path(unit);
    }

    boolean editsMainFile() {
      return form == Form.MAIN_FILE;
    }

    /** Whether the node is brought back to its own settings. */
    boolean restore() {
      return form == Form.NONE;
    }

    /** Whether the kubelet starts only if its drop-in directory is there. */
    boolean needsDirectory() {
      return switch (form) {
        case DROP_IN -> !enablesDirectory();
        case MAIN_FILE -> false;
        case NONE -> !dropInDirectory.isEmpty();
      };
    }

    /** The files that a change writes or deletes; {@link Removal} may have more. */
    List<String> touches() {
      var files = new ArrayList<String>();
      switch (form) {
        case DROP_IN -> files.add(dropIn());
        case MAIN_FILE -> {
          files.add(mainFile);
          files.addAll(MainFileEdit.notes());
        }
        case NONE -> {}
      }
      if (enablesDirectory()) {
        files.add(unitDropIn());
      }
      files.add(cpuState());
      files.add(memoryState());
      return files;
    }

    /** Whether it is one of the managers' files, and not the kubelet's configuration. */
    boolean isState(String path) {
      return path.equals(cpuState()) || path.equals(memoryState());
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

    /** Whether the change is about this file. */
    boolean covers(String path) {
      return saved.stream().anyMatch(file -> file.path().equals(path));
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
    if (phase instanceof Phase.Done(var result, var error, var proof)
        && !proof.verdict().isEmpty()) {
      attempt.proof = ProofVerdict.valueOf(proof.verdict());
      attempt.proofMessage = proof.message();
    }
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
