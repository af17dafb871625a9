package io.numaoperator.agent;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Step;

/**
 * Where an attempt is. The journal holds the phase whose action comes next or is under way: it is
 * written before the action, and every action may be executed again.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "phase")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Phase.Preparing.class, name = "Preparing"),
  @JsonSubTypes.Type(value = Phase.Stopping.class, name = "Stopping"),
  @JsonSubTypes.Type(value = Phase.ClearingState.class, name = "ClearingState"),
  @JsonSubTypes.Type(value = Phase.Writing.class, name = "Writing"),
  @JsonSubTypes.Type(value = Phase.Starting.class, name = "Starting"),
  @JsonSubTypes.Type(value = Phase.Verifying.class, name = "Verifying"),
  @JsonSubTypes.Type(value = Phase.Proving.class, name = "Proving"),
  @JsonSubTypes.Type(value = Phase.RollingBack.class, name = "RollingBack"),
  @JsonSubTypes.Type(value = Phase.VerifyingRollback.class, name = "VerifyingRollback"),
  @JsonSubTypes.Type(value = Phase.Done.class, name = "Done")
})
sealed interface Phase {
  /** Check the fences, make the backups. Nothing is changed. */
  record Preparing() implements Phase {}

  /** Stop the kubelet. */
  record Stopping() implements Phase {}

  /** The kubelet is stopped; delete the state files that it would refuse. */
  record ClearingState() implements Phase {}

  /** The kubelet is stopped; write the drop-in file. */
  record Writing() implements Phase {}

  /** The files are as wanted; start the kubelet. */
  record Starting(Start start) implements Phase {}

  /** The kubelet was started; is it well? */
  record Verifying(Start start, Run run) implements Phase {}

  /** The kubelet is well; do pods show that it aligns? The operator makes them, and judges. */
  record Proving(Start start, Run run) implements Phase {}

  /**
   * Bring the node back.
   *
   * @param why the attempt failed
   * @param restoreState whether the state files come back from the backup; else they are deleted
   *     and the kubelet makes new ones
   */
  record RollingBack(RollbackStage stage, String why, boolean restoreState) implements Phase {}

  /** The kubelet was started with what it had before; is it well? */
  record VerifyingRollback(Start start, Run run, String why, boolean restoreState)
      implements Phase {}

  /**
   * The end.
   *
   * @param error why it did not succeed; empty when it did
   * @param proof what pods have shown of the new configuration
   */
  record Done(Result result, String error, Proved proof) implements Phase {
    /** A journal of an older agent has no proof. */
    public Done {
      proof = proof == null ? Proved.NOTHING : proof;
    }

    Done(Result result, String error) {
      this(result, error, Proved.NOTHING);
    }
  }

  /**
   * What pods have shown.
   *
   * @param verdict as the API names it; empty where none were asked for
   */
  record Proved(String verdict, String message) {
    static final Proved NOTHING = new Proved("", "");
  }

  /** Parts of a rollback. */
  enum RollbackStage {
    Stop,
    Restore,
    Start
  }

  /**
   * A start of the kubelet, noted before it is asked for.
   *
   * @param at when, in milliseconds since the epoch
   * @param logSize size of the kubelet's log file then: only what comes after is about this start
   * @param restarts the unit's restart counter then
   */
  record Start(long at, long logSize, long restarts) {}

  /**
   * The process that a start brought up; any other process is a restart.
   *
   * @param restarts the unit's restart counter with this process
   */
  record Run(long pid, long restarts) {}

  default Step step() {
    return switch (this) {
      case Preparing p -> Step.Preparing;
      case Stopping p -> Step.Stopping;
      case ClearingState p -> Step.ClearingState;
      case Writing p -> Step.Writing;
      case Starting p -> Step.Starting;
      case Verifying p -> Step.Verifying;
      case Proving p -> Step.Proving;
      case RollingBack p -> Step.RollingBack;
      case VerifyingRollback p -> Step.VerifyingRollback;
      case Done p -> Step.Done;
    };
  }
}
