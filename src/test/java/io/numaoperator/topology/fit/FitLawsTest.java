package io.numaoperator.topology.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.Fit.DoesNotFit;
import io.numaoperator.topology.fit.Fit.Fits;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What holds for every node and pod. */
class FitLawsTest {
  private static final int RUNS = 3000;

  private final Random random = new Random(20250601);

  @Test
  void aPodThatFitsNeverTakesMoreThanAZoneHas() {
    int fits = 0;
    for (int run = 0; run < RUNS; run++) {
      var node = node(any(List.of(Policy.values())));
      if (Fit.of(node, pod()) instanceof Fits fit) {
        fits++;
        for (int i = 0; i < node.zones().size(); i++) {
          var before = node.zones().get(i);
          var after = fit.after().zones().get(i);
          assertThat(after.freeCpus()).isBetween(0, before.freeCpus());
          assertThat(after.memory().get("memory").free())
              .isBetween(0L, before.memory().get("memory").free());
        }
        for (int i = 0; i < node.devices().size(); i++) {
          assertThat(fit.after().devices().get(i).free())
              .isBetween(0, node.devices().get(i).free());
        }
      }
    }
    assertThat(fits).isGreaterThan(RUNS / 5);
  }

  /** One zone per container; and under scope pod one zone for all. */
  @Test
  void underSingleNumaNodeAContainerHasOneZone() {
    int fits = 0;
    for (int run = 0; run < RUNS; run++) {
      var node = node(Policy.SingleNumaNode);
      if (node.zones().size() > 1 && Fit.of(node, pod()) instanceof Fits fit) {
        fits++;
        for (var place : fit.containers()) {
          assertThat(place.zones().size()).isLessThanOrEqualTo(1);
          assertThat(place.preferred()).isTrue();
        }
        if (node.rules().scope() == Scope.Pod) {
          assertThat(fit.zones().size()).isLessThanOrEqualTo(1);
        }
      }
    }
    assertThat(fits).isGreaterThan(RUNS / 5);
  }

  /** Only with scope pod: for a container freed CPUs can move its neighbour to a worse zone. */
  @Test
  void underSingleNumaNodeFreeingNeverMakesAPodUnfit() {
    int fits = 0;
    for (int run = 0; run < RUNS; run++) {
      var node = node(Policy.SingleNumaNode);
      var pod = pod();
      if (node.rules().scope() == Scope.Pod && !(Fit.of(node, pod) instanceof DoesNotFit)) {
        fits++;
        var gone = pod();
        int zone = node.zones().get(random.nextInt(node.zones().size())).id();
        assertThat(Fit.of(node.without(gone, zone), pod)).isNotInstanceOf(DoesNotFit.class);
        assertThat(Fit.of(node.empty(), pod)).isNotInstanceOf(DoesNotFit.class);
      }
    }
    assertThat(fits).isGreaterThan(RUNS / 10);
  }

  @Test
  void bestEffortAdmitsWhatTheStricterPoliciesAdmit() {
    int fits = 0;
    for (int run = 0; run < RUNS; run++) {
      var strict = node(Policy.SingleNumaNode);
      var pod = pod();
      if (pod.containers().size() == 1 && Fit.of(strict, pod) instanceof Fits) {
        fits++;
        assertThat(Fit.of(with(strict, Policy.Restricted), pod)).isInstanceOf(Fits.class);
        assertThat(Fit.of(with(strict, Policy.BestEffort), pod)).isInstanceOf(Fits.class);
        assertThat(Fit.of(with(strict, Policy.None), pod)).isInstanceOf(Fits.class);
      }
    }
    assertThat(fits).isGreaterThan(RUNS / 10);
  }

  private static NodeFree with(NodeFree node, Policy policy) {
    return new NodeFree(
        KubeletRules.of(policy, node.rules().scope()), node.zones(), node.devices());
  }

  private NodeFree node(Policy policy) {
    var zones = new ArrayList<ZoneFree>();
    var devices = new ArrayList<DeviceFree>();
    int count = 1 + random.nextInt(4);
    for (int id = 0; id < count; id++) {
      int cpus = 4 + 2 * random.nextInt(4);
      int free = random.nextInt(cpus);
      long memory = 1000L + random.nextInt(1000);
      boolean used = random.nextBoolean();
      zones.add(
          new ZoneFree(
              3 * id,
              cpus,
              cpus - 1,
              free,
              free,
              Map.of("memory", new ZoneFree.Memory(memory, used ? random.nextInt(1000) : memory)),
              used ? Set.of(3 * id) : Set.of(),
              Map.of()));
      int total = random.nextInt(5);
      devices.add(
          new DeviceFree("gpu", Set.of(3 * id), total, total == 0 ? 0 : random.nextInt(total + 1)));
    }
    return new NodeFree(
        KubeletRules.of(policy, random.nextBoolean() ? Scope.Pod : Scope.Container),
        zones,
        devices);
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private PodRequest pod() {
    var containers = new ArrayList<ContainerRequest>();
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      var devices = new HashMap<String, Long>();
      if (random.nextInt(3) > 0) {
        devices.put("gpu", 1L + random.nextInt(2));
      }
      containers.add(
          new ContainerRequest(
              "c" + i,
              i == count - 1 ? Kind.App : any(List.of(Kind.values())),
              2000L * (1L + random.nextInt(2)),
              Map.of("memory", 50L + random.nextInt(500)),
              devices));
    }
    containers.sort((a, b) -> Boolean.compare(a.kind() == Kind.App, b.kind() == Kind.App));
    return new PodRequest(random.nextInt(8) > 0, false, List.copyOf(containers));
  }
}
