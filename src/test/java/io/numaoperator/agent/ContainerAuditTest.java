package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.agent.PodResources.Allocatable;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.agent.PodResources.Memory;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ContainerAuditTest {
  private static final String GPU = "nvidia.com/gpu";

  @Test
  void countsDevicesByZone() {
    var inventory = inventory();
    ContainerAudit.devices(
        inventory,
        new Allocatable(
            List.of(
                gpu("a", 0),
                gpu("b", 0),
                gpu("c", 1),
                new Device("example.com/nic", "x", Set.of(0, 1)),
                new Device("example.com/fuse", "f", Set.of())),
            CpuSet.EMPTY,
            List.of()));
    assertThat(inventory.gpuCount).isEqualTo(3);
    assertThat(inventory.zones.get(0).devices)
        .extracting(d -> d.resource + "=" + d.count)
        .containsExactly("example.com/nic=1", "nvidia.com/gpu=2");
    assertThat(inventory.zones.get(1).devices)
        .extracting(d -> d.resource + "=" + d.count)
        .containsExactly("example.com/nic=1", "nvidia.com/gpu=1");
    assertThat(inventory.unplacedDevices)
        .extracting(d -> d.resource + "=" + d.count)
        .containsExactly("example.com/fuse=1");
  }

  @Test
  void judgesContainersAndListsTheMisalignedFirst() {
    var result =
        ContainerAudit.containers(
            List.of(
                container("a", CpuSet.of(0, 1), gpu("a", 0)),
                container("b", CpuSet.EMPTY),
                container("c", CpuSet.of(0), gpu("c", 1)),
                container("d", CpuSet.EMPTY, gpu("b", 0))),
            Machine.of(inventory()),
            false);
    assertThat(result.aligned).isEqualTo(1);
    assertThat(result.crossNuma).isEqualTo(1);
    assertThat(result.notPinned).isEqualTo(2);
    assertThat(result.placedLeftOut).isNull();
    assertThat(result.placed).extracting(p -> p.pod).containsExactly("ns/c", "ns/a", "ns/d");
    var worst = result.placed.getFirst();
    assertThat(worst.placement).isEqualTo(Placement.CrossNUMA);
    assertThat(worst.cpus).isEqualTo("0");
    assertThat(worst.cpuZones).containsExactly(0);
    assertThat(worst.deviceZones).containsExactly(1);
    assertThat(worst.devices).extracting(d -> d.resource).containsExactly(GPU);
  }

  /** HAMi's and NVIDIA's ids of shares. */
  @Test
  void namesTheGpusOfSharesToo() {
    var uuid = "GPU-f4c61521-0a1b-2c3d-4e5f-0123456789ab";
    var other = "GPU-ba09367f-0a1b-2c3d-4e5f-0123456789ab";
    var container =
        container(
            "a",
            CpuSet.EMPTY,
            gpu(uuid + "-3", 0),
            gpu(uuid + "::1", 0),
            gpu(other, 0),
            gpu("x", 0));
    var result = ContainerAudit.containers(List.of(container), Machine.of(inventory()), false);
    assertThat(result.placed.getFirst().gpus).containsExactly(other, uuid);
  }

  @Test
  void underScopePodEachContainerIsAsItsPod() {
    var pod =
        List.of(
            container("main", CpuSet.of(0), "gpu", 0),
            container("other", CpuSet.of(2), "gpu2", 1),
            container("pool", CpuSet.EMPTY, "gpu3", 1));
    var machine = Machine.of(inventory());
    assertThat(ContainerAudit.containers(pod, machine, false).aligned).isEqualTo(2);
    var result = ContainerAudit.containers(pod, machine, true);
    assertThat(result.aligned).isZero();
    assertThat(result.crossNuma).isEqualTo(2);
    assertThat(result.notPinned).isEqualTo(1);
  }

  private static Container container(String name, CpuSet cpus, String gpu, int zone) {
    return new Container("ns", "p", name, cpus, List.of(), List.of(gpu(gpu, zone)));
  }

  @Test
  void podsWithClaimsAreUnsupportedAndNeverAligned() {
    var claims =
        List.of(
            new Container("ns", "p", "gpu", CpuSet.of(0), List.of(), List.of(), true),
            new Container("ns", "p", "pinned", CpuSet.of(1), List.of(), List.of(), false),
            new Container("ns", "p", "pool", CpuSet.EMPTY, List.of(), List.of(), false),
            new Container("ns", "q", "claim", CpuSet.EMPTY, List.of(), List.of(), true));
    for (boolean scopePod : new boolean[] {false, true}) {
      var result = ContainerAudit.containers(claims, Machine.of(inventory()), scopePod);
      assertThat(result.aligned).isZero();
      assertThat(result.unsupported).isEqualTo(3);
      assertThat(result.notPinned).isEqualTo(1);
      assertThat(result.placed)
          .hasSize(3)
          .allMatch(placed -> placed.placement == Placement.Unsupported);
    }
  }

  @Test
  void cpusOfNoKnownZoneAreUnknown() {
    var result =
        ContainerAudit.containers(
            List.of(container("a", CpuSet.of(0, 99))), Machine.of(inventory()), false);
    assertThat(result.unknown).isEqualTo(1);
    assertThat(result.aligned + result.crossNuma).isZero();
    assertThat(result.unsupported).isNull();
  }

  @Test
  void tellsTheZonesOfEachDevice() {
    var result =
        ContainerAudit.containers(
            List.of(
                container(
                    "a",
                    CpuSet.of(0),
                    gpu("a", 0),
                    gpu("b", 0),
                    gpu("c", 1),
                    new Device("example.com/nic", "x", Set.of(0, 1)))),
            Machine.of(inventory()),
            false);
    assertThat(result.placed.getFirst().devices)
        .extracting(d -> "%d %s on %s".formatted(d.count, d.resource, d.zones))
        .containsExactly(
            "1 example.com/nic on [0, 1]", "2 nvidia.com/gpu on [0]", "1 nvidia.com/gpu on [1]");
  }

  @Test
  void memoryCounts() {
    var memory = List.of(new Memory("memory", 1L << 30, Set.of(1)));
    var container = new Container("ns", "a", "main", CpuSet.of(0), memory, List.of());
    var result = ContainerAudit.containers(List.of(container), Machine.of(inventory()), false);
    assertThat(result.crossNuma).isEqualTo(1);
    assertThat(result.placed.getFirst().memoryZones).containsExactly(1);
    assertThat(result.placed.getFirst().memory).isEqualTo(1L << 30);
  }

  @Test
  void listsAtMost64AndCountsTheRest() {
    var containers = new ArrayList<Container>();
    for (int i = 0; i < 70; i++) {
      containers.add(container("p" + i, CpuSet.of(0)));
    }
    var result = ContainerAudit.containers(containers, Machine.of(inventory()), false);
    assertThat(result.placed).hasSize(64);
    assertThat(result.placedLeftOut).isEqualTo(6);
    assertThat(result.aligned).isEqualTo(70);
  }

  @Test
  void proofPodsAreNobodysWorkload() {
    var containers = new ArrayList<Container>();
    containers.add(container("p-0", CpuSet.of(0), gpu("a", 1)));
    containers.add(container("p-1", CpuSet.of(1)));
    containers.add(container("llm", CpuSet.of(2)));
    for (int i = 0; i < 5; i++) {
      containers.add(container("web-" + i, CpuSet.EMPTY));
    }
    var result =
        ContainerAudit.containers(
            containers, Machine.of(inventory()), false, Set.of("ns/p-0", "ns/p-1"));
    assertThat(result.placed).extracting(c -> c.pod).containsExactly("ns/llm");
    assertThat(result.proofs).extracting(c -> c.pod).containsExactly("ns/p-0", "ns/p-1");
    assertThat(List.of(result.aligned, result.crossNuma, result.notPinned))
        .containsExactly(1, 0, 5);
  }

  @Test
  void withoutAProofNothingIsApart() {
    var containers = List.of(container("p-0", CpuSet.of(0)));
    var result = ContainerAudit.containers(containers, Machine.of(inventory()), false, Set.of());
    assertThat(result.placed).hasSize(1);
    assertThat(result.aligned).isEqualTo(1);
    assertThat(result.proofs).isNull();
  }

  /** What others hold takes no proof pod off the list. */
  @Test
  void proofPodsAreListedBesideAFullList() {
    var containers = new ArrayList<Container>();
    for (int i = 0; i < 70; i++) {
      containers.add(container("a" + i, CpuSet.of(0)));
    }
    containers.add(container("p-0", CpuSet.of(1)));
    var result =
        ContainerAudit.containers(containers, Machine.of(inventory()), false, Set.of("ns/p-0"));
    assertThat(result.proofs).hasSize(1);
    assertThat(result.placedLeftOut).isEqualTo(6);
    assertThat(result.aligned).isEqualTo(70);
  }

  private static Device gpu(String id, int zone) {
    return new Device(GPU, id, Set.of(zone));
  }

  private static Container container(String pod, CpuSet cpus, Device... devices) {
    return new Container("ns", pod, "main", cpus, List.of(), List.of(devices));
  }

  private static Inventory inventory() {
    var inventory = new Inventory();
    inventory.zones = List.of(zone(0, "0-1", "0", "1"), zone(1, "2-3", "2", "3"));
    inventory.memoryTotal = 2L << 30;
    return inventory;
  }

  private static ZoneFacts zone(int id, String cpus, String... cores) {
    var zone = new ZoneFacts();
    zone.id = id;
    zone.cpus = cpus;
    zone.cores = List.of(cores);
    zone.memory = 1L << 30;
    return zone;
  }
}
