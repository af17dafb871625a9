package io.numaoperator.plan;

/** The parts of the stack that the operator makes objects for. */
public enum Part {
  AGENT("agent"),
  KUBELET("kubelet"),
  DEVICE_PLUGIN("device-plugin"),
  TOPOLOGY_UPDATER("topology-updater"),
  SCHEDULER("scheduler");

  private final String label;

  Part(String label) {
    this.label = label;
  }

  /** The value of the label {@link Ownership#PART_LABEL} on each of its objects. */
  public String label() {
    return label;
  }
}
