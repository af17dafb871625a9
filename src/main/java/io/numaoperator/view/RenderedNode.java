package io.numaoperator.view;

import io.numaoperator.api.NumaNodeState;
import io.numaoperator.kubelet.SettingsDiff;
import java.util.List;

/** What a policy means for one node's kubelet. */
public sealed interface RenderedNode {
  /** The node's name. */
  String node();

  /**
   * A plan.
   *
   * @param state as the operator applies it: the kubelet's settings are in its spec
   * @param file where the settings go on the node, for a person
   * @param dropIn the exact content of the drop-in file
   * @param planHash of the plan; the same for nodes of the same shape
   * @param changes against what the kubelet runs with
   * @param notes what a person should know
   */
  record Planned(
      String node,
      NumaNodeState state,
      String file,
      String dropIn,
      String planHash,
      List<SettingsDiff.Change> changes,
      List<String> notes)
      implements RenderedNode {
    public Planned {
      changes = List.copyOf(changes);
      notes = List.copyOf(notes);
    }
  }

  /** Nothing is applied to the node: the policy asks what its kubelet would not start with. */
  record Refused(String node, String reason, String message) implements RenderedNode {}

  /** Not enough is known of the node. */
  record Unknown(String node, String why) implements RenderedNode {}
}
