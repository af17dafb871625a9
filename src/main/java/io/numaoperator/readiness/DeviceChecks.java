package io.numaoperator.readiness;

import static io.numaoperator.readiness.Chain.when;
import static io.numaoperator.readiness.Waiting.listed;

import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.plan.device.HamiRegister;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import io.numaoperator.plan.device.Wish;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.NodeProgress.Cordon;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether a node's GPUs are given out with their NUMA node, by a plugin with the right settings.
 */
final class DeviceChecks {
  private static final String SETTINGS = "what the device plugin loads";

  static final Chain<NodeEvidence> CHAIN =
      Chain.of(
          List.of(
              NodeReadiness::inventoryIsAwaited,
              NodeReadiness::agentIsSilent,
              DeviceChecks::pluginsConflict,
              DeviceChecks::settingsAreLoaded,
              DeviceChecks::devicesHaveNoZone,
              DeviceChecks::gpusAreNotServed,
              DeviceChecks::gpusDisagreeWithTheKernel,
              DeviceChecks::pluginIsAnother,
              DeviceChecks::settingsFailed,
              DeviceChecks::settingsDiffer,
              DeviceChecks::ownerHasToAct,
              DeviceChecks::hamiDisagreesWithTheKernel,
              DeviceChecks::hamiAccountsDiffer),
          e ->
              e.observed().inventory.gpuCount == 0
                  ? Verdict.yes("NoDevices", "the node has no GPUs that would need a NUMA node")
                  : Verdict.yes(
                      "Reporting",
                      e.observed().inventory.gpuCount + " GPUs report their NUMA node"));

  private DeviceChecks() {}

  // ---- what the kubelet has

  private static Optional<Verdict> devicesHaveNoZone(NodeEvidence e) {
    var unplaced = e.observed().inventory.unplacedDevices;
    return when(
        !unplaced.isEmpty(),
        () ->
            Verdict.no(
                "DevicesWithoutZone",
                "the kubelet does not know the NUMA node of "
                    + describe(unplaced)
                    + ": the device plugin reports no topology (numa_node -1 in sysfs, common in"
                    + " virtual machines), so they cannot be aligned"));
  }

  private static Optional<Verdict> gpusAreNotServed(NodeEvidence e) {
    long seen = e.observed().inventory.zones.stream().mapToLong(DeviceChecks::gpusInKernel).sum();
    return when(
        seen > 0 && e.observed().inventory.gpuCount == 0,
        () ->
            Verdict.no(
                "NoDevicePlugin",
                "the machine has "
                    + seen
                    + " GPUs but the kubelet can hand out none: is the device plugin running?"));
  }

  private static Optional<Verdict> gpusDisagreeWithTheKernel(NodeEvidence e) {
    var differing =
        e.observed().inventory.zones.stream()
            .filter(z -> gpusInKernel(z) > 0 || gpusInKubelet(z) > 0)
            .filter(z -> (gpusInKernel(z) > 0) != (gpusInKubelet(z) > 0))
            .map(
                z ->
                    "zone "
                        + z.id
                        + ": the kernel sees "
                        + gpusInKernel(z)
                        + ", the kubelet has "
                        + gpusInKubelet(z))
            .toList();
    return when(
        e.observed().inventory.zones.stream().mapToLong(DeviceChecks::gpusInKernel).sum() > 0
            && !differing.isEmpty(),
        () -> Verdict.no("DeviceZonesDisagree", "GPUs per zone: " + listed(differing)));
  }

  /** Display and 3D controllers (PCI class 03) and processing accelerators (12). */
  private static long gpusInKernel(ZoneFacts zone) {
    return zone.pci.stream()
        .filter(
            d ->
                d.pciClass != null
                    && (d.pciClass.startsWith("0302") || d.pciClass.startsWith("12")))
        .count();
  }

  private static long gpusInKubelet(ZoneFacts zone) {
    return zone.devices.stream()
        .filter(d -> d.resource.endsWith("/gpu"))
        .mapToLong(d -> d.count)
        .sum();
  }

  private static String describe(List<DeviceCount> devices) {
    return devices.stream().map(d -> d.count + " " + d.resource).collect(Collectors.joining(", "));
  }

  // ---- the plugins

  /** Both register nvidia.com/gpu through the same socket: the last one wins, at each start. */
  private static Optional<Verdict> pluginsConflict(NodeEvidence e) {
    var plugins = e.devices().seen().plugins();
    return when(
        plugins.stream().map(RunningPlugin::kind).distinct().count() > 1,
        () ->
            Verdict.no(
                "DevicePluginsConflict",
                "several plugins give out nvidia.com/gpu on this node, and the last one to start"
                    + " wins: "
                    + plugins.stream()
                        .map(p -> "%s (pod %s/%s)".formatted(p.kind(), p.namespace(), p.pod()))
                        .sorted()
                        .collect(Collectors.joining(", "))
                    + ": keep one of them off the node, by its nodeSelector"));
  }

