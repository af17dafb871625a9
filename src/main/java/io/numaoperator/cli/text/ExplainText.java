package io.numaoperator.cli.text;

import io.numaoperator.explain.NodeAnswer.Amount;
import io.numaoperator.explain.NodeAnswer.Outcome;
import io.numaoperator.explain.NodeAnswer.ZoneNumbers;
import io.numaoperator.view.PodExplanation;
import io.numaoperator.view.PodExplanation.Candidate;
import java.util.stream.Collectors;

/** What {@code kubectl numa explain} prints. */
public final class ExplainText {
  private static final int MOST_NODES = 10;
  private static final int MOST_HOLDERS = 8;

  private ExplainText() {}

  /**
   * @param all whether every node is listed, not only the first ones
   */
  public static String of(PodExplanation pod, boolean all, Paint paint) {
    var text = new StringBuilder();
    text.append(paint.of(pod.well() ? Style.Good : Style.Bad, pod.headline())).append('\n');
    pod.details().forEach(detail -> text.append("  ").append(detail).append('\n'));
    if (pod.nodes().isEmpty()) {
      return text.toString();
    }
    text.append('\n').append(paint.of(Style.Title, summary(pod))).append('\n');
    long shown = all ? pod.nodes().size() : MOST_NODES;
    pod.nodes().stream().limit(shown).forEach(node -> text.append(node(node, paint)));
    if (pod.nodes().size() > shown) {
      text.append("%d more nodes; see --all%n".formatted(pod.nodes().size() - shown));
    }
    text.append(
        paint.of(
            Style.Minor,
            "Looked at: NUMA nodes, nodeSelector, node affinity, cordons, taints. Not looked at: other"
                + " pods' affinity, spreading, volumes, ports, quotas, pods on their way."));
    return text.append('\n').toString();
  }

  private static String summary(PodExplanation pod) {
    long takers = pod.takers();
    return takers == 0
        ? "no node could take it now"
        : takers == 1
            ? "1 of %d nodes could take it now".formatted(pod.nodes().size())
            : "%d of %d nodes could take it now".formatted(takers, pod.nodes().size());
  }

  private static String node(Candidate node, Paint paint) {
    var answer = node.answer();
    var text = new StringBuilder();
    text.append(paint.of(Style.Title, answer.node()))
        .append("  ")
        .append(paint.of(style(node), word(node)))
        .append("  ")
        .append(node.obstacle().map(o -> o + "; as to NUMA: ").orElse(""))
        .append(answer.sentence())
        .append('\n');
    if (node.obstacle().isEmpty()) {
      answer.zones().forEach(zone -> text.append(zone(zone, paint)));
    }
    answer.holders().stream()
        .limit(MOST_HOLDERS)
        .forEach(holder -> text.append("  ").append(holder.sentence()).append('\n'));
    if (answer.holders().size() > MOST_HOLDERS) {
      text.append(
          "  and %d more hold what is missing%n".formatted(answer.holders().size() - MOST_HOLDERS));
    }
    answer
        .remarks()
        .forEach(
            remark ->
                text.append("  ").append(paint.of(Style.Doubtful, "note: " + remark)).append('\n'));
    return text.toString();
  }

  private static String zone(ZoneNumbers zone, Paint paint) {
    return "  zone %d  %s  %s%n"
        .formatted(
            zone.zone(),
            zone.enough() ? paint.of(Style.Good, "enough    ") : paint.of(Style.Bad, "not enough"),
            zone.amounts().stream().map(ExplainText::amount).collect(Collectors.joining("; ")));
  }

  private static String amount(Amount amount) {
    boolean bytes =
        amount.resource().equals("memory") || amount.resource().startsWith("hugepages-");
    return "%s %s free of %s, wants %s"
        .formatted(
            amount.resource(),
            figure(amount.free(), bytes),
            figure(amount.most(), bytes),
            figure(amount.wanted(), bytes));
  }

  private static String figure(long amount, boolean bytes) {
    return bytes ? NodeMapText.size(amount) : Long.toString(amount);
  }

  private static String word(Candidate node) {
    if (node.obstacle().isPresent() && node.answer().outcome() != Outcome.Never) {
      return "kept out";
    }
    return switch (node.answer().outcome()) {
      case Fits -> "fits";
      case FitsAcross -> "fits, across NUMA nodes";
      case NotNow -> "not now";
      case Never -> "never";
      case NotAligned -> "anywhere";
      case Unknown -> "unknown";
    };
  }

  private static Style style(Candidate node) {
    if (node.obstacle().isPresent()) {
      return Style.Doubtful;
    }
    return switch (node.answer().outcome()) {
      case Fits -> Style.Good;
      case FitsAcross, NotAligned, Unknown -> Style.Doubtful;
      case NotNow, Never -> Style.Bad;
    };
  }
}
