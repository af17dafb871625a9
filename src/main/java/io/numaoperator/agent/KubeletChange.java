package io.numaoperator.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.numaoperator.agent.KubeletApi.Configz;
import io.numaoperator.agent.Phase.RollbackStage;
import io.numaoperator.agent.Phase.RollingBack;
import io.numaoperator.agent.ServiceManager.UnitState;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.StateFile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The actions on the node that make up a change and its rollback; each may be done again. */
final class KubeletChange {
  /** Above systemd's own TimeoutStopSec, 90 s, after which it kills. */
  private static final Duration STOP_LIMIT = Duration.ofMinutes(2);

  /** StartUnit only queues a job: the state of before can be seen for a moment. */
  private static final Duration JOB_LIMIT = Duration.ofSeconds(3);

  private static final Duration POLL = Duration.ofMillis(200);

  private final NodeAccess node;
  private final JournalStore store;
  private final Guard guard;
  private final KubeletLog kubeletLog;
  private final Log log;
  private final MainFileEdit mainFile;
  private final Removal removal;

  KubeletChange(NodeAccess node, JournalStore store, Guard guard, Log log) {
    this.node = node;
    this.store = store;
    this.guard = guard;
    this.kubeletLog = new KubeletLog(node.host());
    this.log = log;
    this.mainFile = new MainFileEdit(node.host());
    this.removal = new Removal(node.host(), node.services());
  }

  /** Whether the kubelet is in service. */
  boolean running(String unit) throws IOException {
    return state(unit).running();
  }

  /** Makes the backups, with the kubelet still running. */
  Journal.Before backUp(Journal.Granted granted) throws IOException {
    var config =
        switch (node.kubelet().configz()) {
          case Configz.Live(var live) -> live;
          case Configz.OnDisk(var files) -> files;
          case Configz.Denied(var why) -> throw unverifiable(why);
          case Configz.Unreachable(var why) -> throw unverifiable(why);
        };
    node.host().write(JournalStore.CONFIGZ, new ObjectMapper().writeValueAsBytes(config));
    if (granted.editsMainFile()) {
      mainFile.prepare(granted);
    }
    var saved = new ArrayList<Journal.Saved>();
    for (var path : granted.touches()) {
      saved.add(store.backUp(path));
    }
    for (var path : removal.touches(granted)) {
      saved.add(store.backUp(path));
    }
    return new Journal.Before(
        List.copyOf(saved),
        granted.restore() ? stateFiles(granted) : clears(config, granted),
        node.podResources().allocatable().counts());
  }

  private static List<String> clears(JsonNode config, Journal.Granted granted) {
    return StateFile.toClear(KubeletSettings.of(config), granted.fragment()).stream()
        .map(kind -> granted.rootDirectory() + "/" + kind.fileName())
        .toList();
  }

  /**
   * What the node's own configuration says about the managers is the kubelet's to find out. No
   * container holds exclusive CPUs or memory, so it loses nothing when it makes new state files.
   */
  private static List<String> stateFiles(Journal.Granted granted) {
    return List.of(granted.cpuState(), granted.memoryState());
  }

  private static IOException unverifiable(String why) {
    return new IOException(
        "/configz of the kubelet cannot be read, so a change could not be verified: " + why);
  }

  /**
   * Stops the kubelet and waits for it. Whatever happens to the agent from then on, the guard
   * starts the kubelet again.
   *
   * @return false when it is still there after a time in which systemd should have killed it
   */
  boolean stop(Journal journal) throws IOException, InterruptedException {
    guard.arm(journal);
    return stop(journal.granted().unit());
  }

  private boolean stop(String unit) throws IOException, InterruptedException {
    if (state(unit).stopped()) {
      return true;
    }
    node.services().stop(unit);
    var limit = node.time().now().plus(STOP_LIMIT);
    while (!state(unit).stopped()) {
      if (node.time().now().isAfter(limit)) {
        return false;
      }
      node.time().sleep(POLL);
    }
    return true;
  }

  /** A running kubelet would write its state files again: each is deleted with it stopped. */
  Phase clearState(Journal journal) throws IOException {
    for (var path : journal.before().clears()) {
      requireStopped(journal);
      node.host().delete(path);
    }
    return new Phase.Writing();
  }

  Phase write(Journal journal) throws IOException {
    requireStopped(journal);
    var granted = journal.granted();
    removal.carryOut(journal);
    switch (granted.form()) {
      case DROP_IN -> writeDropIn(granted);
      case MAIN_FILE -> mainFile.write(granted);
      case NONE -> {}
    }
    return new Phase.Starting(startOf(granted.unit(), node.time().now()));
  }

  private void writeDropIn(Journal.Granted granted) throws IOException {
    if (granted.enablesDirectory()) {
      enableDirectory(granted);
    }
    node.host().write(granted.dropIn(), DropIn.render(granted.fragment()));
  }

  /** For a kubelet without a drop-in directory: an empty one, and the flag that names it. */
  private void enableDirectory(Journal.Granted granted) throws IOException {
    node.host().makeDirectory(granted.dropInDirectory());
    node.host().makeDirectory(UnitDropIn.directory(granted.unit()));
    node.host()
        .write(
            granted.unitDropIn(),
            UnitDropIn.render(granted.execStart(), granted.dropInDirectory()));
    node.services().reload();
  }

  private void requireStopped(Journal journal) throws IOException {
    if (!state(journal.granted().unit()).stopped()) {
      throw new IOException(
          "the kubelet was started during the change by somebody else, or by the guard's timer");
    }
  }

