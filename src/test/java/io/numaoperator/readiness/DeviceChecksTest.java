package io.numaoperator.readiness;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.Condition.Status;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.PciDevice;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.plan.device.ConfigMapRef;
import io.numaoperator.plan.device.NodeDevices;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import io.numaoperator.plan.device.Wish;
import io.numaoperator.readiness.NodeEvidence.Agent;
import io.numaoperator.readiness.NodeEvidence.NodeFacts;
import io.numaoperator.readiness.NodeEvidence.Plan;
import io.numaoperator.readiness.NodeEvidence.Scheduler;
import io.numaoperator.readiness.NodeEvidence.Topology;
import io.numaoperator.rollout.Devices;
import io.numaoperator.rollout.Drain;
import io.numaoperator.rollout.NodeProgress;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Target;
import io.numaoperator.rollout.Wait;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two zones with two GPUs each that are well served; then one thing is broken at a time. */
class DeviceChecksTest {
  private static final class World {
    final NumaPolicySpec policy = new NumaPolicySpec();
    final NumaNodeStateStatus observed = new NumaNodeStateStatus();
    Devices devices = new Devices.AsWanted();
    Cordon cordon = new Cordon.None();
    Optional<Wait> waitsFor = Optional.empty();
    Wish wish = new Wish.Nothing();
    List<RunningPlugin> plugins = List.of(plugin(Kind.NVIDIA));
    Optional<String> register = Optional.empty();
    List<String> accounts = List.of();

    World() {
      policy.mode = NumaPolicySpec.Mode.Enforce;
      policy.devicePlugin.provider = Provider.NVIDIA;
      observed.inventory = new Inventory();
      observed.inventory.kubelet = new KubeletFacts();
      observed.inventory.gpuCount = 4;
      observed.inventory.zones = List.of(zone(0), zone(1));
    }

    Verdict judge() {
      return DeviceChecks.CHAIN.judge(
          new NodeEvidence(
              policy,
              false,
              new NodeFacts("n", true, "boot"),
              new Agent.Alive(),
              new Plan.Awaited(),
              new NodeProgress(
                  "n",
                  "",
                  new Target.Reached(),
                  true,
                  cordon,
                  false,
                  true,
                  "boot",
                  Optional.empty(),
                  Optional.empty(),
                  Optional.empty(),
                  List.of(),
                  Optional.empty(),
                  false,
                  false,
                  Drain.NONE,
                  devices),
              waitsFor,
              observed,
              new Topology.Missing(),
              new Scheduler.NotWanted(),
              new DeviceEvidence(
                  wish,
                  new NodeDevices(true, Optional.empty(), Optional.empty(), register, plugins),
                  accounts)));
    }

    void hami(String gpus) {
      policy.devicePlugin.provider = Provider.HAMi;
      plugins = List.of(plugin(Kind.HAMi));
      register = Optional.of(gpus);
    }
  }

  private static ZoneFacts zone(int id) {
    var zone = new ZoneFacts();
    zone.id = id;
    zone.devices = List.of(new DeviceCount("nvidia.com/gpu", 2));
    zone.pci = Stream.generate(DeviceChecksTest::gpu).limit(2).toList();
    return zone;
  }

  private static PciDevice gpu() {
    var device = new PciDevice();
    device.pciClass = "0302";
    return device;
  }

  private static RunningPlugin plugin(Kind kind) {
    return new RunningPlugin(
        kind, "ns", kind + "-1", true, Instant.EPOCH, Set.of(), Map.of(), "i", true);
  }

  private static void assertNo(World world, String reason, String... words) {
    assertThat(world.judge())
        .satisfies(
            verdict -> {
              assertThat(verdict.status()).isEqualTo(Status.False);
              assertThat(verdict.reason()).isEqualTo(reason);
              assertThat(verdict.message()).contains(words);
            });
  }

  @Test
  void allIsWell() {
    assertThat(new World().judge().isTrue()).isTrue();
  }

