package io.numaoperator.preflight;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.ManagedField;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.Machine;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What must hold on a node beside the plan itself. Whether the agent is alive is not asked here.
 */
public final class Preflight {
  private Preflight() {}

  /**
   * What is judged.
   *
   * @param policy what the node's policy asks for
   * @param status what the node's agent saw
   * @param nodeBootId the boot id in the Node's status
   * @param ahead how many minor versions newer than it is the kubelet is taken to be
   */
  public record Input(
      KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId, int ahead) {
    public Input(KubeletPolicy policy, NumaNodeStateStatus status, String nodeBootId) {
      this(policy, status, nodeBootId, 0);
    }

    KubeletFacts kubelet() {
      return status.inventory.kubelet;
    }

    Optional<KubeletVersion> version() {
      return KubeletVersion.parse(Objects.requireNonNullElse(kubelet().version, ""))
          .map(v -> ahead == 0 ? v : new KubeletVersion(v.major(), v.minor() + ahead, 0));
    }

    Map<String, Boolean> featureGates() {
      return Objects.requireNonNullElse(status.effective.featureGates, Map.of());
    }

    List<String> managedByFlag() {
      return Objects.requireNonNullElse(kubelet().managedByFlag, List.of());
    }

    /** Whether our agent is to write a drop-in file on the node. */
    boolean agentDelivers() {
      return policy.delivery == null
          || policy.delivery == Delivery.Auto
          || policy.delivery == Delivery.Agent;
    }
  }

  /** What keeps a plan from being made; the first violation. */
  public static Optional<Refused> check(Input node) {
    return first(
        node,
        Preflight::inventoryIsThere,
        Preflight::inventoryIsOfThisBoot,
        Preflight::inventoryIsReadable,
        Preflight::settingsAreKnown,
        Preflight::versionIsKnown,
        Preflight::dropInsMergeSafely,
        Preflight::serviceIsKnown,
        Preflight::dropInDirectoryIsThere,
        Preflight::noRemovedFeatureGate,
        Preflight::noLockedFeatureGate,
        Preflight::evictionCounts,
        Preflight::stateFilesAgree);
  }

  /** What keeps a plan that was made from taking effect: a flag of the kubelet's command line. */
  public static Optional<Refused> check(Input node, KubeletFragment planned) {
    return ConfigComparison.differences(planned, node.status().effective.settings).stream()
        .filter(difference -> node.managedByFlag().contains(difference.field().fieldName()))
        .findFirst()
        .map(
            difference ->
                new Refused(
                    "SetByFlag",
                    "%s, but %s is set on the kubelet's command line, which wins over every file."
                            .formatted(difference.message(), difference.field().fieldName())
                        + " Move it from there into the kubelet's configuration file."));
  }

  @SafeVarargs
  private static Optional<Refused> first(Input node, Function<Input, Optional<Refused>>... checks) {
    return Stream.of(checks).flatMap(check -> check.apply(node).stream()).findFirst();
  }

  private static Optional<Refused> inventoryIsThere(Input node) {
    var inventory = node.status().inventory;
    return refuseIf(
        inventory == null || inventory.kubelet == null,
        "InventoryMissing",
        "The node's agent has not reported the node's hardware and kubelet yet.");
  }

  /** Zones, CPUs and memory may have changed with a reboot. */
  private static Optional<Refused> inventoryIsOfThisBoot(Input node) {
    return refuseIf(
        !Objects.equals(node.status().bootId, node.nodeBootId()),
        "InventoryOutdated",
        "What is known of the node is from boot %s, and it runs boot %s now: waiting for its agent.",
        Objects.requireNonNullElse(node.status().bootId, "(not reported)"),
        node.nodeBootId());
  }

  private static Optional<Refused> inventoryIsReadable(Input node) {
    try {
      Machine.of(node.status().inventory);
      return Optional.empty();
    } catch (IllegalArgumentException contradiction) {
      return Optional.of(
          new Refused(
              "InventoryUnreadable",
              "The node's inventory cannot be used: %s.".formatted(contradiction.getMessage())));
    }
  }

  private static Optional<Refused> settingsAreKnown(Input node) {
    var effective = node.status().effective;
    return refuseIf(
        effective == null || effective.settings == null,
        "KubeletSettingsUnknown",
        "The settings of the running kubelet are not known%s.",
        node.status().agentError == null ? " yet" : ": " + node.status().agentError);
  }

  private static Optional<Refused> versionIsKnown(Input node) {
    return refuseIf(
        node.version().isEmpty(),
        "KubeletVersionUnknown",
        "The kubelet's version \"%s\" is not understood.",
        Objects.requireNonNullElse(node.kubelet().version, ""));
  }

