package io.numaoperator.agent;

import io.numaoperator.agent.Phase.Done;
import io.numaoperator.agent.Phase.RollbackStage;
import io.numaoperator.agent.Phase.RollingBack;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import java.util.Optional;

/** Where an attempt goes on when something came between its phases: pure. */
final class Detours {
  private Detours() {}

  /**
   * A reboot started the kubelet with whatever was on the disk. Its containers are new and its
   * memory may have another size: old state files are not put back.
   */
  static Phase afterReboot(Phase phase) {
    var why = "the node was rebooted during the change";
    return switch (phase) {
      case Phase.Preparing p -> new Done(Result.Refused, why);
      case Phase.Stopping p -> new RollingBack(RollbackStage.Start, why, false);
      case Phase.ClearingState p -> new RollingBack(RollbackStage.Stop, why, false);
      case Phase.Writing p -> new RollingBack(RollbackStage.Stop, why, false);
      case Phase.Starting p -> new RollingBack(RollbackStage.Stop, why, false);
      case Phase.Verifying p -> new RollingBack(RollbackStage.Stop, why, false);
      case Phase.Proving p -> new RollingBack(RollbackStage.Stop, why, false);
      case RollingBack r -> new RollingBack(r.stage(), r.why(), false);
      case Phase.VerifyingRollback r -> new RollingBack(RollbackStage.Start, r.why(), false);
      case Done d -> d;
    };
  }

  /**
   * The guard has restored what was before the change, and the kubelet runs or is on its way up:
   * its work is not done again. Empty where it makes no difference.
   */
  static Optional<Phase> afterRestoration(Phase phase, String why) {
    boolean undone =
        switch (phase) {
          case Phase.Stopping p -> true;
          case Phase.ClearingState p -> true;
          case Phase.Writing p -> true;
          case Phase.Starting p -> true;
          case Phase.Verifying p -> true;
          case Phase.Proving p -> true;
          case RollingBack r -> r.stage() != RollbackStage.Start;
          case Phase.Preparing p -> false;
          case Phase.VerifyingRollback v -> false;
          case Done d -> false;
        };
    return undone
        ? Optional.of(new RollingBack(RollbackStage.Start, why, false))
        : Optional.empty();
  }

  /**
   * The next phase could not be written down. On the way forward the change is not gone on with; a
   * rollback goes on from memory, since the node comes first.
   */
  static Phase unwritten(Phase next, String why) {
    return switch (next) {
      case Phase.Preparing p -> new Done(Result.Refused, why);
      case Phase.Stopping p -> new Done(Result.Refused, why);
      case Phase.ClearingState p -> new RollingBack(RollbackStage.Start, why, true);
      case Phase.Writing p -> new RollingBack(RollbackStage.Stop, why, true);
      case Phase.Starting p -> new RollingBack(RollbackStage.Stop, why, true);
      case Phase.Verifying p -> new RollingBack(RollbackStage.Stop, why, true);
      case Phase.Proving p -> new RollingBack(RollbackStage.Stop, why, true);
      case RollingBack r -> r;
      case Phase.VerifyingRollback r -> r;
      case Done d -> d;
    };
  }
}
