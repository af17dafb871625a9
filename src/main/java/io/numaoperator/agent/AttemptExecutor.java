package io.numaoperator.agent;

import io.numaoperator.agent.Phase.ClearingState;
import io.numaoperator.agent.Phase.Done;
import io.numaoperator.agent.Phase.Preparing;
import io.numaoperator.agent.Phase.Proving;
import io.numaoperator.agent.Phase.RollbackStage;
import io.numaoperator.agent.Phase.RollingBack;
import io.numaoperator.agent.Phase.Starting;
import io.numaoperator.agent.Phase.Stopping;
import io.numaoperator.agent.Phase.Verifying;
import io.numaoperator.agent.Phase.VerifyingRollback;
import io.numaoperator.agent.Phase.Writing;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Carries an attempt from grant to result. Every phase is written to the journal before its action,
 * and every action may be executed again, so that a new executor goes on wherever the last one
 * ended. Once the kubelet was stopped, the end is a running kubelet: the new configuration or the
 * old one.
 */
final class AttemptExecutor {
  private static final Duration RETRY = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final NodeAccess node;
  private final JournalStore store;
  private final Guard guard;
  private final Fences fences;
  private final KubeletChange change;
  private final Verification verification;
  private final ProofWait proof;
  private final Consumer<Attempt> report;
  private final Log log;
  private boolean resting; // the guard is as the end of the last attempt wants it

  AttemptExecutor(
      NodeAccess node, JournalStore store, Guard guard, Consumer<Attempt> report, Log log) {
    this.node = node;
    this.store = store;
    this.guard = guard;
    this.report = report;
    this.log = log;
    this.fences = new Fences(node);
    this.change = new KubeletChange(node, store, guard, log);
    this.verification = new Verification(node, store, log);
    this.proof = new ProofWait(node, log);
  }

  /** Goes on with what the journal holds, if that is not done; returns when it is. */
  void resume() throws IOException, InterruptedException {
    var found = store.load();
    if (found.isPresent()) {
      report.accept(found.get().report());
      if (!found.get().done()) {
        log.info("attempt %d goes on at %s".formatted(number(found.get()), found.get().phase()));
        run(entered(found.get(), afterReboot(found.get())));
      }
    }
  }

  /** Takes a grant: from here on its attempt number is used. */
  void start(Journal.Granted granted) throws IOException, InterruptedException {
    log.info("attempt %d: granted for %s".formatted(granted.attempt(), granted.hash()));
    resting = false;
    run(journalled(granted, new Preparing()));
  }

  /** Uses up an attempt number without doing anything. */
  void refuse(Journal.Granted granted, String why) throws IOException {
    log.warn("attempt %d: refused: %s".formatted(granted.attempt(), why));
    journalled(granted, new Done(Result.Refused, why));
  }

  /**
   * Between attempts: puts the guard to rest where that could not be done at an attempt's end.
   *
   * @return why that cannot be done now either
   */
  Optional<String> rest() throws IOException {
    var found = store.load();
    return resting || found.isEmpty() || !found.get().done() ? Optional.empty() : rest(found.get());
  }

  private Optional<String> rest(Journal ended) {
    try {
      if (!keepsGuard(ended)) {
        guard.rest(ended.granted());
      }
      resting = true;
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      return Optional.of("the guard cannot be put to rest: " + Errors.text(e));
    }
  }

  /**
   * What was before the change may not be back: the guard is all that is left to bring it back. The
   * next attempt that changes something disarms it.
   */
  private static boolean keepsGuard(Journal ended) {
    return ended.phase() instanceof Done done && done.result() == Result.RollbackFailed;
  }

  private Journal journalled(Journal.Granted granted, Phase phase) throws IOException {
    var journal =
        new Journal(granted, Journal.Before.unknown(), phase, node.time().now().toEpochMilli());
    store.save(journal);
    report.accept(journal.report());
    return journal;
  }

  private void run(Journal first) throws InterruptedException {
    var journal = first;
    while (!journal.done()) {
      journal = entered(journal, step(journal));
    }
    log.info("attempt %d: %s".formatted(number(journal), journal.phase()));
  }

  private Journal entered(Journal last, Journal next) {
    if (next.done()) {
      end(next);
    }
    var journal = saved(last, next);
    report.accept(journal.report());
    return journal;
  }

  /**
   * Before the end is written down: a guard that is still armed when nobody goes on with the
   * attempt would take back a change that is well.
   */
  private void end(Journal journal) {
    rest(journal).ifPresent(why -> log.warn("attempt %d: %s".formatted(number(journal), why)));
  }

