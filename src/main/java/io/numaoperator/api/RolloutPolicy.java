package io.numaoperator.api;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;
import java.util.ArrayList;
import java.util.List;

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

  @JsonPropertyDescription(
      "Try a change on a few nodes first. When left out, there is no difference between the nodes.")
  public Canary canary;

  @Size(max = 16)
  @JsonPropertyDescription(
      "When nodes may be taken out of service for a change; none means always. Outside, no attempt"
          + " is started, and a node that is still being drained goes back into service; an attempt"
          + " that runs comes to its end. Drift is healed inside them only.")
  public List<MaintenanceWindow> maintenanceWindows = new ArrayList<>();

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
          + " numaoperator.io/restore-kubelets) until each of its nodes runs without the operator's"
          + " settings again, in whichever file the agent had put them,"
          + " taken out of service and verified one by one like any change, within maxUnavailable;"
          + " its status tells what it waits for. A node with the annotation numaoperator.io/skip is"
          + " let go as it is, and so are those that OpenShift or their owner configures (see"
          + " kubelet.delivery), and all in mode Observe, which changes nothing. To end a"
          + " deletion that waits, set this to Keep. Default Keep.")
  public OnDelete onDelete = OnDelete.Keep;

  @Size(min = 1, max = 317)
  @ValidationRule(
      value =
          "self.matches('^startup-taint[.]cluster-autoscaler[.]kubernetes[.]io/"
              + "[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$')",
      message =
          "startupTaint must start with startup-taint.cluster-autoscaler.kubernetes.io/, so that"
              + " the cluster autoscaler knows that it will go away")
  @JsonPropertyDescription(
      "Key of a taint that new nodes come with, and that is taken from them when their"
          + " AlignmentReady is True, for example"
          + " startup-taint.cluster-autoscaler.kubernetes.io/numaoperator. Who makes the nodes puts"
          + " it on: registerWithTaints of their KubeletConfiguration (or --register-with-taints,"
          + " Karpenter's startupTaints); it cannot be added later without a gap. DaemonSets that a"
          + " node needs to become ready (CNI, device plugin) must tolerate it. A node that carries"
          + " it is not in service yet: it is changed at once, beside maxUnavailable and"
          + " maintenanceWindows.")
  public String startupTaint;

  /** What becomes of the kubelets when the policy goes. */
  public enum OnDelete {
    Keep,
    Restore
  }

  /** The first nodes of a change. */
  public static class Canary {
    @Required
    @Min(1)
    @Max(1000)
    @JsonPropertyDescription(
        "How many nodes a change is tried on before any other: the first in the order of the rollout"
            + " (by zone label, then name) that can be changed. While they are not all changed,"
            + " ready and soaked, no other node is started; one that failed holds the others until"
            + " the spec changes.")
    public Integer nodes;

    @Default("10m")
    @Size(min = 2, max = 16)
    @ValidationRule(
        value =
            "self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && duration(self) <= duration('720h')",
        message = "soak is a duration such as 30m or 24h, at most 720h")
    @JsonPropertyDescription(
        "How long ago they must have been changed, and be ready, before the others start. Default"
            + " 10m.")
    public String soak = "10m";
  }

  /** A time in which nodes may be taken out of service. */
  public static class MaintenanceWindow {
    @Size(max = 7)
    @JsonPropertyDescription("Days on which it opens. Default: every day.")
    public List<Day> days = new ArrayList<>();

    @Required
    @Size(min = 5, max = 5)
    @Pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$")
    @JsonPropertyDescription("When it opens, as HH:MM on a 24 hour clock, for example 22:00.")
    public String start;

    @Required
    @Size(min = 2, max = 16)
    @ValidationRule(
        value =
            "self.matches('^([0-9]+h)?([0-9]+m)?$') && duration(self) >= duration('5m') &&"
                + " duration(self) <= duration('168h')",
        message = "duration is in hours and minutes such as 4h or 1h30m, from 5m to 168h")
    @JsonPropertyDescription("How long it stays open, for example 6h; it may go past midnight.")
    public String duration;

    @Default("UTC")
    @Size(min = 1, max = 64)
    @Pattern("^[A-Za-z][A-Za-z0-9_+/-]*$")
    @JsonPropertyDescription(
        "IANA time zone of start, for example Europe/Berlin; follows daylight saving time. Default"
            + " UTC.")
    public String timeZone = "UTC";
  }

  /** Days of the week. */
  public enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun
  }

  /** What happens to a node's pods. */
  public static class Drain {
    @Default("WhenIdle")
    @JsonPropertyDescription(
        "WhenIdle: the node is cordoned, pods that hold devices or exclusive CPUs come to their end,"
            + " then the others that a controller replaces are evicted. Evict: all are evicted, also"
            + " those that no controller replaces. Pods go through the Eviction API only, which"
            + " keeps PodDisruptionBudgets; pods of DaemonSets, static pods and the operator's own"
            + " are left on the node.")
    public DrainMode mode = DrainMode.WhenIdle;

    @Default("10m")
    @Size(min = 2, max = 16)
    @ValidationRule(
        value =
            "self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && duration(self) >= duration('1s')"
                + " && duration(self) <= duration('168h')",
        message = "timeout is a duration such as 10m, from 1s to 168h")
    @JsonPropertyDescription(
        "How long evictions may take, from the first to the last pod gone. After that the node goes"
            + " back into service and is tried again later: after the same time, then twice that,"
            + " and so on up to 12h. Default 10m.")
    public String timeout = "10m";

    @Size(min = 2, max = 16)
    @ValidationRule(
        value =
            "self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && duration(self) >= duration('1s')"
                + " && duration(self) <= duration('720h')",
        message = "waitTimeout is a duration such as 2h, from 1s to 720h")
    @JsonPropertyDescription(
        "WhenIdle: how long a cordoned node waits for pods that hold devices or exclusive CPUs to"
            + " end, before it goes back into service and is tried again later, as with timeout."
            + " Default: as long as it takes.")
    public String waitTimeout;

    @Size(min = 2, max = 16)
    @ValidationRule(
        value =
            "self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && duration(self) <= duration('24h')",
        message = "gracePeriod is a duration such as 30s, at most 24h")
    @JsonPropertyDescription(
        "How long an evicted pod has to end, instead of its own terminationGracePeriodSeconds."
            + " Default: the pod's own.")
    public String gracePeriod;
  }

  /** How a node gets free of pods. */
  public enum DrainMode {
    WhenIdle,
    Evict
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

    @Default("true")
    @JsonPropertyDescription(
        "Before a changed node goes back into service, one pod per NUMA node with free CPUs is put"
            + " on it for some seconds, each with exclusive CPUs and, where its NUMA node has one,"
            + " one device. When the kubelet refuses one of them, or places one over several NUMA"
            + " nodes, the change is rolled back. What only keeps them from being tried (a webhook, a"
            + " full node, no answer within 2 minutes) rolls nothing back and is told. They ask for"
            + " no device with devicePlugin.provider HAMi, which serves pods of its own scheduler"
            + " only. Not done where nothing is to be aligned (cpuManager or topologyManager policy"
            + " None, option alignBySocket), on a restore, and unless the agent delivers."
            + " false: a change is done when its kubelet is verified. Default true: the configuration"
            + " can be right to the letter while device plugin and kubelet disagree about the zones,"
            + " and this shows it before any workload does.")
    public Boolean proofPod = true;
  }
}
