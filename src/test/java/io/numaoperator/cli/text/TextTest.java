package io.numaoperator.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.cli.Recorded;
import io.numaoperator.cli.TextGolden;
import io.numaoperator.explain.NodeFacts;
import io.numaoperator.view.ClusterStatus;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMaps;
import io.numaoperator.view.PodExplanation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What people see, drawn from the objects of a lab. */
class TextTest {
  private static final OptionalInt ENDLESS = OptionalInt.empty();
  private final Recorded recorded = new Recorded();

  @Test
  void statusOfAClusterThatIsReady() {
    TextGolden.assertMatches("status", status(false, ENDLESS));
    TextGolden.assertMatches("status-wide", status(true, ENDLESS));
  }

  @Test
  void statusSaysWhatComesNextAndCutsItToTheTerminal() {
    var states = recorded.states();
    states.getFirst().getStatus().conditions.stream()
        .filter(c -> c.type.equals("AlignmentReady"))
        .forEach(
            c -> {
              c.status = Condition.Status.False;
              c.reason = "WaitingForPods";
              c.message =
                  "cordoned for attempt 2; waits for default/left to end; goes back into service at 10:00";
            });
    var status = ClusterStatus.of(recorded.policies(), states);
    assertThat(status.isReady()).isFalse();
    var cut = StatusText.of(status, false, Paint.NONE, OptionalInt.of(100));
    TextGolden.assertMatches("status-waiting", cut);
    assertThat(cut.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    assertThat(StatusText.of(status, true, Paint.NONE, OptionalInt.of(100))).contains("at 10:00");
  }

  @Test
  void mapOfANodeThatHoldsPods() {
    TextGolden.assertMatches(
        "map-node", NodeMapText.of(recorded.map("gpu-1"), Paint.NONE, ENDLESS));
  }

  @Test
  void aContainerAcrossNumaNodesIsACapitalLetterAndComesFirst() {
    var text = NodeMapText.of(crossing(), Paint.NONE, ENDLESS);
    TextGolden.assertMatches("map-crossing", text);
    assertThat(text).contains("GPUs     AAaa").contains("A  default/left");
  }

  @Test
  void coloursChangeNothingButColours() {
    var map = crossing();
    var coloured = NodeMapText.of(map, new Paint(true), ENDLESS);
    assertThat(coloured).contains("\u001b[1;31mAA\u001b[0m");
    assertThat(coloured.replaceAll("\u001b\\[[0-9;]*m", ""))
        .isEqualTo(NodeMapText.of(map, Paint.NONE, ENDLESS));
  }

  @Test
  void largeZonesTakeSeveralRows() {
    var state = recorded.state("gpu-2");
    var zone = state.getStatus().inventory.zones.getFirst();
    zone.cpus = "0-31,64-95";
    zone.cores = List.of();
    TextGolden.assertMatches(
        "map-large", NodeMapText.of(NodeMaps.of(state, Optional.empty()), Paint.NONE, ENDLESS));
  }

  @Test
  void mapOfAllNodes() {
    TextGolden.assertMatches(
        "map-cluster",
        ClusterMapText.of(List.of(crossing(), recorded.map("gpu-2")), Paint.NONE, ENDLESS));
  }

  @Test
  void whyAPodIsPending() {
    TextGolden.assertMatches(
        "explain-pending", explain(recorded.pod("pending"), recorded.states()));
  }

  @Test
  void whyAPodWasRejected() {
    TextGolden.assertMatches(
        "explain-rejected", explain(recorded.pod("rejected"), recorded.states()));
  }

  @Test
  void howAPodIsAcrossNumaNodesAndWhereItCouldBe() {
    var pod = recorded.pod("left");
    pod.getSpec().setNodeSelector(Map.of());
    var states = recorded.states();
    cross(states.getFirst());
    var text = explain(pod, states);
    TextGolden.assertMatches("explain-crossing", text);
    assertThat(text).contains("across NUMA nodes").contains("gpu-2  fits");
  }

  @Test
  void anAlignedPodIsWell() {
    var explanation = explanation(recorded.pod("left"), recorded.states());
    assertThat(explanation.well()).isTrue();
    TextGolden.assertMatches("explain-aligned", ExplainText.of(explanation, false, Paint.NONE));
  }

  private String status(boolean wide, OptionalInt width) {
    return StatusText.of(
        ClusterStatus.of(recorded.policies(), recorded.states()), wide, Paint.NONE, width);
  }

  /** As a kubelet without strict policy would have placed it. */
  private static void cross(NumaNodeState state) {
    var left =
        state.getStatus().containers.placed.stream()
            .filter(c -> c.pod.equals("default/left"))
            .findFirst()
            .orElseThrow();
    left.placement = Placement.CrossNUMA;
    left.cpus = "1,5,9,13";
    left.cpuZones = List.of(0, 1);
  }

  private NodeMap crossing() {
    var state = recorded.state("gpu-1");
    cross(state);
    return NodeMaps.of(state, recorded.topology("gpu-1"));
  }

  private String explain(Pod pod, List<NumaNodeState> states) {
    return ExplainText.of(explanation(pod, states), false, Paint.NONE);
  }

  private PodExplanation explanation(Pod pod, List<NumaNodeState> states) {
    var facts =
        states.stream()
            .map(
                s ->
                    NodeFacts.of(
                        s.getMetadata().getName(),
                        Optional.of(s),
                        recorded.topology(s.getMetadata().getName())))
            .toList();
    return PodExplanation.of(
        pod,
        facts,
        states.stream()
            .collect(Collectors.toMap(s -> s.getMetadata().getName(), Function.identity())),
        recorded.nodes().stream()
            .collect(Collectors.toMap((Node n) -> n.getMetadata().getName(), Function.identity())));
  }
}
