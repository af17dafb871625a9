package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import java.util.ArrayList;
import java.util.List;

/** A plan in the making: each part of the planner writes its own fields. */
record Draft(KubeletFragment fragment, List<String> notes) {
  static Draft empty() {
    return new Draft(new KubeletFragment(), new ArrayList<>());
  }

  void note(String message, Object... arguments) {
    notes.add(message.formatted(arguments));
  }
}