  Phase start(Journal journal, Phase.Start start) throws IOException, InterruptedException {
    var unit = journal.granted().unit();
    var run = bringUp(unit, start);
    return run.isPresent()
        ? new Phase.Verifying(start, run.get())
        : new RollingBack(RollbackStage.Stop, down(unit, start), true);
  }

  Phase rollBack(Journal journal, RollingBack rollback) throws IOException, InterruptedException {
    return switch (rollback.stage()) {
      case Stop -> stopAgain(journal, rollback);
      case Restore -> restore(journal, rollback);
      case Start -> startAgain(journal, rollback);
    };
  }

  private Phase stopAgain(Journal journal, RollingBack rollback)
      throws IOException, InterruptedException {
    armAgain(journal);
    if (!stop(journal.granted().unit())) {
      throw new IOException("the kubelet could not be stopped");
    }
    return at(RollbackStage.Restore, rollback);
  }

  /**
   * Somebody may have removed the guard since. To go back without one is a risk, to stay with a
   * configuration that is bad is none better.
   */
  private void armAgain(Journal journal) throws InterruptedException {
    try {
      guard.install(journal.granted());
      guard.arm(journal);
    } catch (IOException | RuntimeException e) {
      log.warn(
          "attempt %d: rolled back without the guard: %s"
              .formatted(journal.granted().attempt(), Errors.text(e)));
    }
  }

  /**
   * Puts back the configuration and those state files that the change deleted or that are new. No
   * container held exclusive CPUs, so the old state files still tell the truth.
   */
  private Phase restore(Journal journal, RollingBack rollback) throws IOException {
    if (!state(journal.granted().unit()).stopped()) {
      return at(RollbackStage.Stop, rollback);
    }
    // In this order a kubelet can start at any moment, should the node be rebooted in between: one
    // without state files starts with either configuration.
    var touched = journal.touchedState();
    for (var saved : touched) {
      node.host().delete(saved.path());
    }
    for (var saved : journal.savedConfiguration()) {
      store.restore(saved);
    }
    if (journal.before().covers(journal.granted().unitDropIn())) {
      node.services().reload();
    }
    if (rollback.restoreState()) {
      for (var saved : touched) {
        store.restore(saved);
      }
    }
    guard.countAnew();
    return at(RollbackStage.Start, rollback);
  }

  private Phase startAgain(Journal journal, RollingBack rollback)
      throws IOException, InterruptedException {
    var unit = journal.granted().unit();
    // running already: an executor before us started it, at some time after the rollback began
    var at = running(unit) ? Instant.ofEpochMilli(journal.since()) : node.time().now();
    var start = startOf(unit, at);
    var run = bringUp(unit, start);
    return run.isPresent()
        ? new Phase.VerifyingRollback(start, run.get(), rollback.why(), rollback.restoreState())
        : rollbackDown(rollback.why(), down(unit, start), rollback.restoreState());
  }

  /** The kubelet does not stay up with what it had before: one more try with new state files. */
  static Phase rollbackDown(String cause, String why, boolean restoredState) {
    return restoredState
        ? new RollingBack(RollbackStage.Stop, cause, false)
        : new Phase.Done(Result.RollbackFailed, cause + "; after the rollback: " + why);
  }

  private static RollingBack at(RollbackStage stage, RollingBack rollback) {
    return new RollingBack(stage, rollback.why(), rollback.restoreState());
  }

  private Phase.Start startOf(String unit, Instant at) throws IOException {
    node.host().delete(GuardFiles.LAST_WORDS); // of the kubelet before
    return new Phase.Start(
        at.toEpochMilli(),
        node.host().size(KubeletUnit.named(unit).logFile()),
        state(unit).restarts());
  }

  /** The process that came up; empty when it is down or was restarted already. */
  private Optional<Phase.Run> bringUp(String unit, Phase.Start start)
      throws IOException, InterruptedException {
    node.services().start(unit);
    var asked = node.time().now();
    while (true) {
      var state = state(unit);
      if (state.mainPid() != 0 && (state.running() || state.starting())) {
        // systemd sets the counter to 0 with a start by hand
        boolean first = state.restarts() == 0 || state.restarts() == start.restarts();
        return first
            ? Optional.of(new Phase.Run(state.mainPid(), state.restarts()))
            : Optional.empty();
      }
      var waited = Duration.between(asked, node.time().now());
      boolean crashed = state.activeState().equals("activating") && !state.starting();
      boolean ended = state.stopped() && waited.compareTo(JOB_LIMIT) > 0;
      if (crashed || ended || waited.compareTo(KubeletUnit.named(unit).startLimit()) > 0) {
        return Optional.empty();
      }
      node.time().sleep(POLL);
    }
  }

  private String down(String unit, Phase.Start start) throws IOException {
    return "the kubelet did not stay up: %s is %s: %s"
        .formatted(unit, state(unit), kubeletLog.errorSince(start, unit));
  }

  /** The guard's restoration, with the kubelet's own words where it was started with the change. */
  String why(Journal journal, GuardFiles.Restoration restoration) {
    var unit = journal.granted().unit();
    var cause =
        switch (journal.phase()) {
          case Phase.Starting(var start) -> ": " + kubeletLog.errorSince(start, unit);
          case Phase.Verifying(var start, var run) -> ": " + kubeletLog.errorSince(start, unit);
          case Phase.Proving(var start, var run) -> ": " + kubeletLog.errorSince(start, unit);
          case Phase.RollingBack rollback -> ": " + rollback.why();
          default -> "";
        };
    return "restored by the guard after %d unverified starts%s"
        .formatted(restoration.starts(), cause);
  }

  private UnitState state(String unit) throws IOException {
    return node.services()
        .state(unit)
        .orElseThrow(() -> new IOException("systemd does not know " + unit));
  }
}