  private Journal step(Journal journal) throws InterruptedException {
    try {
      var restored = guard.restoration(journal);
      if (restored.isPresent()) {
        var why = change.why(journal, restored.get());
        var detour = Detours.afterRestoration(journal.phase(), why);
        if (detour.isPresent()) {
          return next(journal, detour.get());
        }
      }
      return switch (journal.phase()) {
        case Preparing p -> prepare(journal);
        case Stopping p -> next(journal, stop(journal));
        case ClearingState p -> next(journal, change.clearState(journal));
        case Writing p -> next(journal, change.write(journal));
        case Starting(var start) -> next(journal, change.start(journal, start));
        case Verifying v -> next(journal, verification.ofChange(journal, v));
        case Proving p -> next(journal, proof.await(journal, p));
        case RollingBack r -> next(journal, change.rollBack(journal, r));
        case VerifyingRollback v -> next(journal, verification.ofRollback(journal, v));
        case Done d -> journal;
      };
    } catch (IOException | RuntimeException e) {
      // a fault of our own is no reason to leave a node half changed
      var why = Errors.text(e);
      log.warn("attempt %d: %s: %s".formatted(number(journal), journal.phase(), why));
      return next(journal, broken(journal, why));
    }
  }

  private Journal prepare(Journal journal) throws IOException, InterruptedException {
    var held = fenced(journal);
    if (held.isPresent()) {
      return next(journal, held.get());
    }
    guard.disarm(); // it may be armed with the backups that are made anew
    var prepared = journal.with(change.backUp(journal.granted()));
    guard.install(journal.granted());
    guard.arm(prepared);
    return next(prepared, new Stopping());
  }

  private Phase stop(Journal journal) throws IOException, InterruptedException {
    if (change.running(journal.granted().unit())) {
      // the last look before anything is done: a pod may have come since the first
      var held = fenced(journal);
      if (held.isPresent()) {
        return held.get();
      }
    }
    return change.stop(journal)
        ? new ClearingState()
        : new RollingBack(RollbackStage.Start, "the kubelet could not be stopped", true);
  }

  /** Nothing has been done yet: where to go when the fences do not let us pass. */
  private Optional<Phase> fenced(Journal journal) throws InterruptedException {
    try {
      return fences.violation(journal.granted()).map(why -> new Done(Result.Refused, why));
    } catch (IOException e) {
      var why = "cannot check whether the change is safe: " + e.getMessage();
      log.warn("attempt %d: %s".formatted(number(journal), why));
      if (since(journal).compareTo(PATIENCE) > 0) {
        return Optional.of(new Done(Result.Refused, why));
      }
      node.time().sleep(RETRY);
      return Optional.of(journal.phase());
    }
  }

  /** Where to go when an action failed. */
  private Phase broken(Journal journal, String why) throws InterruptedException {
    return switch (journal.phase()) {
      case Preparing p -> new Done(Result.Refused, why);
      case Stopping p -> new RollingBack(RollbackStage.Start, why, true);
      case ClearingState p -> new RollingBack(RollbackStage.Stop, why, true);
      case Writing p -> new RollingBack(RollbackStage.Stop, why, true);
      case Starting p -> new RollingBack(RollbackStage.Stop, why, true);
      case Verifying p -> new RollingBack(RollbackStage.Stop, why, true);
      case Proving p -> new RollingBack(RollbackStage.Stop, why, true);
      case RollingBack r -> again(journal, r, why);
      case VerifyingRollback r -> again(journal, r, why);
      case Done d -> d;
    };
  }

  /**
   * A rollback is not given up lightly: a full disk or a restarting D-Bus may pass. A kubelet that
   * runs with whatever is there now is still better than none.
   */
  private Phase again(Journal journal, RollingBack rollback, String why)
      throws InterruptedException {
    var spent = since(journal);
    if (rollback.stage() != RollbackStage.Start && spent.compareTo(PATIENCE) > 0) {
      var cause = rollback.why() + "; the rollback is incomplete: " + why;
      return new RollingBack(RollbackStage.Start, cause, false);
    }
    if (spent.compareTo(PATIENCE.multipliedBy(2)) > 0) {
      return new Done(Result.RollbackFailed, rollback.why() + "; the rollback failed: " + why);
    }
    node.time().sleep(RETRY);
    return rollback;
  }

  private Phase again(Journal journal, VerifyingRollback rollback, String why)
      throws InterruptedException {
    if (since(journal).compareTo(PATIENCE) > 0) {
      return new Done(Result.RollbackFailed, rollback.why() + "; after the rollback: " + why);
    }
    node.time().sleep(RETRY);
    return rollback;
  }

  private Journal afterReboot(Journal journal) throws IOException {
    return node.host().bootId().equals(journal.granted().bootId())
        ? journal
        : next(journal, Detours.afterReboot(journal.phase()));
  }

  /** Writes the next phase down before it is acted on. */
  private Journal saved(Journal last, Journal next) {
    try {
      if (!next.equals(last)) {
        store.save(next);
      }
      return next;
    } catch (IOException e) {
      var why = "the journal cannot be written: " + e.getMessage();
      log.warn("attempt %d: %s".formatted(number(next), why));
      var detour = Detours.unwritten(next.phase(), why);
      return detour.equals(next.phase()) ? next : next(last, detour);
    }
  }

  private Journal next(Journal journal, Phase phase) {
    return journal.at(phase, node.time().now());
  }

  private Duration since(Journal journal) {
    return Duration.ofMillis(node.time().now().toEpochMilli() - journal.since());
  }

  private static long number(Journal journal) {
    return journal.granted().attempt();
  }
}