  private static Optional<Verdict> pluginIsAnother(NodeEvidence e) {
    var wanted = e.policy().devicePlugin.provider;
    var plugins = e.devices().seen().plugins();
    return when(
        wanted != Provider.None
            && !plugins.isEmpty()
            && plugins.stream().noneMatch(p -> p.kind().name().equals(wanted.name())),
        () ->
            Verdict.no(
                "OtherDevicePlugin",
                "the policy has devicePlugin.provider %s, and pod %s/%s is %s's"
                    .formatted(
                        wanted,
                        plugins.getFirst().namespace(),
                        plugins.getFirst().pod(),
                        plugins.getFirst().kind())));
  }

  private static Optional<Verdict> settingsAreLoaded(NodeEvidence e) {
    return e.progress().devices() instanceof Devices.Loading loading
        ? Optional.of(
            Verdict.no(
                "DevicePluginLoading",
                "the device plugin loads its settings (%s); judged at %s"
                    .formatted(loading.hash(), loading.settles())))
        : Optional.empty();
  }

  private static Optional<Verdict> settingsFailed(NodeEvidence e) {
    return e.progress().devices() instanceof Devices.Failed failed
        ? Optional.of(
            Verdict.no(
                "DevicePluginFailed",
                "the devices did not come back in time with the settings %s; they are not tried again until others are wanted, or the Node's annotation numaoperator.io/device-plugin is removed: look at the plugin's log"
                    .formatted(failed.hash())))
        : Optional.empty();
  }

  private static Optional<Verdict> settingsDiffer(NodeEvidence e) {
    if (!(e.progress().devices() instanceof Devices.Change)) {
      return Optional.empty();
    }
    if (e.policy().mode == Mode.Observe) {
      return Optional.of(
          Verdict.no("Differs", "mode Observe changes nothing; Enforce would change " + SETTINGS));
    }
    if (e.progress().skipped() || e.paused()) {
      return Optional.of(
          Verdict.no(
              e.paused() ? "Paused" : "Skipped", "left alone as asked; it differs in " + SETTINGS));
    }
    return Optional.of(
        switch (e.progress().cordon()) {
          case Cordon.Ours ours -> Waiting.cordoned(ours.attempt(), e.waitsFor());
          case Cordon.Foreign foreign ->
              Verdict.no(
                  "CordonedByOthers",
                  "somebody else cordoned the node; it is changed when they uncordon it");
          case Cordon.None none -> Waiting.inService(e.waitsFor(), SETTINGS);
        });
  }

  private static Optional<Verdict> ownerHasToAct(NodeEvidence e) {
    return when(
        e.devices().wish() instanceof Wish.Load load && !load.reachable(),
        () ->
            Verdict.no(
                "HelmOwnerMustReferToConfig",
                "the node's device plugin does not mount ConfigMap %s yet; the policy's condition DevicesReporting has the command for its owner"
                    .formatted(((Wish.Load) e.devices().wish()).from())));
  }

  // ---- HAMi's own view

  /** The very thing that HAMi's refit is for. */
  private static Optional<Verdict> hamiAccountsDiffer(NodeEvidence e) {
    return when(
        !e.devices().accounts().isEmpty(),
        () -> Verdict.no("HAMiAccountsDiffer", listed(e.devices().accounts())));
  }

  /** An absent numa is 0 or unknown: where the kernel has fewer GPUs in zone 0, it is unknown. */
  private static Optional<Verdict> hamiDisagreesWithTheKernel(NodeEvidence e) {
    var register = e.devices().seen().register().flatMap(HamiRegister::parse);
    if (register.isEmpty() || e.devices().seen().plugin(Kind.HAMi).isEmpty()) {
      return Optional.empty();
    }
    var differing = new ArrayList<String>();
    for (var zone : e.observed().inventory.zones) {
      long said =
          register.get().gpus().stream()
              .filter(gpu -> gpu.numa().orElse(0).equals(zone.id))
              .count();
      if (said != gpusInKernel(zone)) {
        differing.add(
            "zone %d: the kernel sees %d, HAMi says %d%s"
                .formatted(zone.id, gpusInKernel(zone), said, zone.id == 0 ? " or unknown" : ""));
      }
    }
    return when(
        !differing.isEmpty(),
        () ->
            Verdict.no(
                "HAMiZonesDisagree",
                "GPUs per zone in the annotation hami.io/node-nvidia-register: "
                    + listed(differing)
                    + ": HAMi's scheduler would choose by wrong zones"));
  }
}
