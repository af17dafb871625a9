package io.numaoperator.preflight;

import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaNodeStateStatus.PciDevice;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.ManagedField;
import io.numaoperator.kubelet.VersionGates;
import io.numaoperator.plan.delivery.DeliveryChoice;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.preflight.Preflight.Input;
import io.numaoperator.topology.Machine;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/** What must hold on a node before anything can be planned for it. */
final class NodeChecks {
  static final List<Function<Input, Optional<Refused>>> ALL =
      List.of(
          NodeChecks::inventoryIsThere,
          NodeChecks::inventoryIsOfThisBoot,
          NodeChecks::inventoryIsReadable,
          NodeChecks::settingsAreKnown,
          NodeChecks::versionIsKnown,
          NodeChecks::deliveryFitsThePlatform,
          NodeChecks::dropInsMergeSafelyOrTheMainFileCanBeEdited,
          NodeChecks::serviceIsKnown,
          NodeChecks::dropInDirectoryIsThere,
          NodeChecks::noRemovedFeatureGate,
          NodeChecks::noLockedFeatureGate,
          NodeChecks::evictionCounts,
          NodeChecks::stateFilesAgree,
          NodeChecks::devicesComeWithHints);

  private NodeChecks() {}

  private static Optional<Refused> inventoryIsThere(Input node) {
    var inventory = node.status().inventory;
    return Checks.refuseIf(
        inventory == null || inventory.kubelet == null,
        "InventoryMissing",
        "The node's agent has not reported the node's hardware and kubelet yet.");
  }

