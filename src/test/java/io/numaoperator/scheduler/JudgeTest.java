package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.bound;
import static io.numaoperator.scheduler.Given.container;
import static io.numaoperator.scheduler.Given.created;
import static io.numaoperator.scheduler.Given.pod;
import static io.numaoperator.scheduler.Given.priority;
import static io.numaoperator.scheduler.Given.topology;
import static io.numaoperator.scheduler.Given.zone;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.topology.fit.Fit;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JudgeTest {
  private static final String NODE = "n1";

  private final ClusterState state = new ClusterState(Clock.fixed(Given.NOW, ZoneOffset.UTC));

  private Verdict judge(Pod pod) {
    return new Judge(UnknownNodes.Deny, Fit::of).judge(state.node(NODE), PodView.of(pod));
  }

  private boolean helps(Pod pod, String... victims) {
    return new Judge(UnknownNodes.Deny, Fit::of)
        .suitsWithout(state.node(NODE), PodView.of(pod), Set.of(victims));
  }

  @Test
  void saysInNumbersWhyNot() {
    state.put(topology(NODE, 2, 2));
    assertThat(judge(pod("a", 4)))
        .isEqualTo(new Verdict.NotNow("zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 2"));
    assertThat(judge(pod("a", 2))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void whatNeverFitsCannotBeHelpedByPreemption() {
    state.put(topology(NODE, 4, 4));
    assertThat(judge(pod("a", 5)))
        .isEqualTo(
            new Verdict.Never("even when empty: no zone is large enough for 5 nvidia.com/gpu"));
  }

  @Test
  void aBoundPodCountsUntilTheTopologyAccountsForIt() {
    state.put(topology(NODE, 4, 0));
    state.put(bound(pod("a", 2), NODE, 600));
    assertThat(judge(pod("b", 4)))
        .isEqualTo(
            new Verdict.NotNow(
                "zone 0 has 2 of 4 nvidia.com/gpu free, zone 1 has 0 (less 1 pod on the way)"));
    assertThat(judge(pod("b", 2))).isInstanceOf(Verdict.Suits.class);

    var reflected = Given.accounting(topology(NODE, 2, 2), Map.of("a", Set.of(0)));
    reflected.getMetadata().setResourceVersion("2");
    state.put(reflected);
    assertThat(judge(pod("b", 2))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void aPodThatEndedOrIsGoneCountsNoMore() {
    state.put(topology(NODE, 4, 0));
    var a = bound(pod("a", 2), NODE, 1);
    state.put(a);
    state.put(a.edit().editStatus().withPhase("Failed").endStatus().build());
    assertThat(judge(pod("b", 4))).isInstanceOf(Verdict.Suits.class);
    state.put(a);
    state.remove("uid-a");
    assertThat(judge(pod("b", 4))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void anUpdaterThatDoesNotTellIsGivenTime() {
    var topology = topology(NODE, 4, 0);
    topology.getMetadata().getAnnotations().clear();
    state.put(topology);
    state.put(bound(pod("a", 2), NODE, 30));
    assertThat(judge(pod("b", 4))).isInstanceOf(Verdict.NotNow.class);
    state.put(bound(pod("a", 2), NODE, 600));
    assertThat(judge(pod("b", 4))).isInstanceOf(Verdict.Suits.class);
  }

  /** Bound first, the 4-GPU pod takes zone 0; but younger, it could come second, and find 2+2. */
  @Test
  void bothOrdersOfArrivalMustBeAdmitted() {
    state.put(topology(NODE, 4, 2));
    state.put(created(bound(pod("large", 4), NODE, 1), 5));
    assertThat(judge(created(pod("small", 2), 60)))
        .isEqualTo(
            new Verdict.NotNow(
                "pod default/large is on its way there and its zone is not known yet"));
    assertThat(judge(created(pod("small", 2), 1))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void aPodOfAFormerPodsNameWaitsUntilThatIsGone() {
    state.put(Given.accounting(topology(NODE, 4, 2), Map.of("db-0", Set.of(1))));
    assertThat(judge(pod("db-0", 2)))
        .isEqualTo(new Verdict.NotNow("a former pod of this name is not gone from the node yet"));
    assertThat(judge(pod("db-1", 2))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void podsThatTheKubeletDoesNotAlignAreLeftAlone() {
    state.put(topology(NODE, 0, 0));
    var burstable = pod("a", 0).edit().editStatus().withQosClass("Burstable").endStatus().build();
    assertThat(judge(burstable)).isInstanceOf(Verdict.Indifferent.class);
    var podLevel =
        pod("a", 0)
            .edit()
            .editSpec()
            .withNewResources()
            .addToRequests("cpu", new Quantity("4"))
            .endResources()
            .endSpec()
            .build();
    assertThat(judge(podLevel)).isInstanceOf(Verdict.Indifferent.class);
    state.removeTopology(NODE);
    assertThat(judge(burstable)).isInstanceOf(Verdict.Indifferent.class);
  }

  @Test
  void aNodeWithoutTopologyIsAsThePolicySays() {
    assertThat(judge(pod("a", 1))).isEqualTo(new Verdict.Never("it has no NodeResourceTopology"));
    assertThat(
            new Judge(UnknownNodes.Allow, Fit::of).judge(state.node(NODE), PodView.of(pod("a", 1))))
        .isInstanceOf(Verdict.Indifferent.class);
  }

  @Test
  void aTopologyThatCannotBeReadIsNeverGuessed() {
    var topology = topology(NODE, 4, 4);
    topology.zones.getFirst().name = "socket-0";
    state.put(topology);
    assertThat(
            new Judge(UnknownNodes.Allow, Fit::of).judge(state.node(NODE), PodView.of(pod("a", 1))))
        .isEqualTo(
            new Verdict.Never(
                "its NodeResourceTopology cannot be used: zone \"socket-0\" is not named node-ID"));
  }

  /** One GPU is free in zone 1, two more pods hold zone 0: only those help. */
  @Test
  void onlyVictimsThatFreeAZoneHelp() {
    state.put(
        Given.accounting(
            topology(NODE, 0, 1),
            Map.of("z0a", Set.of(0), "z0b", Set.of(0), "z1", Set.of(1), "wide", Set.of(0, 1))));
    for (var name : new String[] {"z0a", "z0b", "z1", "wide"}) {
      state.put(bound(pod(name, 2), NODE, 600));
    }
    assertThat(helps(pod("high", 3), "uid-z1")).isTrue();
    assertThat(helps(pod("high", 3), "uid-z0a")).isFalse();
    assertThat(helps(pod("high", 3), "uid-z0a", "uid-z0b")).isTrue();
    assertThat(helps(pod("high", 4), "uid-z0a", "uid-z1")).isFalse();
    assertThat(helps(pod("high", 3), "uid-wide")).isFalse();
    assertThat(helps(pod("high", 5), "uid-z0a", "uid-z0b", "uid-z1", "uid-wide")).isFalse();
  }

  @Test
  void whatOthersWereEvictedForIsKept() {
    state.put(topology(NODE, 4, 0));
    var winner =
        priority(pod("winner", 4), 100)
            .edit()
            .editStatus()
            .withNominatedNodeName(NODE)
            .endStatus()
            .build();
    state.put(winner);
    assertThat(judge(pod("low", 1)))
        .isInstanceOfSatisfying(
            Verdict.NotNow.class,
            no -> assertThat(no.message()).contains("kept for pod default/winner"));
    assertThat(judge(winner)).isInstanceOf(Verdict.Suits.class);
    assertThat(judge(priority(pod("higher", 1), 101))).isInstanceOf(Verdict.Suits.class);
  }

  @Test
  void allPoliciesAndScopes() {
    var two = pod("a", container("x", "4", "1Gi", 0), container("y", "4", "1Gi", 0));
    state.put(topology(NODE, "single-numa-node", "pod", zone(0, 7, 8, 4), zone(1, 7, 8, 4)));
    assertThat(judge(two))
        .isEqualTo(new Verdict.Never("even when empty: zone 0 has 7 of 8 cpu free, zone 1 has 7"));
    state.put(topology(NODE, "single-numa-node", "container", zone(0, 7, 8, 4), zone(1, 7, 8, 4)));
    assertThat(judge(two)).isInstanceOf(Verdict.Suits.class);
    state.put(topology(NODE, "restricted", "container", zone(0, 3, 8, 4), zone(1, 7, 8, 4)));
    assertThat(judge(two)).isInstanceOf(Verdict.NotNow.class);
    state.put(topology(NODE, "best-effort", "container", zone(0, 3, 8, 4), zone(1, 7, 8, 4)));
    assertThat(judge(two)).isInstanceOf(Verdict.Suits.class);
    state.put(topology(NODE, "none", "container", zone(0, 3, 8, 4), zone(1, 7, 8, 4)));
    assertThat(judge(two)).isInstanceOf(Verdict.Suits.class);
  }
}
