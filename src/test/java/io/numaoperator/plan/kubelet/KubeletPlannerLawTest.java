package io.numaoperator.plan.kubelet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.ConfigComparison;
import io.numaoperator.kubelet.ConfigFiles;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.FragmentRules;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.kubelet.SettingsDiff;
import io.numaoperator.kubelet.UnmanagedChanges;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.CpuSet;
import io.numaoperator.topology.Machine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Laws over random machines, main files and policies. */
class KubeletPlannerLawTest {
  private static final int CASES = 1000;

  /**
   * What is planned, the kubelet starts with; it gets all that was wanted and nothing else changes;
   * and planning again from there changes nothing. Then the policy changes while the drop-in is in
   * place, and all of that holds again.
   */
  @Test
  void whatIsPlannedStartsAndStays() {
    int planned = 0;
    int changed = 0;
    var refusals = new TreeMap<String, Integer>();
    for (int seed = 0; seed < CASES; seed++) {
      var world = new World(new Random(seed));
      var first = world.policies.policy();
      var plan = world.plan(first, world.before());
      if (plan instanceof Refused refused) {
        refusals.merge(refused.reason(), 1, Integer::sum);
        assertThat(refused.message()).as("seed %d", seed).doesNotContain("null").endsWith(".");
        continue;
      }
      planned++;
      var one = (Planned) plan;
      var kubelet = holds(world, first, one, world.before(), seed);
      var second = world.policies.policy();
      if (world.plan(second, kubelet.configz()) instanceof Planned other) {
        changed++;
        holds(world, second, other, kubelet.configz(), seed);
      }
    }
    // not vacuous: most worlds can be planned, and each kind of refusal that they can meet is met
    assertThat(planned).as("%s", refusals).isGreaterThan(CASES / 2);
    assertThat(changed).isGreaterThan(planned / 2);
    assertThat(refusals.keySet())
        .contains(
            "MemoryBeyondZone",
            "ReservedCpusNotOnNode",
            "ReservedCpusTakeZone",
            "ReservedMemoryTooSmall",
            "TooManyZones",
            "TooManyZonesForMemoryManager",
            "UnsupportedOption");
  }

  private static FakeKubelet holds(
      World world, KubeletPolicy policy, Planned plan, JsonNode before, int seed) {
    var file = DropIn.render(plan.fragment());
    var kubelet = FakeKubelet.of(world.minor, world.machine(), world.mainFile, file);
    var text = new String(file, UTF_8);
    assertThat(kubelet.exit()).as("seed %d\n%s\n%s", seed, world.mainFile, text).isEmpty();
    assertThat(FragmentRules.violations(plan.fragment())).as("seed %d\n%s", seed, text).isEmpty();
    assertThat(ConfigComparison.mismatches(plan.fragment(), kubelet.configz()))
        .as("seed %d\n%s", seed, text)
        .isEmpty();
    assertThat(UnmanagedChanges.between(before, kubelet.configz())).as("seed %d", seed).isEmpty();
    assertThat(
            SettingsDiff.between(
                OwnSettings.with(world.own(before), plan.fragment()),
                KubeletSettings.of(kubelet.configz())))
        .as("what is shown is what comes, seed %d\n%s\n%s", seed, world.mainFile, text)
        .isEmpty();
    assertThat(plan.hash()).isEqualTo(DropIn.hash(file));
    assertThat(world.plan(policy, kubelet.configz()))
        .as("fixed point, seed %d\n%s", seed, text)
        .isInstanceOfSatisfying(
            Planned.class,
            again -> assertThat(DropIn.render(again.fragment())).asString().isEqualTo(text));
    memory(world, plan, kubelet, seed);
    cpus(world, policy, plan, seed);
    return kubelet;
  }

  /**
   * A plan is a function of the node's own configuration and the policy: what was applied before
   * leaves nothing behind. Nor does a drop-in that was removed while its kubelet runs on.
   */
  @Test
  void aFormerPolicyLeavesNothingBehind() {
    int compared = 0;
    for (int seed = 0; seed < CASES; seed++) {
      var world = new World(new Random(seed));
      var fresh = world.before();
      if (!(world.plan(world.policies.policy(), fresh) instanceof Planned first)) {
        continue;
      }
      var second = world.policies.policy();
      var file = DropIn.render(first.fragment());
      var running = FakeKubelet.of(world.minor, world.machine(), world.mainFile, file).configz();
      var own =
          OwnSettings.without(
              KubeletSettings.of(running), world.files(), first.fragment(), List.of());
      assertThat(SettingsDiff.between(KubeletSettings.of(fresh), own))
          .as("seed %d\n%s", seed, world.mainFile)
          .isEmpty();
      var actual = world.plan(second, own, running, world.inventory);
      switch (world.plan(second, fresh)) {
        case Refused refused -> assertThat(actual).as("seed %d", seed).isEqualTo(refused);
        case Planned planned -> {
          compared++;
          assertThat(actual)
              .as("seed %d", seed)
              .isInstanceOfSatisfying(
                  Planned.class, plan -> assertThat(plan.hash()).isEqualTo(planned.hash()));
          assertThat(PlanHash.of(second.memoryManager, own, ((Planned) actual).fragment()))
              .isEqualTo(
                  PlanHash.of(second.memoryManager, KubeletSettings.of(fresh), planned.fragment()));
        }
      }
    }
    assertThat(compared).isGreaterThan(CASES / 3);
  }

