package io.numaoperator.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.scheduler.Judge.UnknownNodes;
import io.numaoperator.scheduler.Wire.ExtenderArgs;
import io.numaoperator.scheduler.Wire.ExtenderBindingArgs;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.NodeTopology;
import io.numaoperator.topology.fit.PodRequests;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/**
 * Many pods, four nodes, two replicas of the extender whose watches lag behind by chance, and
 * kubelets (simulated by the model) that admit later than they are told and publish later still.
 */
class SimulationTest {
  private static final List<String> NODES = List.of("n0", "n1", "n2", "n3");
  private static final int PODS = 200;

  private final FakeApiServer api = new FakeApiServer();
  private final Clock clock = Clock.fixed(Given.NOW, ZoneOffset.UTC);
  private final List<Replica> replicas = List.of(new Replica(), new Replica());
  private final Map<String, Kubelet> kubelets = new LinkedHashMap<>();
  private int delivered;

  private final class Replica {
    final ClusterState state = new ClusterState(clock);
    final Judge judge = new Judge(UnknownNodes.Deny, Fit::of);
    final Extender extender =
        new Extender(
            state,
            () -> judge,
            new Binder(api, state, () -> judge, clock),
            new CycleGate(Duration.ZERO),
            new Refusals());

    void catchUp() {
      api.bindings.forEach(state::put);
      NODES.forEach(node -> api.topology(node).ifPresent(state::put));
    }
  }

  /** Admits in the order of the bindings; holds what the model says. */
  private final class Kubelet {
    final String node;
    NodeFree free;
    final Map<String, Set<Integer>> pods = new HashMap<>();
    final List<String> rejected = new ArrayList<>();

    Kubelet(String node) {
      this.node = node;
      free = NodeTopology.of(Given.topology(node, 4, 4)).free();
    }

    void admit(Pod pod) {
      switch (Fit.of(free, PodRequests.of(pod))) {
        case Fit.Fits fits -> {
          free = fits.after();
          pods.put(pod.getMetadata().getName(), fits.zones());
        }
        case Fit.DoesNotFit no -> rejected.add(pod.getMetadata().getName() + ": " + no.message());
        case Fit.NotAligned _ -> pods.put(pod.getMetadata().getName(), Set.of());
      }
    }

    void publish() {
      api.publish(Given.accounting(topology(), pods));
    }

    NodeResourceTopology topology() {
      var zones = new NodeResourceTopology.Zone[] {zone(0), zone(1)};
      return Given.topology(node, "single-numa-node", "pod", zones);
    }

    private NodeResourceTopology.Zone zone(int id) {
      var zone = free.zones().get(id);
      return Given.zone(
          id,
          zone.freeCpus(),
          (int) (zone.memory().get("memory").free() / Given.GI),
          free.devices().get(id).free());
    }
  }

  @RepeatedTest(20)
  void noPodIsRejectedAndNoneWaitsThatAZoneCouldTake(RepetitionInfo run) {
    var random = new Random(run.getCurrentRepetition());
    for (var node : NODES) {
      kubelets.put(node, new Kubelet(node));
      kubelets.get(node).publish();
    }
    var waiting = new ArrayList<Pod>();
    for (int i = 0; i < PODS; i++) {
      var pod = Given.created(Given.pod("p" + i, 1 << random.nextInt(3)), random.nextInt(100));
      api.create(pod);
      waiting.add(pod);
    }
    for (int step = 0; step < 6 * PODS; step++) {
      var pod = waiting.get(random.nextInt(waiting.size()));
      if (schedule(pod, random)) {
        waiting.remove(pod);
      }
      happen(random);
    }
    settle();
    for (var kubelet : kubelets.values()) {
      assertThat(kubelet.rejected).isEmpty();
    }
    assertThat(api.bindings.size()).isGreaterThanOrEqualTo(8);
    for (var pod : waiting) {
      if (schedule(pod, random)) {
        settle();
      }
    }
    for (var kubelet : kubelets.values()) {
      assertThat(kubelet.rejected).isEmpty();
      for (var pod : api.bindings) {
        waiting.removeIf(p -> p.getMetadata().getUid().equals(pod.getMetadata().getUid()));
      }
      for (var pod : waiting) {
        assertThat(Fit.of(kubelet.free, PodRequests.of(pod))).isInstanceOf(Fit.DoesNotFit.class);
      }
    }
  }

  private boolean schedule(Pod pod, Random random) {
    var asked = replicas.get(random.nextInt(2)).extender;
    var suitable = asked.filter(new ExtenderArgs(pod, NODES)).nodeNames();
    if (suitable.isEmpty()) {
      return false;
    }
    var node = suitable.get(random.nextInt(suitable.size()));
    var meta = pod.getMetadata();
    return replicas
        .get(random.nextInt(2))
        .extender
        .bind(new ExtenderBindingArgs(meta.getName(), meta.getNamespace(), meta.getUid(), node))
        .error()
        .isEmpty();
  }

  private void happen(Random random) {
    if (random.nextInt(3) == 0) {
      replicas.get(random.nextInt(2)).catchUp();
    }
    if (random.nextInt(2) == 0 && delivered < api.bindings.size()) {
      deliver();
    }
    if (random.nextInt(4) == 0) {
      kubelets.get(NODES.get(random.nextInt(NODES.size()))).publish();
    }
  }

  private void deliver() {
    var pod = api.bindings.get(delivered++);
    kubelets.get(pod.getSpec().getNodeName()).admit(pod);
  }

  private void settle() {
    while (delivered < api.bindings.size()) {
      deliver();
    }
    kubelets.values().forEach(Kubelet::publish);
    replicas.forEach(Replica::catchUp);
  }
}
