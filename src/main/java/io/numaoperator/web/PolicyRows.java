package io.numaoperator.web;

import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicyStatus;
import io.numaoperator.view.Conditions;
import io.numaoperator.view.PolicyLine;
import io.numaoperator.web.Drawing.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** How a policy and its rollout stand. */
final class PolicyRows {
  private static final int WIDTH = 224;
  private static final int HEIGHT = 12;

  private PolicyRows() {}

  static Sheet.PolicyRow of(NumaPolicy policy, Question question) {
    var line = PolicyLine.of(policy);
    var conditions =
        Objects.requireNonNullElseGet(policy.getStatus(), NumaPolicyStatus::new).conditions;
    var ready = Conditions.find(conditions, "Ready");
    // what stalls or is under way says more than that it is not ready
    var told =
        ready
            .filter(PolicyRows::isTrue)
            .or(() -> Conditions.find(conditions, "Stalled").filter(PolicyRows::isTrue))
            .or(() -> Conditions.find(conditions, "Reconciling").filter(PolicyRows::isTrue))
            .or(() -> ready);
    var standing =
        told.filter(c -> c.type.equals("Reconciling")).isPresent()
            ? Standing.Changing
            : Standing.of(line.ready());
    boolean current = question.policy().equals(line.name());
    return new Sheet.PolicyRow(
        line.name(),
        question.policy(current ? "" : line.name()).href(),
        current,
        line.mode(),
        standing.word(),
        standing.label(),
        told.map(c -> c.reason).orElse(""),
        told.map(c -> c.message).orElse("The operator has not judged this policy yet."),
        words(line),
        bar(line));
  }

  private static boolean isTrue(Condition condition) {
    return condition.status == Condition.Status.True;
  }

  private static String words(PolicyLine line) {
    var words = new ArrayList<String>();
    words.add(
        "%s of %s nodes ready"
            .formatted(
                Sheets.number(line.readyNodes().orElse(0)), Sheets.number(line.nodes().orElse(0))));
    if (line.updating().orElse(0) > 0) {
      words.add(Sheets.number(line.updating().getAsInt()) + " changing");
    }
    if (line.failed().orElse(0) > 0) {
      words.add(Sheets.number(line.failed().getAsInt()) + " failed");
    }
    return String.join(", ", words);
  }

  private static Drawing bar(PolicyLine line) {
    var shapes = new ArrayList<Shape>();
    int total = Math.max(1, line.nodes().orElse(0));
    int x = part(shapes, 0, "ready", line.readyNodes().orElse(0), total);
    x = part(shapes, x, "changing", line.updating().orElse(0), total);
    x = part(shapes, x, "not-ready", line.failed().orElse(0), total);
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
