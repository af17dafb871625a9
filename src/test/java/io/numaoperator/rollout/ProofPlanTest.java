package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.rollout.Proof.Ask;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.TestMachine;
import io.numaoperator.topology.fit.ContainerRequest;
import io.numaoperator.topology.fit.DeviceFree;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.Fit.Fits;
import io.numaoperator.topology.fit.KubeletRules;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;
import io.numaoperator.topology.fit.ZoneFree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProofPlanTest {
  private static final String GPU = "nvidia.com/gpu";
  private static final String NIC = "example.com/nic";

  private final KubeletFragment kubelet = kubelet("0,8");
  private CpuSet held = CpuSet.EMPTY;

  @Test
  void asksForMoreThanHalfOfAZoneAndOneGpuInEach() {
    var inventory = TestMachine.zones(2).inventory(); // 4 cores of 2 threads a zone
    device(inventory, 0, GPU, 4);
    device(inventory, 0, "a.example.com/first", 4);
    device(inventory, 1, GPU, 4);
    assertThat(asks(inventory))
        .containsExactly(
            new Ask("ns/p-0", 6, Optional.of(GPU)), new Ask("ns/p-1", 6, Optional.of(GPU)));
  }

  /**
   * One without a device would take the place of one that finds its device nowhere else, and so
   * would one with a NIC that of one with a GPU.
   */
  @Test
  void podsWithADeviceComeFirst() {
    var inventory = TestMachine.zones(3).inventory();
    device(inventory, 1, NIC, 1);
    device(inventory, 2, NIC, 1);
    device(inventory, 2, GPU, 2);
    assertThat(asks(inventory))
        .extracting(ask -> ask.device().orElse(""))
        .containsExactly(GPU, NIC, "");
  }

  @Test
  void noMoreOfADeviceIsAskedForThanThereIs() {
    var inventory = TestMachine.zones(2).inventory();
    device(inventory, 0, GPU, 1); // the same on both zones
    device(inventory, 1, GPU, 1);
    assertThat(asks(inventory, Map.of(GPU, 1L)))
        .extracting(ask -> ask.device().orElse(""))
        .containsExactly(GPU, "");
    assertThat(asks(inventory, Map.of()))
        .extracting(ask -> ask.device().orElse(""))
        .containsExactly("", "");
  }

  @Test
  void aZoneThatHasFarFewerCpusThanAnotherIsNotShown() {
    kubelet.reservedSystemCPUs = "0-2,8-10"; // leaves 2 of 8 in zone 0
    assertThat(asks(TestMachine.zones(2).inventory())).hasSize(1);
  }

  /** A Guaranteed pod of a DaemonSet has CPUs of its own from the change on. */
  @Test
  void takesNoCpusThatOtherPodsHave() {
    held = CpuSet.of(1, 4, 5); // leaves 5 and 6
    assertThat(asks(TestMachine.zones(2).inventory())).hasSize(2).allMatch(ask -> ask.cpus() == 4);
    held = CpuSet.of(1, 2, 9, 10); // leaves 2 and 8
    assertThat(asks(TestMachine.zones(2).inventory())).hasSize(1);
  }

  @Test
  void zonesWithoutCpusAreNotShown() {
    var inventory = TestMachine.zones(3).inventory();
    inventory.zones.get(2).cpus = "";
    inventory.zones.get(2).cores = List.of();
    assertThat(asks(inventory)).hasSize(2);
  }

  @Test
  void isNotNeededWhereNothingIsAligned() {
    kubelet.cpuManagerPolicy = "none";
    assertThat(plan()).isInstanceOf(ProofPlan.NotNeeded.class);
    kubelet.cpuManagerPolicy = "static";
    kubelet.topologyManagerPolicy = null;
    assertThat(plan()).isInstanceOf(ProofPlan.NotNeeded.class);
    kubelet.topologyManagerPolicy = "restricted";
    kubelet.cpuManagerPolicyOptions = Map.of("align-by-socket", "true");
    assertThat(plan()).isInstanceOf(ProofPlan.NotNeeded.class);
    kubelet.cpuManagerPolicyOptions = Map.of("align-by-socket", "false");
    assertThat(plan()).isInstanceOf(ProofPlan.Pods.class);
  }

  @Test
  void isImpossibleWhereFreeCpusAreNotKnownOrThereAreNone() {
    kubelet.reservedSystemCPUs = null;
    assertThat(plan()).isInstanceOf(ProofPlan.Impossible.class);
    kubelet.reservedSystemCPUs = "0-15";
    assertThat(plan()).isInstanceOf(ProofPlan.Impossible.class);
  }

  private ProofPlan plan() {
    return ProofPlan.of(TestMachine.zones(2).machine(), kubelet, CpuSet.EMPTY, Map.of(), "ns/p");
  }

  private List<Ask> asks(Inventory inventory) {
    return asks(inventory, Map.of(GPU, 8L, NIC, 8L, "a.example.com/first", 8L));
  }

  private List<Ask> asks(Inventory inventory, Map<String, Long> devices) {
    return ((ProofPlan.Pods) ProofPlan.of(Machine.of(inventory), kubelet, held, devices, "ns/p"))
        .asks();
  }

  private static KubeletFragment kubelet(String reserved) {
    var kubelet = new KubeletFragment();
    kubelet.cpuManagerPolicy = "static";
    kubelet.topologyManagerPolicy = "single-numa-node";
    kubelet.memoryManagerPolicy = "Static";
    kubelet.reservedSystemCPUs = reserved;
    return kubelet;
  }

  private static void device(Inventory inventory, int zone, String resource, int count) {
    inventory.zones.get(zone).devices.add(new DeviceCount(resource, count));
  }

  /**
   * By the model of the kubelet that the lab has confirmed (FitOracleLabTest): whatever the
   * machine, the policy and the order in which pods that ask for the same arrive, each is admitted,
   * on one zone, and no two on the same.
   */
  @Test
  void eachPodHasAZoneOfItsOwnOnEveryMachine() {
    var random = new Random(7);
    int pods = 0;
    int unlike = 0;
    for (int run = 0; run < 3000; run++) {
      var machine = new RandomMachine(random);
      if (!(ProofPlan.of(
              Machine.of(machine.inventory),
              machine.kubelet,
              CpuSet.EMPTY,
              Map.of(GPU, 99L, NIC, 99L),
              "ns/p")
          instanceof ProofPlan.Pods(var asks))) {
        continue;
      }
      unlike += asks.stream().map(Ask::device).distinct().count() > 1 ? 1 : 0;
      var free = machine.free;
      var taken = new HashSet<Integer>();
      for (var ask : shuffled(asks, random)) {
        var fit = Fit.of(free, request(ask));
        assertThat(fit).as("%s of %s on %s", ask, asks, machine.free).isInstanceOf(Fits.class);
        var zones = ((Fits) fit).zones();
        // a machine of one zone: no opinion means that zone
        var there = zones.isEmpty() ? Set.of(machine.inventory.zones.getFirst().id) : zones;
        assertThat(there).as("%s of %s on %s", ask, asks, machine.free).hasSize(1);
        assertThat(taken.addAll(there)).as("%s of %s on %s", ask, asks, machine.free).isTrue();
        free = ((Fits) fit).after();
        pods++;
      }
    }
    assertThat(pods).isGreaterThan(3000);
    assertThat(unlike).isGreaterThan(100);
  }

  /** Those that ask for the same arrive in any order; others wait for them. */
  private static List<Ask> shuffled(List<Ask> asks, Random random) {
    var order = new ArrayList<Ask>();
    for (int from = 0; from < asks.size(); ) {
      int to = from;
      while (to < asks.size() && asks.get(to).device().equals(asks.get(from).device())) {
        to++;
      }
      var alike = new ArrayList<>(asks.subList(from, to));
      Collections.shuffle(alike, random);
      order.addAll(alike);
      from = to;
    }
    return order;
  }

  private static PodRequest request(Ask ask) {
    return new PodRequest(
        true,
        false,
        List.of(
            new ContainerRequest(
                "proof",
                ContainerRequest.Kind.App,
                ask.cpus() * 1000L,
                Map.of("memory", 32 * Bytes.MI),
                ask.device().map(resource -> Map.of(resource, 1L)).orElse(Map.of()))));
  }

  /** A machine, what its kubelet keeps, and the same as the kubelet's model sees it. */
  private static final class RandomMachine {
    final Inventory inventory;
    final KubeletFragment kubelet;
    final NodeFree free;

    RandomMachine(Random random) {
      int threads = 1 + random.nextInt(2);
      inventory =
          TestMachine.zones(1 + random.nextInt(4))
              .coresPerZone(1 + random.nextInt(8))
              .threads(threads)
              .inventory();
      var kept = CpuSet.EMPTY;
      for (var zone : inventory.zones) {
        for (var core : zone.cores) {
          if (random.nextInt(5) == 0) {
            var cpus = CpuSet.parse(core);
            kept = kept.union(random.nextInt(3) == 0 ? CpuSet.of(cpus.lowest()) : cpus);
          }
        }
        for (var resource : List.of(GPU, NIC)) {
          if (random.nextInt(3) == 0) {
            device(inventory, zone.id, resource, 1 + random.nextInt(3));
          }
        }
      }
      kubelet = kubelet(kept.isEmpty() ? "0" : kept.format());
      kept = CpuSet.parse(kubelet.reservedSystemCPUs);
      boolean whole = random.nextBoolean();
      kubelet.cpuManagerPolicyOptions = Map.of("full-pcpus-only", Boolean.toString(whole));
      var policies = List.of(Policy.BestEffort, Policy.Restricted, Policy.SingleNumaNode);
      var rules =
          new KubeletRules(
              policies.get(random.nextInt(3)),
              Scope.values()[random.nextInt(2)],
              true,
              random.nextBoolean(),
              whole,
              threads,
              false);
      free = free(rules, kept);
    }

    private NodeFree free(KubeletRules rules, CpuSet kept) {
      var zones = new ArrayList<ZoneFree>();
      var devices = new ArrayList<DeviceFree>();
      for (var zone : Machine.of(inventory).zones()) {
        int left = zone.cpus().minus(kept).size();
        int cores =
            zone.cores().stream()
                .filter(core -> core.intersect(kept).isEmpty())
                .mapToInt(CpuSet::size)
                .sum();
        var memory = new HashMap<String, ZoneFree.Memory>();
        memory.put("memory", new ZoneFree.Memory(8 * Bytes.GI, 8 * Bytes.GI));
        zones.add(
            new ZoneFree(
                zone.id(), zone.cpus().size(), left, left, cores, memory, Set.of(), Map.of()));
        zone.devices()
            .forEach(
                (resource, count) ->
                    devices.add(new DeviceFree(resource, Set.of(zone.id()), count, count)));
      }
      return new NodeFree(rules, zones, devices);
    }
  }
}
