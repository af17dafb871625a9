package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.bound;
import static io.numaoperator.scheduler.Given.container;
import static io.numaoperator.scheduler.Given.pod;
import static io.numaoperator.scheduler.Given.topology;
import static io.numaoperator.scheduler.Given.zone;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.scheduler.Wire.ExtenderArgs;
import io.numaoperator.scheduler.Wire.ExtenderBindingArgs;
import io.numaoperator.scheduler.Wire.ExtenderPreemptionArgs;
import io.numaoperator.scheduler.Wire.HostPriority;
import io.numaoperator.scheduler.Wire.MetaPod;
import io.numaoperator.scheduler.Wire.MetaVictims;
import io.numaoperator.topology.fit.Fit;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ExtenderTest {
  private final Clock clock = Clock.fixed(Given.NOW, ZoneOffset.UTC);
  private final FakeApiServer api = new FakeApiServer();
  private final ClusterState state = new ClusterState(clock);
  private final Judge judge = new Judge(UnknownNodes.Deny, Fit::of);
  private final Refusals refusals = new Refusals();
  private final Extender extender =
      new Extender(
          state,
          () -> judge,
          new Binder(api, state, () -> judge, clock),
          new CycleGate(Duration.ZERO),
          refusals);

  private ExtenderArgs ask(Pod pod, String... nodes) {
    return new ExtenderArgs(pod, List.of(nodes));
  }

  private Map<String, Long> scores(Pod pod, String... nodes) {
    return extender.prioritize(ask(pod, nodes)).stream()
        .collect(Collectors.toMap(HostPriority::host, HostPriority::score));
  }

  @Test
  void sortsNodesIntoSuitableLaterAndNever() {
    state.put(topology("whole", 4, 0));
    state.put(topology("split", 2, 2));
    state.put(topology("small", "single-numa-node", "pod", zone(0, 3, 8, 0)));
    var result = extender.filter(ask(pod("a", 4), "whole", "split", "small", "unknown"));
    assertThat(result.nodeNames()).containsExactly("whole");
    assertThat(result.failedNodes())
        .containsExactly(
            Map.entry("small", "zone 0 has 0 of 4 nvidia.com/gpu free"),
            Map.entry("split", "zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2"));
    assertThat(result.unresolvableNodes())
        .containsExactly(Map.entry("unknown", "it has no NodeResourceTopology"));
    assertThat(result.error()).isEmpty();
  }

  /** facts/topology-and-schedulers §5: the pod that fits one zone of node-2 only. */
  @Test
  void aPodThatFitsOneZoneOfOneNodeGoesThere() {
    state.put(
        topology("node-1", "single-numa-node", "container", zone(0, 3, 8, 4), zone(1, 3, 8, 4)));
    state.put(
        topology("node-2", "single-numa-node", "container", zone(0, 3, 8, 4), zone(1, 4, 8, 4)));
    var pod = pod("a", container("main", "4", "1Gi", 0));
    assertThat(extender.filter(ask(pod, "node-1", "node-2")).nodeNames()).containsExactly("node-2");
  }

  /** §5: container scope, four containers of which one fits no zone. */
  @Test
  void oneContainerThatFitsNoZoneIsEnoughToWait() {
    state.put(topology("n", "single-numa-node", "container", zone(0, 6, 8, 4), zone(1, 6, 8, 4)));
    var pod =
        pod(
            "a",
            container("c1", "2", "1Gi", 0),
            container("c2", "2", "1Gi", 0),
            container("c3", "2", "1Gi", 0),
            container("c4", "7", "1Gi", 0));
    var result = extender.filter(ask(pod, "n"));
    assertThat(result.nodeNames()).isEmpty();
    assertThat(result.failedNodes().get("n"))
        .isEqualTo("container c4: zone 0 has 0 of 7 cpu free, zone 1 has 6");
  }

  /** §5: one non-optimal, one optimal. */
  @Test
  void fewerZonesAreBetter() {
    state.put(topology("across", "best-effort", "pod", zone(0, 3, 8, 2), zone(1, 3, 8, 2)));
    state.put(topology("within", "best-effort", "pod", zone(0, 3, 8, 1), zone(1, 3, 8, 4)));
    var scores = scores(pod("a", 3), "across", "within");
    assertThat(scores.get("within")).isGreaterThan(scores.get("across"));
  }

  @Test
  void tighterZonesAreBetterSoThatWholeOnesStayWhole() {
    state.put(topology("whole", 4, 4));
    state.put(topology("used", "single-numa-node", "pod", zone(0, 7, 8, 2), zone(1, 7, 8, 4)));
    state.put(topology("exact", "single-numa-node", "pod", zone(0, 1, 1, 2), zone(1, 7, 8, 4)));
    var scores = scores(pod("a", 2), "whole", "used", "exact", "unknown");
    assertThat(scores.get("exact")).isEqualTo(10);
    assertThat(scores.get("exact")).isGreaterThan(scores.get("used"));
    assertThat(scores.get("used")).isGreaterThan(scores.get("whole"));
    assertThat(scores.get("whole")).isGreaterThan(scores.get("unknown"));
    assertThat(scores.values()).allSatisfy(score -> assertThat(score).isBetween(0L, 10L));
  }

  /** §5, overallocation: the second waits until the object says that it need not. */
  @Test
  void theSecondPodWaitsForTheTopologyToShowTheFirst() {
    api.publish(topology("n1", 4, 0));
    state.put(api.topology("n1").orElseThrow());
    var first = pod("first", 2);
    api.create(first);
    assertThat(
            extender.bind(new ExtenderBindingArgs("first", "default", "uid-first", "n1")).error())
        .isEmpty();
    var second = pod("second", 4);
    assertThat(extender.filter(ask(second, "n1")).nodeNames()).isEmpty();

    api.publish(Given.accounting(topology("n1", 2, 4), Map.of("first", Set.of(0))));
    state.put(api.topology("n1").orElseThrow());
    refusals.changed("n1");
    assertThat(refusals.worthAnotherLook(state, judge)).contains("n1");
    assertThat(extender.filter(ask(second, "n1")).nodeNames()).containsExactly("n1");
  }

  /** kube-scheduler asks both within one cycle; another replica may have been asked the first. */
  @Test
  void scoresAreTheSameWhoeverFiltered() {
    state.put(topology("whole", 4, 4));
    state.put(topology("used", "single-numa-node", "pod", zone(0, 7, 8, 2), zone(1, 7, 8, 4)));
    var pod = pod("a", 2);
    var fresh = scores(pod, "whole", "used", "unknown");
    extender.filter(ask(pod, "whole", "used"));
    assertThat(scores(pod, "whole", "used", "unknown")).isEqualTo(fresh);
    extender.filter(ask(pod("b", 4), "whole", "used"));
    assertThat(scores(pod, "whole", "used", "unknown")).isEqualTo(fresh);
  }

  /** It is asked about the next pod while the API server is asked to bind the last. */
  @Test
  void theNextPodIsJudgedBesideOneThatIsBeingBound() {
    var waiting =
        new Extender(
            state,
            () -> judge,
            new Binder(api, state, () -> judge, clock),
            new CycleGate(Duration.ofMinutes(5)),
            refusals);
    api.publish(topology("n1", 4, 0));
    state.put(api.topology("n1").orElseThrow());
    var first = pod("first", 4);
    api.create(first);
    assertThat(waiting.filter(ask(first, "n1")).nodeNames()).containsExactly("n1");
    var suitable = new ArrayList<String>();
    api.meanwhile = () -> suitable.addAll(waiting.filter(ask(pod("second", 1), "n1")).nodeNames());
    api.refuseBindings = true;
    assertThat(waiting.bind(new ExtenderBindingArgs("first", "default", "uid-first", "n1")).error())
        .contains("refused by the fake API server");
    assertThat(suitable).isEmpty();
    assertThat(refusals.worthAnotherLook(state, judge)).contains("n1");
  }

  /** §5: scope pod becomes container, and the waiting pod can go. */
  @Test
  void aChangedScopeCountsAtOnce() {
    state.put(topology("n", "single-numa-node", "pod", zone(0, 4, 8, 4), zone(1, 4, 8, 4)));
    var pod = pod("a", container("x", "3", "1Gi", 0), container("y", "3", "1Gi", 0));
    assertThat(extender.filter(ask(pod, "n")).nodeNames()).isEmpty();
    state.put(topology("n", "single-numa-node", "container", zone(0, 4, 8, 4), zone(1, 4, 8, 4)));
    refusals.changed("n");
    assertThat(refusals.worthAnotherLook(state, judge)).contains("n");
    assertThat(extender.filter(ask(pod, "n")).nodeNames()).containsExactly("n");
  }

  @Test
  void onlyNodesWhereAPodWasRefusedAreWorthAnotherLook() {
    state.put(topology("n", 2, 2));
    extender.filter(ask(pod("a", 4), "n"));
    state.put(topology("n", 2, 2));
    refusals.changed("n");
    assertThat(refusals.worthAnotherLook(state, judge)).isEmpty();
    state.put(topology("m", 4, 4));
    refusals.changed("m");
    assertThat(refusals.worthAnotherLook(state, judge)).isEmpty();
    state.put(topology("n", 4, 4));
    refusals.changed("n");
    assertThat(refusals.worthAnotherLook(state, judge)).contains("n");
    refusals.told();
    refusals.changed("n");
    assertThat(refusals.worthAnotherLook(state, judge)).isEmpty();
  }

  @Test
  void keepsOnlyNodesWhereTheVictimsFreeAZone() {
    state.put(Given.accounting(topology("helps", 2, 0), Map.of("v1", Set.of(0))));
    state.put(bound(pod("v1", 2), "helps", 600));
    state.put(Given.accounting(topology("not", 2, 0), Map.of("v2", Set.of(1))));
    state.put(bound(pod("v2", 2), "not", 600));
    var asked =
        Map.of(
            "helps", new MetaVictims(List.of(new MetaPod("uid-v1")), 1),
            "not", new MetaVictims(List.of(new MetaPod("uid-v2")), 0));
    var result = extender.preempt(new ExtenderPreemptionArgs(pod("high", 4), asked));
    assertThat(result.victims()).isEqualTo(Map.of("helps", asked.get("helps")));
  }
}
