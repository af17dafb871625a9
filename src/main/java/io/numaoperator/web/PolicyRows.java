package io.numaoperator.web;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.api.NumaPolicyStatus.NodeCounts;
import io.numaoperator.web.Drawing.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** How a policy and its rollout stand. */
final class PolicyRows {
  private static final int WIDTH = 224;
  private static final int HEIGHT = 12;

  private PolicyRows() {}

  static Sheet.PolicyRow of(NumaPolicy policy, Question question) {
    var name = policy.getMetadata().getName();
    var status = Objects.requireNonNullElseGet(policy.getStatus(), NumaPolicyStatus::new);
    var ready = find(status, "Ready");
    // what stalls or is under way says more than that it is not ready
    var told =
        ready
            .filter(PolicyRows::isTrue)
            .or(() -> find(status, "Stalled").filter(PolicyRows::isTrue))
            .or(() -> find(status, "Reconciling").filter(PolicyRows::isTrue))
            .or(() -> ready);
    var standing =
        told.filter(c -> c.type.equals("Reconciling")).isPresent()
            ? Standing.Changing
            : Standing.of(NodeRows.word(ready.map(c -> c.status).orElse(Condition.Status.Unknown)));
    var counts = Objects.requireNonNullElseGet(status.nodes, NodeCounts::new);
    boolean current = question.policy().equals(name);
    return new Sheet.PolicyRow(
        name,
        question.policy(current ? "" : name).href(),
        current,
        policy.getSpec() == null || policy.getSpec().mode == null
            ? ""
            : policy.getSpec().mode.name(),
        standing.word(),
        standing.label(),
        told.map(c -> c.reason).orElse(""),
        told.map(c -> c.message).orElse("The operator has not judged this policy yet."),
        words(counts),
        bar(counts));
  }

  private static Optional<Condition> find(NumaPolicyStatus status, String type) {
    return status.conditions == null
        ? Optional.empty()
        : status.conditions.stream().filter(c -> type.equals(c.type)).findFirst();
  }

  private static boolean isTrue(Condition condition) {
    return condition.status == Condition.Status.True;
  }

  private static String words(NodeCounts counts) {
    var words = new ArrayList<String>();
    words.add(
        "%s of %s nodes ready"
            .formatted(Sheets.number(counts.ready), Sheets.number(counts.matched)));
    if (counts.updating > 0) {
      words.add(Sheets.number(counts.updating) + " changing");
    }
    if (counts.failed > 0) {
      words.add(Sheets.number(counts.failed) + " failed");
    }
    return String.join(", ", words);
  }

  private static Drawing bar(NodeCounts counts) {
    var shapes = new ArrayList<Shape>();
    int total = Math.max(1, counts.matched);
    int x = part(shapes, 0, "ready", counts.ready, total);
    x = part(shapes, x, "changing", counts.updating, total);
    x = part(shapes, x, "not-ready", counts.failed, total);
    if (x < WIDTH - 1) {
      shapes.add(new Shape("free", Drawing.box(x, 0, WIDTH - x, HEIGHT), ""));
    }
    return new Drawing(WIDTH, HEIGHT, List.copyOf(shapes));
  }

  private static int part(List<Shape> shapes, int x, String kind, int nodes, int total) {
    int width =
        nodes == 0 ? 0 : (int) Math.min(WIDTH - x, Math.max(4, (long) nodes * WIDTH / total));
    if (width > 1) {
      shapes.add(new Shape(kind, Drawing.box(x, 0, width, HEIGHT), ""));
      return x + width;
    }
    return x;
  }
}
