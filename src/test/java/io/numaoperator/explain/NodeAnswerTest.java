package io.numaoperator.explain;

import static io.numaoperator.topology.fit.TestNode.GI;
import static io.numaoperator.topology.fit.TestNode.GPU;
import static io.numaoperator.topology.fit.TestNode.app;
import static io.numaoperator.topology.fit.TestNode.container;
import static io.numaoperator.topology.fit.TestNode.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.explain.Holder.Held;
import io.numaoperator.explain.NodeAnswer.Amount;
import io.numaoperator.explain.NodeAnswer.Outcome;
import io.numaoperator.explain.NodeAnswer.ZoneNumbers;
import io.numaoperator.explain.NodeFacts.Zones;
import io.numaoperator.topology.fit.ContainerRequest.Kind;
import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.KubeletRules;
import io.numaoperator.topology.fit.KubeletRules.Policy;
import io.numaoperator.topology.fit.KubeletRules.Scope;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.PodRequest;
import io.numaoperator.topology.fit.TestNode;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodeAnswerTest {
  private static TestNode strict() {
    return TestNode.of(Policy.SingleNumaNode, Scope.Pod);
  }

  private static NodeFacts facts(TestNode node, Holder... holders) {
    return facts(node.free(), holders);
  }

  private static NodeFacts facts(NodeFree free, Holder... holders) {
    return new NodeFacts("gpu-1", new Zones.Known(free), List.of(holders), 0);
  }

  private static Holder holder(String pod, Held... held) {
    return new Holder(pod, "main", Placement.Aligned, List.of(held));
  }

  @Test
  void saysInNumbersWhatIsMissingAndWhoHasIt() {
    var answer =
        NodeAnswer.of(
            pod(app(1, 1, 4)),
            facts(
                strict().zone(0, 5, 6, 2).zone(1, 6, 7, 2),
                holder("train/a", new Held(GPU, 1, Set.of(0)), new Held("cpu", 1, Set.of(0))),
                holder("train/b", new Held(GPU, 2, Set.of(1)), new Held("cpu", 1, Set.of(1))),
                holder("web/c", new Held("cpu", 1, Set.of(0)))));
    assertThat(answer.outcome()).isEqualTo(Outcome.NotNow);
    assertThat(answer.takesIt()).isFalse();
    assertThat(answer.sentence())
        .isEqualTo(
            "needs 4 nvidia.com/gpu in one zone; zone 0 has 2 free, zone 1 has 2 free; 4 free in"
                + " all");
    assertThat(answer.holders()).extracting(Holder::pod).containsExactly("train/b", "train/a");
    assertThat(answer.text())
        .isEqualTo(
            answer.sentence()
                + "; train/b holds 2 nvidia.com/gpu on zone 1; train/a holds 1 nvidia.com/gpu on"
                + " zone 0");
    assertThat(answer.zones())
        .first()
        .isEqualTo(
            new ZoneNumbers(
                0,
                List.of(
                    new Amount(GPU, 4, 2, 4),
                    new Amount("cpu", 1, 5, 7),
                    new Amount("memory", GI, 6 * GI, 8 * GI)),
                false));
  }

  @Test
  void whatIsMissingOnlyTogetherIsSaidZoneByZone() {
    var answer =
        NodeAnswer.of(pod(app(6, 1, 4)), facts(strict().zone(0, 2, 6, 4).zone(1, 7, 8, 2)));
    assertThat(answer.sentence())
        .isEqualTo(
            "needs 4 nvidia.com/gpu, 6 CPUs and 1Gi of memory in one zone; zone 0 has 2 of 6 CPUs"
                + " free, zone 1 has 2 of 4 nvidia.com/gpu free");
  }

  @Test
  void whatNoEmptyNodeCouldServeIsSaidToBeSo() {
    var answer =
        NodeAnswer.of(
            pod(app(1, 1, 6)),
            facts(
                strict().zone(0, 7, 8, 2).zone(1, 7, 8, 4),
                holder("train/a", new Held(GPU, 2, Set.of(0)))));
    assertThat(answer.outcome()).isEqualTo(Outcome.Never);
    assertThat(answer.sentence())
        .isEqualTo(
            "needs 6 nvidia.com/gpu in one zone; even when the node is empty zone 0 has 4 free,"
                + " zone 1 has 4 free: this node can never admit it");
    assertThat(answer.holders()).isEmpty();
  }

  @Test
  void namesTheContainerUnderScopeContainer() {
    var node = TestNode.of(Policy.SingleNumaNode, Scope.Container);
    var request = pod(app(1, 1, 0), container("llm", Kind.App, 1000, 1, 3), app(1, 1, 0));
    var answer = NodeAnswer.of(request, facts(node.zone(0, 7, 8, 2).zone(1, 7, 8, 2)));
    assertThat(answer.sentence()).startsWith("container llm needs 3 nvidia.com/gpu in one zone; ");
  }

  @Test
  void aRequestForSeveralZonesIsMeasuredOverThem() {
    var node = TestNode.of(Policy.Restricted, Scope.Pod).zone(0, 7, 8, 4).zone(1, 7, 8, 1);
    assertThat(NodeAnswer.of(burstable(6), facts(node)).sentence())
        .isEqualTo(
            "needs 6 nvidia.com/gpu in 2 zones; zone 0 has 4 free, zone 1 has 1 free; 5 free in"
                + " all");
    var free = TestNode.of(Policy.Restricted, Scope.Pod).zone(0, 7, 8, 4).zone(1, 7, 8, 4);
    assertThat(NodeAnswer.of(pod(app(1, 1, 6)), facts(free)).sentence())
        .as("a CPU takes one zone, 6 GPUs take two: no shortage")
        .contains("take 2 zones");
    assertThat(NodeAnswer.of(burstable(6), facts(free)).into()).containsExactly(0, 1);
  }

  private static PodRequest burstable(int gpus) {
    return new PodRequest(false, false, List.of(app(0, 0, gpus)));
  }

  @Test
  void saysWhereItFits() {
    var answer =
        NodeAnswer.of(pod(app(4, 4, 4)), facts(strict().zone(0, 7, 8, 2).zone(1, 7, 8, 4)));
    assertThat(answer.outcome()).isEqualTo(Outcome.Fits);
    assertThat(answer.sentence()).isEqualTo("would be admitted now, on zone 1");
    assertThat(answer.into()).containsExactly(1);
    assertThat(answer.zones()).extracting(ZoneNumbers::enough).containsExactly(false, true);
    assertThat(answer.takesIt()).isTrue();
    assertThat(NodeAnswer.of(pod(app(1, 1, 1)), facts(strict().zone(3, 7, 8, 4))).sentence())
        .isEqualTo("would be admitted now, on zone 3");
  }

  @Test
  void aKubeletThatDoesNotAlignIsSaidNotTo() {
    var node = TestNode.of(Policy.BestEffort, Scope.Pod).zone(0, 7, 8, 2).zone(1, 7, 8, 2);
    var answer = NodeAnswer.of(pod(app(1, 1, 4)), facts(node));
    assertThat(answer.outcome()).isEqualTo(Outcome.FitsAcross);
    assertThat(answer.sentence())
        .isEqualTo(
            "would be admitted now, on zones 0 and 1, not aligned: topologyManagerPolicy is"
                + " BestEffort");
    assertThat(NodeAnswer.of(burstable(0), facts(node)).outcome()).isEqualTo(Outcome.NotAligned);
  }

  @Test
  void whatIsNotKnownIsSaidNotToBe() {
    var answer =
        NodeAnswer.of(pod(app(1, 1, 1)), NodeFacts.of("gpu-1", Optional.empty(), Optional.empty()));
    assertThat(answer.outcome()).isEqualTo(Outcome.Unknown);
    assertThat(answer.takesIt()).isFalse();
    assertThat(answer.sentence()).contains("it has no NodeResourceTopology");
    var unreadable = new NodeResourceTopology();
    unreadable.getMetadata().setName("gpu-1");
    assertThat(
            NodeAnswer.of(
                    pod(app(1, 1, 1)),
                    NodeFacts.of("gpu-1", Optional.empty(), Optional.of(unreadable)))
                .sentence())
        .contains("cannot be used: no zones");
  }

  @Test
  void resourceClaimsAreNeverCalledAligned() {
    var yaml =
        """
        apiVersion: v1
        kind: Pod
        spec:
          resourceClaims: [{name: gpu, resourceClaimName: mine}]
          containers: [{name: main, resources: {limits: {cpu: 1, memory: 1Gi}}}]
        """;
    var answer =
        NodeAnswer.of(
            new KubernetesSerialization().unmarshal(yaml, Pod.class),
            facts(strict().zone(0, 7, 8, 4).zone(1, 7, 8, 4)));
    assertThat(answer.remarks()).singleElement().asString().startsWith("unsupported: ");
  }

  /** Whatever the node and the pod: the outcome is the model's, and there is something to read. */
  @Test
  void neverContradictsTheModel() {
    var random = new Random(7);
    for (int i = 0; i < 3000; i++) {
      var policy = Policy.values()[random.nextInt(4)];
      var scope = Scope.values()[random.nextInt(2)];
      var rules = new KubeletRules(policy, scope, true, true, random.nextBoolean(), 2, false);
      var node = TestNode.of(rules);
      for (int zone = 0; zone < 1 + random.nextInt(3); zone++) {
        node.zone(zone, random.nextInt(8), random.nextInt(9), random.nextInt(5));
      }
      var request =
          random.nextBoolean()
              ? pod(app(random.nextInt(9), random.nextInt(9), random.nextInt(7)))
              : pod(
                  container("i", Kind.Init, 1000L * random.nextInt(9), 1, random.nextInt(5)),
                  app(random.nextInt(5), 1, random.nextInt(5)),
                  container("b", Kind.App, 1000L * random.nextInt(5), 1, random.nextInt(5)));
      var answer = NodeAnswer.of(request, facts(node));
      var fit = Fit.of(node.free(), request);
      assertThat(answer.takesIt()).isEqualTo(!(fit instanceof Fit.DoesNotFit));
      assertThat(answer.sentence()).isNotBlank();
      if (answer.outcome() == Outcome.Never) {
        assertThat(Fit.of(node.free().empty(), request)).isInstanceOf(Fit.DoesNotFit.class);
      }
    }
  }

  @Test
  void holdersComeFromTheNodesState() {
    var yaml =
        """
        apiVersion: numaoperator.io/v1alpha1
        kind: NumaNodeState
        metadata: {name: gpu-1}
        spec: {policy: p}
        status:
          inventory: {zones: [{id: 0, cpus: 0-3}, {id: 1, cpus: 4-7}]}
          containers:
            placedLeftOut: 3
            placed:
            - {pod: train/a, container: main, placement: CrossNUMA, cpus: "2-4", memory: 1073741824,
               memoryZones: [0],
               devices: [{resource: nvidia.com/gpu, count: 2, zones: [1]}]}
        """;
    var state = new KubernetesSerialization().unmarshal(yaml, NumaNodeState.class);
    var facts = NodeFacts.of("gpu-1", Optional.of(state), Optional.empty());
    assertThat(facts.holdersLeftOut()).isEqualTo(3);
    assertThat(facts.holders())
        .singleElement()
        .extracting(Holder::sentence)
        .isEqualTo(
            "train/a holds 2 nvidia.com/gpu on zone 1, 2 CPUs on zone 0, 1 CPU on zone 1, 1Gi of"
                + " memory on zone 0");
    assertThat(facts.holders().getFirst().amountOf("cpu")).isEqualTo(3);
    assertThat(Crossing.sentence(crossing(state)))
        .isEqualTo("CPUs 2-4 on zones 0 and 1, memory on zone 0, 2 nvidia.com/gpu on zone 1");
  }

  private static io.numaoperator.api.NumaNodeStateStatus.PlacedContainer crossing(
      NumaNodeState state) {
    var placed = state.getStatus().containers.placed.getFirst();
    placed.cpuZones = List.of(0, 1);
    return placed;
  }
}
