package io.numaoperator.plan.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletFragment.MemoryReservation;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.ConfigFiles;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.preflight.Preflight;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.Machine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Whatever a kubelet would exit on, preflight refuses, whoever made the fragment; and it refuses
 * nothing that was planned. The kubelet is {@link FakeKubelet}.
 */
class PreflightLawTest {
  private static final int CASES = 1500;

  @Test
  void preflightKnowsWhatTheKubeletExitsOn() {
    var refusals = new TreeMap<String, Integer>();
    int started = 0;
    for (int seed = 0; seed < CASES; seed++) {
      var random = new Random(seed);
      var world = new World(random);
      if (!(world.plan() instanceof Planned planned)) {
        continue;
      }
      assertThat(world.preflight(planned.fragment())).as("seed %d", seed).isEmpty();
      var damaged = damaged(planned.fragment(), random);
      var exit = world.start(damaged).exit();
      var refused = world.preflight(damaged);
      refused.ifPresent(r -> refusals.merge(r.reason(), 1, Integer::sum));
      if (exit.isPresent()) {
        assertThat(refused).as("seed %d: %s", seed, exit).isPresent();
      } else if (refused.isEmpty()) {
        started++;
      } else {
        // the agent's own rules are stricter than the kubelet's
        assertThat(refused.get().reason()).as("seed %d", seed).isEqualTo("FragmentNotAllowed");
      }
    }
    assertThat(started).isGreaterThan(50);
    assertThat(refusals.keySet())
        .contains(
            "AlignBySocketImpossible",
            "FragmentNotAllowed",
            "MemoryBeyondNode",
            "MemoryBeyondZone",
            "MemoryZoneUnknown",
            "NoReservedCpus",
            "OptionsExclusive",
            "ReservedCgroupConflict",
            "ReservedCpusNotOnNode",
            "ReservedMemoryUnequal",
            "TooManyZones",
            "UnsupportedOption");
  }

  /** One thing is not as the planner made it. */
  private static KubeletFragment damaged(KubeletFragment fragment, Random random) {
    switch (random.nextInt(11)) {
      case 0 -> fragment.reservedSystemCPUs = "0,9999";
      case 1 -> fragment.reservedSystemCPUs = null;
      case 2 -> {
        fragment.kubeReservedCgroup = null;
        fragment.systemReservedCgroup = null;
        fragment.enforceNodeAllocatable = null;
      }
      case 3 -> option(fragment, "distribute-cpus-across-cores");
      case 4 -> option(fragment, "align-by-socket");
      case 5 -> {
        option(fragment, "distribute-cpus-across-numa");
        option(fragment, "prefer-align-cpus-by-uncorecache");
      }
      case 6 -> fragment.topologyManagerPolicyOptions = null;
      case 7 -> forgetKubeReserved(fragment);
      case 8 -> reserve(fragment, 77, 0);
      case 9 -> reserve(fragment, -1, 1L << 43);
      default -> {
        fragment.memoryManagerPolicy = "None";
        fragment.systemReserved = Map.of("memory", "100Ti");
      }
    }
    return fragment;
  }

  /** The sum is right in itself, but the main file's kubeReserved comes on top. */
  private static void forgetKubeReserved(KubeletFragment fragment) {
    if (fragment.kubeReserved != null) {
      var system =
          plus(
              fragment.systemReserved.get("memory"),
              Bytes.parse(fragment.kubeReserved.get("memory")).orElseThrow());
      fragment.kubeReserved = null;
      fragment.systemReserved = Map.of("memory", system);
    }
  }

  private static void option(KubeletFragment fragment, String name) {
    var options = new HashMap<String, String>();
    if (fragment.cpuManagerPolicyOptions != null) {
      options.putAll(fragment.cpuManagerPolicyOptions);
    }
    options.put(name, "true");
    fragment.cpuManagerPolicyOptions = options;
  }

  /** Adds to the first reservation and to the other side of the sum, or moves it to a zone. */
  private static void reserve(KubeletFragment fragment, int zone, long more) {
    if (fragment.reservedMemory == null || fragment.reservedMemory.isEmpty()) {
      return;
    }
    var reservations = new ArrayList<>(fragment.reservedMemory);
    var first = reservations.removeFirst();
    reservations.add(
        new MemoryReservation(
            zone < 0 ? first.numaNode : zone, plus(first.limits.get("memory"), more)));
    fragment.reservedMemory = List.copyOf(reservations);
    fragment.systemReserved =
        Map.of("memory", plus(fragment.systemReserved.getOrDefault("memory", "0"), more));
  }

  private static String plus(String amount, long more) {
    return Long.toString(Bytes.parse(amount).orElseThrow() + more);
  }

  /** A node whose kubelet runs with a random main file. */
  private static final class World {
    final int minor;
    final Inventory inventory;
    final JsonNode mainFile;
    final KubeletPolicy policy;

    World(Random random) {
      this.minor = 32 + random.nextInt(6);
      this.inventory = RandomMachine.of(random);
      this.mainFile = RandomMainFile.of(minor, Machine.of(inventory), random);
      this.policy = new RandomPolicies(random, Machine.of(inventory)).policy();
    }

    FakeKubelet start(KubeletFragment fragment) {
      return FakeKubelet.of(minor, Machine.of(inventory), mainFile, DropIn.render(fragment));
    }

    KubeletPlan plan() {
      return KubeletPlanner.plan(
          policy, Machine.of(inventory), status().effective, new KubeletVersion(1, minor, 0));
    }

    Optional<KubeletPlan.Refused> preflight(KubeletFragment fragment) {
      return Preflight.check(new Preflight.Input(policy, status(), "boot"), fragment);
    }

    private NumaNodeStateStatus status() {
      var configz = FakeKubelet.of(minor, Machine.of(inventory), mainFile).configz();
      var status = new NumaNodeStateStatus();
      status.inventory = inventory;
      status.inventory.kubelet = new KubeletFacts();
      status.inventory.kubelet.version = "v1.%d.0".formatted(minor);
      status.effective = new EffectiveKubelet();
      status.effective.source = Source.Configz;
      status.effective.settings = KubeletSettings.of(configz);
      status.effective.featureGates = KubeletSettings.featureGates(configz);
      status.files = new ConfigFiles();
      status.files.below = KubeletSettings.of(mainFile);
      if (status.files.below.evictionHard == null) {
        status.files.below.evictionHard = Map.of("memory.available", "100Mi");
      }
      return status;
    }
  }
}
