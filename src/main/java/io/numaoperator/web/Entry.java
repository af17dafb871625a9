package io.numaoperator.web;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Placement;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.view.NodeLine;
import io.numaoperator.view.NodeMap;
import io.numaoperator.view.NodeMaps;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One node, to be found, counted and sorted: of many, few are drawn.
 *
 * @param standing one of Ready, Changing, NotReady, Unknown
 * @param crosses whether containers on it are across zones
 * @param searched what a filter's words are looked for in
 * @param sortKey puts gpu-2 before gpu-10
 */
record Entry(
    NumaNodeState state,
    Optional<NodeResourceTopology> topology,
    NodeLine line,
    Standing standing,
    boolean crosses,
    String searched,
    String sortKey) {
  static final Comparator<Entry> BY_NAME = Comparator.comparing(Entry::sortKey);

  static final Comparator<Entry> TROUBLE_FIRST =
      Comparator.comparing((Entry entry) -> !entry.crosses())
          .thenComparing(Entry::standing)
          .thenComparing(BY_NAME);

  private static final int DIGITS = 12;

  static Entry of(NumaNodeState state, Optional<NodeResourceTopology> topology) {
    var line = NodeLine.of(state);
    var placed = placed(state);
    return new Entry(
        state,
        topology,
        line,
        judge(state, line.ready()),
        line.cross().orElse(0) > 0
            || placed.stream().anyMatch(c -> c.placement == Placement.CrossNUMA),
        Stream.concat(
                Stream.of(line.node(), line.policy(), line.reason()),
                placed.stream().map(c -> c.pod))
            .collect(Collectors.joining("\n"))
            .toLowerCase(Locale.ROOT),
        sortKey(line.node()));
  }

  private static List<PlacedContainer> placed(NumaNodeState state) {
    return state.getStatus() == null || state.getStatus().containers == null
        ? List.of()
        : state.getStatus().containers.placed;
  }

  private static Standing judge(NumaNodeState state, Condition.Status ready) {
    var attempt = state.getStatus() == null ? null : state.getStatus().attempt;
    if (attempt != null
        && attempt.result == null
        && attempt.step != null
        && attempt.step != Step.Done) {
      return Standing.Changing;
    }
    return Standing.of(ready);
  }

  private static String sortKey(String name) {
    var key = new StringBuilder();
    var digits = new StringBuilder();
    for (char c : (name + " ").toCharArray()) {
      if (c >= '0' && c <= '9') {
        digits.append(c);
      } else {
        if (!digits.isEmpty()) {
          key.repeat("0", Math.max(0, DIGITS - digits.length())).append(digits);
          digits.setLength(0);
        }
        key.append(c);
      }
    }
    return key.toString();
  }

  NodeMap map() {
    return NodeMaps.of(state, topology);
  }

  List<Condition> conditions() {
    return state.getStatus() == null || state.getStatus().conditions == null
        ? List.of()
        : state.getStatus().conditions;
  }

  String name() {
    return line.node();
  }

  boolean is(Standing wanted) {
    return wanted == Standing.Any || (wanted == Standing.Crossing ? crosses : standing == wanted);
  }

  boolean answers(Question question) {
    return (question.policy().isEmpty() || question.policy().equals(line.policy()))
        && question.words().stream().allMatch(searched::contains);
  }
}
