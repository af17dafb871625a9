package io.numaoperator.cli.text;

import io.numaoperator.api.Condition;
import io.numaoperator.cli.text.Table.Cell;
import io.numaoperator.view.ClusterStatus;
import io.numaoperator.view.NodeLine;
import io.numaoperator.view.PolicyLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The tables of {@code kubectl numa status}. */
public final class StatusText {
  private static final String NONE = "-";

  private StatusText() {}

  /**
   * @param wide whether next steps are shown in full, and what a node's kubelet is set to
   * @param width of the terminal; empty where it is none
   */
  public static String of(ClusterStatus status, boolean wide, Paint paint, OptionalInt width) {
    if (status.policies().isEmpty() && status.nodes().isEmpty()) {
      return "there is no NumaPolicy; apply one, for example config/samples/gpu-nodes.yaml\n";
    }
    var room = wide ? OptionalInt.empty() : width;
    return policies(status).format(paint, room)
        + "\n"
        + (status.nodes().isEmpty()
            ? "no policy has a node yet\n"
            : nodes(status, wide).format(paint, room));
  }

  private static Table policies(ClusterStatus status) {
    var table =
        new Table(
            "POLICY", "MODE", "READY", "REASON", "NODES", "ALIGNED", "UPDATING", "FAILED", "NEXT");
    for (PolicyLine policy : status.policies()) {
      table.row(
          new Cell(policy.name(), Style.Title),
          Cell.of(policy.mode()),
          ready(policy.ready()),
          Cell.of(policy.reason()),
          number(policy.nodes()),
          number(policy.readyNodes()),
          number(policy.updating()),
          alarm(policy.failed()),
          next(policy.ready(), policy.next()));
    }
    return table;
  }

  private static Table nodes(ClusterStatus status, boolean wide) {
    var headers =
        new ArrayList<>(
            List.of(
                "NODE", "POLICY", "READY", "REASON", "STEP", "ZONES", "GPUS", "ALIGNED", "CROSS"));
    if (wide) {
      headers.addAll(List.of("KUBELET", "TOPOLOGY"));
    }
    headers.add("NEXT");
    var table = new Table(headers.toArray(String[]::new));
    for (var node : status.nodes()) {
      table.row(cells(node, wide).toArray(Cell[]::new));
    }
    return table;
  }

  private static List<Cell> cells(NodeLine node, boolean wide) {
    var cells =
        new ArrayList<>(
            List.of(
                new Cell(node.node(), Style.Title),
                Cell.of(node.policy()),
                ready(node.ready()),
                Cell.of(node.reason()),
                Cell.of(node.step().map(Enum::name).orElse(NONE)),
                number(node.zones()),
                number(node.gpus()),
                number(node.aligned()),
                alarm(node.cross())));
    if (wide) {
      cells.add(Cell.of(node.kubeletVersion().orElse(NONE)));
      cells.add(Cell.of(topology(node)));
    }
    cells.add(next(node.ready(), node.next()));
    return cells;
  }

  static String topology(NodeLine node) {
    return node.topologyPolicy()
        .map(policy -> policy + node.topologyScope().map(scope -> "/" + scope).orElse(""))
        .orElse(NONE);
  }

  static Cell ready(Condition.Status status) {
    return new Cell(status.name(), style(status));
  }

  static Style style(Condition.Status status) {
    return switch (status) {
      case True -> Style.Good;
      case False -> Style.Bad;
      case Unknown -> Style.Doubtful;
    };
  }

  private static Cell number(OptionalInt number) {
    return Cell.of(
        Optional.of(number)
            .filter(OptionalInt::isPresent)
            .map(n -> "" + n.getAsInt())
            .orElse(NONE));
  }

  private static Cell alarm(OptionalInt number) {
    return new Cell(number(number).text(), number.orElse(0) > 0 ? Style.Bad : Style.Plain);
  }

  /** What is ready has none. */
  private static Cell next(Condition.Status ready, String next) {
    return Cell.of(ready == Condition.Status.True ? NONE : next.replace('\n', ' '));
  }
}