  private static void memory(World world, Planned plan, FakeKubelet kubelet, int seed) {
    if (plan.fragment().reservedMemory == null) {
      return;
    }
    var shares = kubelet.reservedByZone();
    assertThat(shares.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add))
        .as("seed %d", seed)
        .isEqualByComparingTo(kubelet.reserved())
        .isPositive();
    shares.forEach(
        (id, share) -> {
          var zone =
              world.machine().zones().stream().filter(z -> z.id() == id).findFirst().orElseThrow();
          assertThat(zone.cpus().isEmpty()).as("seed %d zone %d", seed, id).isFalse();
          assertThat(share.longValueExact())
              .as("seed %d zone %d", seed, id)
              .isBetween(1L, zone.memory() - zone.hugepages());
        });
  }

  private static void cpus(World world, KubeletPolicy policy, Planned plan, int seed) {
    if (plan.fragment().reservedSystemCPUs == null) {
      return;
    }
    var reserved = CpuSet.parse(plan.fragment().reservedSystemCPUs);
    assertThat(world.machine().cpus().containsAll(reserved)).as("seed %d", seed).isTrue();
    for (var zone : world.machine().zonesWithCpus()) {
      assertThat(zone.cpus().minus(reserved).isEmpty()).as("seed %d", seed).isFalse();
      if (policy.cpuManager.reserved.coresPerNumaNode != null) {
        assertThat(zone.cores().stream().filter(reserved::containsAll))
            .hasSize(policy.cpuManager.reserved.coresPerNumaNode);
        assertThat(world.machine().withSiblings(reserved)).isEqualTo(reserved);
      }
    }
  }

  /** The order in which zones, cores and maps are listed means nothing. */
  @Test
  void sameBytesInAnyOrder() {
    int planned = 0;
    for (int seed = 0; seed < CASES; seed++) {
      var random = new Random(seed);
      var world = new World(random);
      var policy = world.policies.policy();
      var plan = world.plan(policy, world.before());
      var shuffled =
          world.plan(
              policy,
              Shuffle.objects(world.before(), random),
              Shuffle.inventory(world.inventory, random));
      if (plan instanceof Planned one) {
        planned++;
        assertThat(((Planned) shuffled).hash()).as("seed %d", seed).isEqualTo(one.hash());
      } else {
        assertThat(shuffled).as("seed %d", seed).isEqualTo(plan);
      }
    }
    assertThat(planned).isGreaterThan(CASES / 2);
  }

  /** A random machine with a main file that its kubelet starts with. */
  private static final class World {
    final int minor;
    final Inventory inventory;
    final JsonNode mainFile;
    final RandomPolicies policies;

    World(Random random) {
      this.minor = 32 + random.nextInt(6);
      this.inventory = RandomMachine.of(random);
      this.mainFile = RandomMainFile.of(minor, machine(), random);
      this.policies = new RandomPolicies(random, machine());
    }

    Machine machine() {
      return Machine.of(inventory);
    }

    JsonNode before() {
      return FakeKubelet.of(minor, machine(), mainFile).configz();
    }

    KubeletPlan plan(KubeletPolicy policy, JsonNode configz) {
      return plan(policy, configz, inventory);
    }

    /** What the files say without a drop-in. */
    KubeletFragment files() {
      try {
        return ConfigFiles.read(Optional.of(mainFile.toString().getBytes(UTF_8)), Map.of())
            .shown(true);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Of a kubelet that runs with any drop-in of ours, or none. */
    KubeletFragment own(JsonNode configz) {
      var all = new KubeletFragment();
      all.cpuManagerPolicy = "none";
      all.reservedSystemCPUs = "0";
      all.memoryManagerPolicy = "None";
      all.reservedMemory = List.of();
      all.topologyManagerPolicy = "none";
      all.topologyManagerScope = "pod";
      all.topologyManagerPolicyOptions =
          Map.of("prefer-closest-numa-nodes", "", "max-allowable-numa-nodes", "");
      all.kubeReserved = Map.of("memory", "0");
      all.systemReserved = Map.of("memory", "0");
      all.evictionHard = Map.of("memory.available", "0%");
      all.kubeReservedCgroup = "";
      all.systemReservedCgroup = "";
      all.enforceNodeAllocatable = List.of();
      return OwnSettings.without(KubeletSettings.of(configz), files(), all, List.of());
    }

    KubeletPlan plan(KubeletPolicy policy, JsonNode configz, Inventory inventory) {
      return plan(policy, KubeletSettings.of(configz), configz, inventory);
    }

    KubeletPlan plan(
        KubeletPolicy policy, KubeletFragment own, JsonNode configz, Inventory inventory) {
      var effective = new EffectiveKubelet();
      effective.source = Source.Configz;
      effective.settings = own;
      effective.featureGates = KubeletSettings.featureGates(configz);
      return KubeletPlanner.plan(
          policy, Machine.of(inventory), effective, new KubeletVersion(1, minor, 0));
    }
  }
}