  /** Zones, CPUs and memory may have changed with a reboot. */
  private static Optional<Refused> inventoryIsOfThisBoot(Input node) {
    return Checks.refuseIf(
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
    return Checks.refuseIf(
        effective == null || effective.settings == null,
        "KubeletSettingsUnknown",
        "The settings of the running kubelet are not known%s.",
        node.status().agentError == null ? " yet" : ": " + node.status().agentError);
  }

  private static Optional<Refused> versionIsKnown(Input node) {
    return Checks.refuseIf(
        node.version().isEmpty(),
        "KubeletVersionUnknown",
        "The kubelet's version \"%s\" is not understood.",
        Objects.requireNonNullElse(node.kubelet().version, ""));
  }

  /** Two writers of one kubelet undo each other's work, and restart it each time. */
  private static Optional<Refused> deliveryFitsThePlatform(Input node) {
    var platform = node.kubelet().platform;
    if (platform == null) {
      return Optional.empty();
    }
    return switch (node.delivery()) {
      case Auto, External -> Optional.empty();
      case Agent ->
          Checks.refuseIf(
              DeliveryChoice.natural(platform) != Delivery.Agent,
              "ManagedByPlatform",
              "The node's kubelet is configured by %s, which would undo what the agent writes. Set"
                  + " kubelet.delivery %s, or Auto.",
              platform,
              DeliveryChoice.natural(platform));
      case OpenShift ->
          Checks.refuseIf(
              platform != Platform.OpenShift,
              "NotOpenShift",
              "The node is not managed by OpenShift's Machine Config Operator (it is recognised as"
                  + " %s). Set kubelet.delivery %s, or Auto.",
              platform,
              DeliveryChoice.natural(platform));
    };
  }

  /** Kubelets before 1.32 get it into their main file: see {@link VersionGates}. */
  private static Optional<Refused> dropInsMergeSafelyOrTheMainFileCanBeEdited(Input node) {
    return Checks.refuseIf(
        node.agentDelivers()
            && !mergesSafely(node)
            && (isBlank(node.kubelet().configFile)
                || node.status().files == null
                || !isBlank(node.kubelet().dropInDirectory)),
        "KubeletTooOld",
        "Kubelet %s does not merge drop-in files reliably (1.32 does), and its main file cannot be"
            + " edited instead: there is none that the agent sees, or drop-ins are merged over it."
            + " Upgrade the node, or set kubelet.delivery External.",
        node.kubelet().version);
  }

  private static boolean mergesSafely(Input node) {
    return node.version().filter(v -> gates(node, v).mergesDropInsSafely()).isPresent();
  }

  private static Optional<Refused> serviceIsKnown(Input node) {
    return Checks.refuseIf(
        node.agentDelivers() && isBlank(node.kubelet().service),
        "NoKubeletService",
        "The kubelet is not a systemd service that the agent could restart. Set kubelet.delivery"
            + " External, and configure it with what the operator renders.");
  }

  private static Optional<Refused> dropInDirectoryIsThere(Input node) {
    return Checks.refuseIf(
        node.agentDelivers()
            && mergesSafely(node)
            && isBlank(node.kubelet().dropInDirectory)
            && isBlank(node.kubelet().newDropInDirectory),
        "NoDropInDirectory",
        "The kubelet runs without --config-dir, and the command of %s cannot be given one by itself"
            + " (it is not one plain command). Start the kubelet with"
            + " --config-dir=/etc/kubernetes/kubelet.conf.d, an existing directory, or set"
            + " kubelet.delivery External.",
        node.kubelet().service);
  }

  /** A kubelet that was upgraded under a configuration with it does not start. */
  private static Optional<Refused> noRemovedFeatureGate(Input node) {
    return Checks.refuseIf(
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
    return Checks.refuseIf(
        !locked.isEmpty(),
        "LockedFeatureGate",
        "The kubelet's configuration switches off %s, which is locked on in kubelet %s: it does not"
            + " start with that. Remove it there.",
        String.join(", ", locked),
        node.version().map(KubeletVersion::toString).orElse(""));
  }

  private static Optional<Refused> evictionCounts(Input node) {
    return Checks.refuseIf(
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
    return Checks.refuseIf(
        recorded != null && running != null && !recorded.equals(running),
        "StateFileMismatch",
        "The kubelet runs with policy %s, but %s in %s says %s: it cannot be the running kubelet's"
            + " file. Check its --root-dir.",
        running,
        file,
        Objects.requireNonNullElse(node.kubelet().rootDirectory, "(unknown directory)"),
        recorded);
  }

  /**
   * The kubelet's DRA manager gives no topology hints (cm/container_manager_linux.go): with a
   * strict policy pods would be admitted as if aligned.
   */
  private static Optional<Refused> devicesComeWithHints(Input node) {
    var inventory = node.status().inventory;
    var drivers = Objects.requireNonNullElse(inventory.kubelet.draDrivers, List.<String>of());
    boolean strict =
        switch (node.policy().topologyManager.policy) {
          case SingleNUMANode, Restricted -> true;
          case BestEffort, None -> false;
        };
    long gpus =
        inventory.zones.stream().flatMap(z -> z.pci.stream()).filter(NodeChecks::isGpu).count();
    return Checks.refuseIf(
        strict
            && gpus > 0
            && !drivers.isEmpty()
            && Objects.requireNonNullElse(inventory.gpuCount, 0) == 0,
        "DevicesThroughDRA",
        "The node's %d GPUs are not handed out by a device plugin, and DRA drivers are there (%s): the"
            + " kubelet aligns nothing that comes through a ResourceClaim. Serve them by a device"
            + " plugin, or set topologyManager.policy BestEffort or None for this node's policy.",
        gpus,
        String.join(", ", drivers));
  }

  /** PCI classes 0302 (3D controller) and 12 (processing accelerator). */
  private static boolean isGpu(PciDevice device) {
    return device.pciClass != null
        && (device.pciClass.startsWith("0302") || device.pciClass.startsWith("12"));
  }

  private static VersionGates gates(Input node, KubeletVersion version) {
    return new VersionGates(version, node.featureGates());
  }

  private static boolean isBlank(String text) {
    return text == null || text.isBlank();
  }
}
