package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.pod;
import static io.numaoperator.scheduler.Given.topology;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.topology.fit.Fit;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class BinderTest {
  private final FakeApiServer api = new FakeApiServer();
  private final Replica one = new Replica(Clock.fixed(Given.NOW, ZoneOffset.UTC));
  private final Replica other = new Replica(Clock.fixed(Given.NOW, ZoneOffset.UTC));

  /** A replica of the extender, with caches of its own that nothing fills but itself. */
  private final class Replica {
    final ClusterState state;
    final Binder binder;

    Replica(Clock clock) {
      state = new ClusterState(clock);
      binder = new Binder(api, state, () -> new Judge(UnknownNodes.Deny, Fit::of), clock);
    }

    Optional<String> bind(Pod pod) {
      var meta = pod.getMetadata();
      return binder.bind(meta.getNamespace(), meta.getName(), meta.getUid(), "n1", () -> {});
    }
  }

  private Pod created(String name, int gpus) {
    var pod = pod(name, gpus);
    api.create(pod);
    return pod;
  }

  @Test
  void bindsWhatSuitsAndSaysWhyNot() {
    api.publish(topology("n1", 4, 2));
    assertThat(one.bind(created("a", 2))).isEmpty();
    assertThat(one.bind(created("b", 2))).isEmpty();
    assertThat(one.bind(created("c", 4)))
        .contains("zone 0 has 0 of 4 nvidia.com/gpu free, zone 1 has 2 (less 2 pods on the way)");
    assertThat(api.bindings).extracting(p -> p.getMetadata().getName()).containsExactly("a", "b");
  }

  /** Neither replica's watch has shown it what the other did. */
  @Test
  void twoReplicasNeverGiveAwayTheSameZone() {
    api.publish(topology("n1", 4, 0));
    assertThat(one.bind(created("a", 4))).isEmpty();
    assertThat(other.bind(created("b", 4))).isPresent();
    assertThat(api.bindings).hasSize(1);
  }

  /** The other writes between this one's look and its decision. */
  @Test
  void aReplicaThatComesBetweenIsSeen() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 4);
    var b = created("b", 4);
    api.meanwhile = () -> assertThat(other.bind(b)).isEmpty();
    assertThat(one.bind(a)).isPresent();
    assertThat(one.state.pod(a.getMetadata().getUid()).flatMap(PodView::node)).isEmpty();
    assertThat(api.bindings).extracting(p -> p.getMetadata().getName()).containsExactly("b");
  }

  /** The agent's writes collide with ours all the time. */
  @Test
  void anAgentThatPublishesMeanwhileOnlyMeansAnotherTry() {
    api.publish(topology("n1", 4, 0));
    api.meanwhile = () -> api.publish(topology("n1", 4, 1));
    assertThat(one.bind(created("a", 4))).isEmpty();
    assertThat(api.bindings).hasSize(1);
  }

  @Test
  void aDecisionWhoseBindingWasRefusedIsTakenBack() {
    api.publish(topology("n1", 4, 0));
    api.refuseBindings = true;
    assertThat(one.bind(created("a", 4)))
        .hasValueSatisfying(why -> assertThat(why).contains("refused by the fake API server"));
    assertThat(one.state.node("n1").pods()).isEmpty();
    api.refuseBindings = false;
    assertThat(other.bind(created("b", 4))).isEmpty();
  }

  /** The one that decided died before it bound: the zone is kept for it, but not for ever. */
  @Test
  void aDecisionThatWasNeverCarriedOutIsForgottenInTime() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 4);
    var seen = api.topology("n1").orElseThrow();
    api.decide(
        "n1",
        seen.getMetadata().getResourceVersion(),
        Decisions.NONE.plus(PodView.of(a), Given.NOW));
    var b = created("b", 4);
    assertThat(other.bind(b)).isPresent();
    var later = new Replica(Clock.fixed(Given.NOW.plus(Duration.ofSeconds(31)), ZoneOffset.UTC));
    assertThat(later.bind(b)).isEmpty();
  }

  @Test
  void askedTwiceItBindsOnce() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 4);
    assertThat(one.bind(a)).isEmpty();
    assertThat(other.bind(a)).isEmpty();
    assertThat(api.bindings).hasSize(1);
    var meta = a.getMetadata();
    assertThat(one.binder.bind(meta.getNamespace(), meta.getName(), meta.getUid(), "n2", () -> {}))
        .contains("it is bound to n1");
  }

  @Test
  void aPodThatIsGoneOrAnotherByNowIsNotBound() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 1);
    assertThat(one.binder.bind("default", "a", "uid-of-a-former-a", "n1", () -> {}))
        .contains("the pod is gone");
    api.delete(a);
    assertThat(one.bind(a)).contains("the pod is gone");
  }

  @Test
  void aPodThatNeedsNoZoneIsBoundWithoutADecision() {
    api.publish(topology("n1", 0, 0));
    var pod = pod("a", 0).edit().editStatus().withQosClass("Burstable").endStatus().build();
    api.create(pod);
    assertThat(one.bind(pod)).isEmpty();
    assertThat(one.state.decisions("n1").all()).isEmpty();
  }

  /** Each read is a few milliseconds in which no other pod is decided on. */
  @Test
  void whatTheWatchesHaveShownIsNotReadAgain() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 2);
    var b = created("b", 2);
    api.topology("n1").ifPresent(one.state::put);
    one.state.put(a);
    one.state.put(b);
    api.reads = 0;
    assertThat(one.bind(a)).isEmpty();
    assertThat(one.bind(b)).isEmpty();
    assertThat(api.bindings).hasSize(2);
    assertThat(api.reads).isZero();
  }

  /** The watch is behind: what it has not shown yet may be why the pod fits. */
  @Test
  void whatDoesNotSuitIsReadAnew() {
    api.publish(topology("n1", 0, 0));
    api.topology("n1").ifPresent(one.state::put);
    api.publish(topology("n1", 4, 0));
    assertThat(one.bind(created("a", 4))).isEmpty();
  }

  @Test
  void whatSuitedByAnOldTopologyIsDecidedByTheNewOne() {
    api.publish(topology("n1", 4, 0));
    api.topology("n1").ifPresent(one.state::put);
    api.publish(topology("n1", 1, 0));
    assertThat(one.bind(created("a", 4)))
        .contains("zone 0 has 1 of 4 nvidia.com/gpu free, zone 1 has 0");
    assertThat(api.bindings).isEmpty();
  }

  /** The judged version counts, not the one that the watch brings while it is judged. */
  @Test
  void whatTheWatchBringsDuringTheLookIsLookedAtAnew() {
    api.publish(topology("n1", 4, 0));
    api.topology("n1").ifPresent(one.state::put);
    var a = created("a", 4);
    var b = created("b", 4);
    one.state.put(a);
    var once = new AtomicBoolean(true);
    var binder =
        new Binder(
            api,
            one.state,
            () ->
                new Judge(
                    UnknownNodes.Deny,
                    (free, request) -> {
                      var fit = Fit.of(free, request);
                      if (once.getAndSet(false)) {
                        assertThat(other.bind(b)).isEmpty();
                        api.topology("n1").ifPresent(one.state::put);
                      }
                      return fit;
                    }),
            Clock.fixed(Given.NOW, ZoneOffset.UTC));
    var meta = a.getMetadata();
    assertThat(binder.bind(meta.getNamespace(), meta.getName(), meta.getUid(), "n1", () -> {}))
        .isPresent();
    assertThat(api.bindings).hasSize(1);
  }

  /** kube-scheduler's patience ended before the API server had answered us. */
  @Test
  void askedAgainMeanwhileItDoesNotSayThatItIsBound() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 4);
    var again = new ArrayList<Optional<String>>();
    api.meanwhile = () -> again.add(one.bind(a));
    api.refuseBindings = true;
    assertThat(one.bind(a)).isPresent();
    assertThat(again).containsExactly(Optional.of("its former binding is still under way"));
    api.refuseBindings = false;
    assertThat(one.bind(a)).isEmpty();
  }

  /** Their decisions are in one annotation. */
  @Test
  void whatIsTakenBackLeavesWhatAnotherReplicaDecided() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 2);
    var b = created("b", 2);
    api.refuseBindings = true;
    api.beforeBinding =
        () -> {
          api.refuseBindings = false;
          assertThat(other.bind(b)).isEmpty();
          api.refuseBindings = true;
        };
    assertThat(one.bind(a)).isPresent();
    one.state.put(api.topology("n1").orElseThrow());
    assertThat(one.state.decisions("n1").all())
        .extracting(Decisions.Decision::name)
        .containsExactly("b");
  }

  /** The watch of pods is behind too. */
  @Test
  void aPodThatAnotherReplicaBoundIsNotRefused() {
    api.publish(topology("n1", 4, 0));
    api.publish(topology("n2", 4, 0));
    var a = created("a", 1);
    one.state.put(a);
    assertThat(other.bind(a)).isEmpty();
    assertThat(one.bind(a)).isEmpty();
    var b = created("b", 1);
    one.state.put(b);
    assertThat(other.bind(b)).isEmpty();
    var meta = b.getMetadata();
    assertThat(one.binder.bind(meta.getNamespace(), meta.getName(), meta.getUid(), "n2", () -> {}))
        .contains("it is bound to n1");
    one.state.put(api.topology("n2").orElseThrow());
    assertThat(one.state.decisions("n2").all()).isEmpty();
    assertThat(api.bindings).hasSize(2);
  }

  @Test
  void aPodThatIsGoneByThenKeepsNoZone() {
    api.publish(topology("n1", 4, 0));
    var a = created("a", 4);
    one.state.put(a);
    api.delete(a);
    assertThat(one.bind(a)).contains("the pod is gone");
    assertThat(other.bind(created("b", 4))).isEmpty();
  }

  @Test
  void theTopologyThatWentAwayIsNotUsed() {
    api.publish(topology("n1", 4, 0));
    one.state.put(topology("n2", 4, 4));
    var a = created("a", 1);
    var meta = a.getMetadata();
    assertThat(one.binder.bind(meta.getNamespace(), meta.getName(), meta.getUid(), "n2", () -> {}))
        .contains("it has no NodeResourceTopology");
  }
}