  private static Optional<Refused> dropInsMergeSafely(Input node) {
    return refuseIf(
        node.agentDelivers()
            && node.version().filter(v -> !gates(node, v).mergesDropInsSafely()).isPresent(),
        "KubeletTooOld",
        "Kubelet %s does not merge drop-in files reliably; 1.32 does. Upgrade the node, or set"
            + " kubelet.delivery External.",
        node.kubelet().version);
  }

  private static Optional<Refused> serviceIsKnown(Input node) {
    return refuseIf(
        node.agentDelivers() && isBlank(node.kubelet().service),
        "NoKubeletService",
        "The kubelet is not a systemd service that the agent could restart. Set kubelet.delivery"
            + " External, and configure it with what the operator renders.");
  }

  private static Optional<Refused> dropInDirectoryIsThere(Input node) {
    return refuseIf(
        node.agentDelivers() && isBlank(node.kubelet().dropInDirectory),
        "NoDropInDirectory",
        "The kubelet runs without --config-dir. Start it with one (for kubeadm: a systemd drop-in of"
            + " %s that adds --config-dir=/etc/kubernetes/kubelet.conf.d, an existing directory), or"
            + " set kubelet.delivery External.",
        node.kubelet().service);
  }

  /** A kubelet that was upgraded under a configuration with it does not start. */
  private static Optional<Refused> noRemovedFeatureGate(Input node) {
    return refuseIf(
        node.featureGates().containsKey("MemoryManager")
            && node.version().filter(v -> !gates(node, v).knowsGateMemoryManager()).isPresent(),
        "RemovedFeatureGate",
        "The kubelet's configuration sets featureGates.MemoryManager, which Kubernetes 1.36 removed:"
            + " kubelet %s does not start with it. Remove it there.",
        node.version().map(KubeletVersion::toString).orElse(""));
  }

  /** The same for a gate that can no longer be switched off. */
  private static Optional<Refused> noLockedFeatureGate(Input node) {
    var locked = node.version().map(v -> gates(node, v).lockedGates()).orElse(List.of());
    return refuseIf(
        !locked.isEmpty(),
        "LockedFeatureGate",
        "The kubelet's configuration switches off %s, which is locked on in kubelet %s: it does not"
            + " start with that. Remove it there.",
        String.join(", ", locked),
        node.version().map(KubeletVersion::toString).orElse(""));
  }

  private static Optional<Refused> evictionCounts(Input node) {
    return refuseIf(
        node.policy().memoryManager.policy == StaticOrNone.Static
            && node.managedByFlag().contains(ManagedField.IGNORE_EVICTION_FLAG),
        "EvictionNotCounted",
        "The kubelet runs with --%s, which takes evictionHard out of what reservedMemory must equal."
            + " Remove that deprecated flag, or set memoryManager.policy None.",
        ManagedField.IGNORE_EVICTION_FLAG);
  }

  /**
   * A kubelet does not run with a state file of another policy. If it seems to, the agent looks at
   * another directory than the kubelet, and would clear files there. During an attempt the two are
   * seen at different moments.
   */
  private static Optional<Refused> stateFilesAgree(Input node) {
    var files = node.status().stateFiles;
    var attempt = node.status().attempt;
    if (files == null || (attempt != null && attempt.result == null)) {
      return Optional.empty();
    }
    var settings = node.status().effective.settings;
    return stateFileAgrees(node, "cpu_manager_state", files.cpuPolicy, settings.cpuManagerPolicy)
        .or(
            () ->
                stateFileAgrees(
                    node,
                    "memory_manager_state",
                    files.memoryPolicy,
                    settings.memoryManagerPolicy));
  }

  private static Optional<Refused> stateFileAgrees(
      Input node, String file, String recorded, String running) {
    return refuseIf(
        recorded != null && running != null && !recorded.equals(running),
        "StateFileMismatch",
        "The kubelet runs with policy %s, but %s in %s says %s: it cannot be the running kubelet's"
            + " file. Check its --root-dir.",
        running,
        file,
        Objects.requireNonNullElse(node.kubelet().rootDirectory, "(unknown directory)"),
        recorded);
  }

  private static VersionGates gates(Input node, KubeletVersion version) {
    return new VersionGates(version, node.featureGates());
  }

  private static boolean isBlank(String text) {
    return text == null || text.isBlank();
  }

  private static Optional<Refused> refuseIf(
      boolean violated, String reason, String message, Object... arguments) {
    return violated
        ? Optional.of(new Refused(reason, message.formatted(arguments)))
        : Optional.empty();
  }
}
