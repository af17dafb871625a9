package io.numaoperator.plan.kubelet;

import io.numaoperator.api.KubeletFragment;
import java.util.List;

/** What a node's kubelet should be set to, or why that cannot be said. */
public sealed interface KubeletPlan {
  /**
   * The kubelet starts with this.
   *
   * @param fragment the content of the drop-in file
   * @param hash of the file's bytes
   * @param notes what a person should know about it: what is changed on the way, what is unusual
   */
  record Planned(KubeletFragment fragment, String hash, List<String> notes) implements KubeletPlan {
    public Planned {
      notes = List.copyOf(notes);
    }
  }

  /**
   * The kubelet would not start with what the policy asks of this node, or would run wrongly.
   *
   * @param reason CamelCase, stable, for a condition
   * @param message for a person: what is wrong, with the numbers, and what to do
   */
  record Refused(String reason, String message) implements KubeletPlan {}
}
