package io.numaoperator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.numaoperator.explain.NodeFacts.Zones;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import io.numaoperator.topology.fit.TestNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LoopTest {
  private static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");

  private static Rejection rejection(String owner, int number, Duration ago) {
    var reference =
        new OwnerReferenceBuilder().withKind("Job").withName(owner).withUid(owner).build();
    return new Rejection(
        "train/" + owner + "-" + number,
        owner + number,
        "gpu-" + number % 2,
        "TopologyAffinityError",
        "Pod was rejected: Resources cannot be allocated with Topology locality",
        NOW.minus(ago),
        TestNode.pod(TestNode.app(1, 1, 4)),
        "default-scheduler",
        owner.isEmpty()
            ? Optional.empty()
            : Optional.of(new Owner("train", reference, "Job", owner)));
  }

  private static List<Rejection> several(String owner, int count, Duration every) {
    var list = new ArrayList<Rejection>();
    for (int i = 0; i < count; i++) {
      list.add(rejection(owner, i, every.multipliedBy(count - i)));
    }
    return list;
  }

  @Test
  void threeWithinTenMinutesAreALoop() {
    assertThat(Loop.among(several("a", 2, Duration.ofMinutes(1)), List.of(), NOW)).isEmpty();
    var loop = Loop.among(several("a", 3, Duration.ofMinutes(1)), List.of(), NOW).getFirst();
    assertThat(loop.name()).isEqualTo("Job train/a");
    assertThat(loop.pods()).isEqualTo(3);
    assertThat(loop.nodes()).containsExactly("gpu-0", "gpu-1");
    assertThat(loop.newest().pod()).isEqualTo("train/a-2");
    assertThat(loop.since()).isEqualTo(NOW.minus(Duration.ofMinutes(3)));
    assertThat(Loop.among(several("a", 3, Duration.ofMinutes(4)), List.of(), NOW)).isEmpty();
    assertThat(Loop.among(several("", 9, Duration.ofSeconds(1)), List.of(), NOW))
        .as("nobody makes bare pods again")
        .isEmpty();
  }

  @Test
  void aLoopKeepsItsBeginning() {
    var rejections = several("a", 40, Duration.ofMinutes(1));
    var earlier = Loop.among(rejections, List.of(), NOW.minus(Duration.ofMinutes(30)));
    var now = Loop.among(rejections, earlier, NOW);
    assertThat(now.getFirst().since()).isEqualTo(earlier.getFirst().since());
    assertThat(now.getFirst().pods()).isEqualTo(9);
  }

  @Test
  void countsAreToldInSteps() {
    for (int[] each :
        new int[][] {{3, 3}, {4, 3}, {5, 5}, {9, 5}, {10, 10}, {49, 20}, {700, 500}}) {
      var loop =
          new Loop(owner(), NOW, each[0], java.util.Set.of(), rejection("a", 0, Duration.ZERO));
      assertThat(loop.podsTold()).as("of %d", each[0]).isEqualTo(each[1]);
    }
  }

  private static Owner owner() {
    return rejection("a", 0, Duration.ZERO).owner().orElseThrow();
  }

  @Test
  void theCauseHasTheNumbersAndNamesTheScheduler() {
    var free = TestNode.of(Policy.SingleNumaNode, Scope.Pod).zone(0, 7, 8, 2).zone(1, 7, 8, 2);
    var facts = new NodeFacts("gpu-0", new Zones.Known(free.free()), List.of(), 0);
    var rejection = rejection("a", 0, Duration.ZERO);
    assertThat(rejection.cause(facts, Optional.of("numa-scheduler")))
        .isEqualTo(
            "gpu-0 rejected it (TopologyAffinityError): needs 4 nvidia.com/gpu in one zone; zone 0"
                + " has 2 free, zone 1 has 2 free; 4 free in all; default-scheduler bound it, which"
                + " does not see NUMA nodes: set spec.schedulerName: numa-scheduler");
    assertThat(rejection.cause(facts, Optional.of("default-scheduler"))).endsWith("free in all");
    var since = TestNode.of(Policy.SingleNumaNode, Scope.Pod).zone(0, 7, 8, 4).zone(1, 7, 8, 2);
    assertThat(
            rejection.cause(
                new NodeFacts("gpu-0", new Zones.Known(since.free()), List.of(), 0),
                Optional.empty()))
        .endsWith("locality; by what is free there now it would be admitted now, on zone 0");
  }
}
