package io.numaoperator.plan.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.ReservedMemory;
import io.numaoperator.api.KubeletPolicy.TopologyScope;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.TestMachine;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class PlanHashTest {
  private static final String OWN =
      "{systemReserved: {memory: 200Mi}, evictionHard: {memory.available: 5%},"
          + " enforceNodeAllocatable: [pods]}";

  private final KubeletPolicy policy = new KubeletPolicy();

  private record Hashes(String plan, String dropIn) {}

  private Hashes hashes(int zones, String own, long more) {
    var inventory = TestMachine.zones(zones).inventory();
    inventory.memoryTotal += more;
    inventory.zones.getFirst().memory += more;
    var effective = new EffectiveKubelet();
    effective.source = Source.Configz;
    effective.settings = KubeletSettings.of(Fragments.config(own));
    var plan =
        (Planned)
            KubeletPlanner.plan(
                policy, Machine.of(inventory), effective, new KubeletVersion(1, 36, 3));
    return new Hashes(
        PlanHash.of(policy.memoryManager, effective.settings, plan.fragment()), plan.hash());
  }

  /** An autoscaler's next machine of the same kind has some pages more or less. */
  @Test
  void someMemoryMoreIsTheSamePlanThoughNotTheSameFile() {
    var one = hashes(2, OWN, 0);
    var other = hashes(2, OWN, 12 << 12);
    assertThat(other.dropIn()).isNotEqualTo(one.dropIn());
    assertThat(other.plan()).isEqualTo(one.plan());
  }

  @Test
  void anythingElseIsAnotherPlan() {
    var before = hashes(2, OWN, 0).plan();
    assertThat(hashes(3, OWN, 0).plan()).isNotEqualTo(before);
    assertThat(hashes(2, OWN.replace("200Mi", "300Mi"), 0).plan()).isNotEqualTo(before);
    assertThat(hashes(2, OWN.replace("5%", "6%"), 0).plan()).isNotEqualTo(before);
    for (Consumer<KubeletPolicy> change :
        List.<Consumer<KubeletPolicy>>of(
            p -> p.topologyManager.scope = TopologyScope.Container,
            p -> p.memoryManager.reserved = total("6Gi"),
            p -> p.memoryManager.reserved = total("7Gi"),
            p -> p.memoryManager.policy = KubeletPolicy.StaticOrNone.None)) {
      change.accept(policy);
      var after = hashes(2, OWN, 0).plan();
      assertThat(after).isNotEqualTo(before);
      before = after;
    }
  }

  private static ReservedMemory total(String amount) {
    var reserved = new ReservedMemory();
    reserved.total = amount;
    return reserved;
  }

  @Test
  void thePlanOverAllNodesSaysWhichPlansThereAreAndNotHowMany() {
    assertThat(PlanHash.ofAll(List.of())).isEmpty();
    assertThat(PlanHash.ofAll(List.of("b", "a", "b"))).isEqualTo(PlanHash.ofAll(List.of("a", "b")));
    assertThat(PlanHash.ofAll(List.of("a"))).isNotEqualTo(PlanHash.ofAll(List.of("a", "b")));
  }
}
