package io.numaoperator.readiness;

import io.numaoperator.explain.ExplainedLoop;
import java.util.List;
import java.util.Optional;

/** The condition that tells of loops. */
public final class Admissions {
  public static final String ADMITTED = "PodsAdmitted";

  private Admissions() {}

  /**
   * @param loops the owners whose pods the policy's nodes reject again and again; empty while
   *     rejected pods have not been looked at
   */
  public static Verdict judge(Optional<List<ExplainedLoop>> loops) {
    if (loops.isEmpty()) {
      return Verdict.unknown("NotJudged", "rejected pods have not been looked at yet");
    }
    if (loops.get().isEmpty()) {
      return Verdict.yes("NoLoops", "no owner's pods are rejected again and again");
    }
    int more = loops.get().size() - 1;
    return Verdict.no(
        "RejectionLoop",
        loops.get().getFirst().text()
            + (more == 0 ? "" : "; and %d more owners, see status.rejectionLoops".formatted(more)));
  }
}
