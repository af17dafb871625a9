package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;

/** How changes reach the nodes. */
public class RolloutPolicy {
  @Default("1")
  @ValidationRule(
      value =
          "type(self) == int ? self >= 1 && self <= 10000 :"
              + " self.matches('^([1-9][0-9]?|100)%$')",
      message = "maxUnavailable is a number of at least 1, or a percentage from 1% to 100%")
  @JsonPropertyDescription(
      "How many of the policy's nodes may be unavailable at a time (cordoned, not Ready, or being"
          + " changed), as a number or a percentage rounded down to at least 1. Nodes that are"
          + " unavailable for any other reason count too. Default 1.")
  public IntOrString maxUnavailable = new IntOrString(1);

  @Default("{}")
  @JsonPropertyDescription("What happens to a node's pods before its kubelet is changed.")
  public Drain drain = new Drain();

  @Default("{}")
  @JsonPropertyDescription("When a changed kubelet is believed to be healthy.")
  public Verification verification = new Verification();

  @Default("true")
  @JsonPropertyDescription(
      "Start no further node after one failed, until the spec changes. Default true.")
  public Boolean pauseOnFailure = true;

  @Default("Keep")
  @JsonPropertyDescription(
      "What becomes of the nodes' kubelets when this policy is deleted. Keep: they stay as they are,"
          + " with the operator's drop-in file. Restore: the policy stays (finalizer"
          + " numaoperator.io/restore-kubelets) until each of its nodes runs without that file again,"
          + " taken out of service and verified one by one like any change, within maxUnavailable;"
          + " its status tells what it waits for. A node with the annotation numaoperator.io/skip is"
          + " let go as it is, and so are all in mode Observe, which changes nothing. To end a"
          + " deletion that waits, set this to Keep. Default Keep.")
  public OnDelete onDelete = OnDelete.Keep;

  /** What becomes of the kubelets when the policy goes. */
  public enum OnDelete {
    Keep,
    Restore
  }

  /** What happens to a node's pods. */
  public static class Drain {
    @Default("WhenIdle")
    @JsonPropertyDescription(
        "WhenIdle: the node is cordoned, then changed when no pod on it holds devices or exclusive"
            + " CPUs any more; other pods keep running through the kubelet's restart.")
    public DrainMode mode = DrainMode.WhenIdle;
  }

  /** How a node gets free of pods that hold devices or exclusive CPUs. */
  public enum DrainMode {
    WhenIdle
  }

  /** When a changed kubelet is believed to be healthy. */
  public static class Verification {
    @Default("60s")
    @Size(min = 2, max = 16)
    @ValidationRule(
        value = "duration(self) >= duration('5s') && duration(self) <= duration('30m')",
        message = "window must be between 5s and 30m")
    @JsonPropertyDescription(
        "How long the changed kubelet must run without a restart, with the wanted configuration"
            + " live, before the node goes back into service; else it is rolled back. Default 60s,"
            + " at least 5s.")
    public String window = "60s";
  }
}
