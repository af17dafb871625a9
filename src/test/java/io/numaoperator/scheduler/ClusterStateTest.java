package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.bound;
import static io.numaoperator.scheduler.Given.pod;
import static io.numaoperator.scheduler.Given.topology;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.nrt.NodeResourceTopology;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterStateTest {
  private final ClusterState state = new ClusterState(Clock.fixed(Given.NOW, ZoneOffset.UTC));

  private static NodeResourceTopology version(int version) {
    var topology = topology("n", 4, version);
    topology.getMetadata().setResourceVersion(Integer.toString(version));
    return topology;
  }

  private int gpusInZoneOne() {
    return state.node("n").topology().orElseThrow().free().devices().get(1).free();
  }

  @Test
  void anOlderAnswerDoesNotReplaceANewerOne() {
    state.put(version(3));
    state.put(version(2));
    assertThat(gpusInZoneOne()).isEqualTo(3);
    state.put(version(4));
    assertThat(gpusInZoneOne()).isEqualTo(4);
  }

  @Test
  void anAnswerFromBeforeTheDeletionDoesNotBringItBack() {
    state.put(version(2));
    state.remove(version(3));
    state.put(version(2));
    assertThat(state.node("n").topology()).isEmpty();
    state.put(version(4));
    assertThat(state.usableNodes()).containsExactly("n");
  }

  @Test
  void aBindingCannotBeUndoneByAnOlderAnswer() {
    state.put(bound(pod("a", 1), "n", 1));
    state.put(pod("a", 1));
    assertThat(state.node("n").pods()).hasSize(1);
  }

  @Test
  void whatWeBoundCountsBeforeAnyWatchShowsIt() {
    state.put(pod("a", 1));
    state.bound(PodView.of(pod("a", 1)), "n");
    assertThat(state.node("n").pods()).hasSize(1);
    state.remove("uid-a");
    assertThat(state.node("n").pods()).isEmpty();
  }

  @Test
  void podsWithDevicesThatAnotherSchedulerBoundAreCounted() {
    var foreign = pod("foreign", 1).edit().editSpec().withSchedulerName("other").endSpec().build();
    var cpuOnly = pod("cpu-only", 0).edit().editSpec().withSchedulerName("other").endSpec().build();
    state.put(bound(foreign, "n", 1));
    state.put(bound(cpuOnly, "n", 1));
    state.put(bound(pod("ours", 1), "n", 1));
    state.put(bound(pod("elsewhere", 1), "m", 1));
    state.put(pod("waiting", 1).edit().editSpec().withSchedulerName("other").endSpec().build());
    assertThat(state.foreignPods(Set.of("numa-scheduler"))).containsExactly(Map.entry("n", 1));
    state.put(bound(foreign, "n", 1).edit().editStatus().withPhase("Failed").endStatus().build());
    assertThat(state.foreignPods(Set.of("numa-scheduler"))).isEmpty();
  }
}