  @Test
  void twoPluginsOnOneNode() {
    var world = new World();
    world.plugins = List.of(plugin(Kind.NVIDIA), plugin(Kind.HAMi));
    assertNo(world, "DevicePluginsConflict", "HAMi (pod ns/HAMi-1)", "NVIDIA (pod ns/NVIDIA-1)");
    world.policy.devicePlugin.provider = Provider.None;
    assertNo(world, "DevicePluginsConflict", "nodeSelector");
  }

  @Test
  void aPluginThatIsNotThePolicys() {
    var world = new World();
    world.policy.devicePlugin.provider = Provider.HAMi;
    assertNo(world, "OtherDevicePlugin", "HAMi", "NVIDIA's");
    world.policy.devicePlugin.provider = Provider.None;
    assertThat(world.judge().isTrue()).isTrue();
  }

  @Test
  void devicesWithoutZoneAreNotHiddenBySettings() {
    var world = new World();
    world.observed.inventory.unplacedDevices = List.of(new DeviceCount("nvidia.com/gpu", 4));
    world.devices = new Devices.Change("d", Instant.EPOCH);
    assertNo(world, "DevicesWithoutZone", "numa_node -1");
  }

  @Test
  void settingsThatAreToBeLoaded() {
    var world = new World();
    world.devices = new Devices.Change("d", Instant.EPOCH);
    assertNo(world, "Waiting", "what the device plugin loads");
    world.cordon = new Cordon.Ours(1);
    world.waitsFor = Optional.of(new Wait.Pods(List.of("a/b"), Optional.empty(), Optional.empty()));
    assertNo(world, "WaitingForPods", "a/b");
    world.policy.mode = NumaPolicySpec.Mode.Observe;
    assertNo(world, "Differs", "what the device plugin loads");
  }

  @Test
  void settingsThatAreBeingLoadedOrFailed() {
    var world = new World();
    world.devices = new Devices.Loading("d", false, Instant.parse("2026-01-01T00:00:00Z"));
    world.observed.inventory.gpuCount = 0; // as it is then
    assertNo(world, "DevicePluginLoading", "judged at 2026-01-01T00:00:00Z");
    world.observed.inventory.gpuCount = 4;
    world.devices = new Devices.Failed("d");
    assertNo(world, "DevicePluginFailed", "numaoperator.io/device-plugin");
  }

  @Test
  void thePluginDoesNotReadOurConfiguration() {
    var world = new World();
    world.wish =
        new Wish.Load("d", Optional.of("numaoperator-d"), new ConfigMapRef("ns", "ours"), false);
    assertNo(world, "HelmOwnerMustReferToConfig", "ConfigMap ns/ours");
  }

  @Test
  void hamisZonesAreThoseOfTheKernel() {
    var world = new World();
    world.hami(
        "[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\",\"numa\":1},{\"id\":\"d\",\"numa\":1}]");
    assertThat(world.judge().isTrue()).isTrue();
    world.hami(
        "[{\"id\":\"a\"},{\"id\":\"b\",\"numa\":1},{\"id\":\"c\",\"numa\":1},{\"id\":\"d\",\"numa\":1}]");
    assertNo(world, "HAMiZonesDisagree", "zone 1: the kernel sees 2, HAMi says 3");
  }

  /** Absent is 0 or unknown: more of them than the kernel has there are unknown. */
  @Test
  void anAbsentNumaIsNotZoneZero() {
    var world = new World();
    world.hami("[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"c\"},{\"id\":\"d\"}]");
    assertNo(world, "HAMiZonesDisagree", "HAMi says 4 or unknown");
  }

  @Test
  void hamiAccountsForAnotherGpu() {
    var world = new World();
    world.hami("GPU-1,10,7680,100,NVIDIA-Tesla P4,0,true:");
    world.accounts = List.of("pod a/b runs on GPU-1 and HAMi accounts for GPU-2: why");
    assertNo(world, "HAMiAccountsDiffer", "pod a/b runs on GPU-1");
  }

  @Test
  void anotherFormatOfTheAnnotationSaysNothing() {
    var world = new World();
    world.hami("GPU-1,10,7680,100,NVIDIA-Tesla P4,0,true:");
    assertThat(world.judge().isTrue()).isTrue();
  }
}
