package io.numaoperator.web;

import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.web.Sheet.Chip;
import io.numaoperator.web.Sheet.Dot;
import io.numaoperator.web.Sheet.Link;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes the sheet that answers a question. */
final class Sheets {
  /** Nodes on a page: a few screens, and no more than a browser draws at once. */
  static final int PAGE = 50;

  private static final int DOT_PITCH = 12;
  private static final int DOTS_PER_LINE = 80;
  private static final int MOST_POLICIES = 50;

  private final ClusterSource cluster;

  Sheets(ClusterSource cluster) {
    this.cluster = cluster;
  }

  /** Whether there is something of that name; else it is not found. */
  record Answer(Sheet sheet, boolean found) {}

  Answer answer(Question question) {
    var topologies =
        cluster.topologies().stream()
            .collect(
                Collectors.toMap(
                    t -> t.getMetadata().getName(), Function.identity(), (one, other) -> one));
    return question.isAboutOneNode()
        ? node(question, topologies)
        : new Answer(nodes(question, topologies), true);
  }

  private Answer node(Question question, Map<String, NodeResourceTopology> topologies) {
    var entry =
        cluster.states().stream()
            .filter(s -> s.getMetadata().getName().equals(question.node()))
            .findFirst()
            .map(s -> entry(s, topologies));
    var sheet =
        new Sheet(
            question.node() + " – NUMA map",
            question,
            List.of(),
            List.of(),
            List.of(),
            0,
            entry.map(NodeRows::alone).stream().toList(),
            "",
            entry.isPresent() ? "" : "No policy has a node of this name.",
            List.of());
    return new Answer(sheet, entry.isPresent());
  }

  private Sheet nodes(Question question, Map<String, NodeResourceTopology> topologies) {
    var all =
        cluster.states().stream()
            .map(s -> entry(s, topologies))
            .sorted(question.byName() ? Entry.BY_NAME : Entry.TROUBLE_FIRST)
            .toList();
    var candidates = all.stream().filter(e -> e.answers(question)).toList();
    var found = candidates.stream().filter(e -> e.is(question.standing())).toList();
    int pages = Math.max(1, Math.ceilDiv(found.size(), PAGE));
    int page = Math.min(question.page(), pages);
    var shown = found.subList((page - 1) * PAGE, Math.min(page * PAGE, found.size()));
    var overview = all.size() > PAGE ? overview(found) : List.<Dot>of();
    return new Sheet(
        "NUMA map",
        question,
        policies(question),
        chips(question, candidates),
        overview,
        Math.ceilDiv(overview.size(), DOTS_PER_LINE) * DOT_PITCH,
        shown.stream().map(NodeRows::amongOthers).toList(),
        found(found.size(), all.size(), page, shown.size()),
        notice(all.size(), found.size()),
        pager(question, page, pages));
  }

  private static Entry entry(NumaNodeState state, Map<String, NodeResourceTopology> topologies) {
    return Entry.of(state, Optional.ofNullable(topologies.get(state.getMetadata().getName())));
  }

  private List<Sheet.PolicyRow> policies(Question question) {
    return cluster.policies().stream()
        .sorted(Comparator.comparing(p -> p.getMetadata().getName()))
        .limit(MOST_POLICIES)
        .map(policy -> PolicyRows.of(policy, question))
        .toList();
  }

  private static List<Chip> chips(Question question, List<Entry> candidates) {
    return Arrays.stream(Standing.values())
        .map(
            standing ->
                new Chip(
                    question.standing(standing).href(),
                    standing.label(),
                    standing.word(),
                    standing == Standing.Any ? "" : standing.sign(0, 0),
                    number((int) candidates.stream().filter(e -> e.is(standing)).count()),
                    question.standing() == standing))
        .toList();
  }

  /** By name, whatever the order of the list: a node keeps its place. */
  private static List<Dot> overview(List<Entry> found) {
    var byName = found.stream().sorted(Entry.BY_NAME).toList();
    return IntStream.range(0, byName.size())
        .mapToObj(
            i -> {
              var entry = byName.get(i);
              var standing = entry.crosses() ? Standing.Crossing : entry.standing();
              return new Dot(
                  Question.node(entry.name()).href(),
                  standing.word(),
                  standing.sign(i % DOTS_PER_LINE * DOT_PITCH, i / DOTS_PER_LINE * DOT_PITCH),
                  entry.name()
                      + ": "
                      + entry.standing().label()
                      + (entry.crosses() ? ", with pods across zones" : ""));
            })
        .toList();
  }

  private static String found(int found, int all, int page, int shown) {
    if (found == 0) {
      return "No node of " + number(all);
    }
    var of = found == all ? "" : " of " + number(all);
    if (shown == found) {
      return number(found) + of + (found == 1 && of.isEmpty() ? " node" : " nodes");
    }
    int first = (page - 1) * PAGE + 1;
    return "%s to %s of %s nodes%s"
        .formatted(
            number(first),
            number(first + shown - 1),
            number(found),
            found == all ? "" : " (of " + number(all) + ")");
  }

  private static String notice(int all, int found) {
    if (all == 0) {
      return "No node belongs to a NumaPolicy. Apply one, for example config/samples/observe.yaml:"
          + " it changes nothing, and this page shows what it sees.";
    }
    return found == 0 ? "No node answers to this filter." : "";
  }

  private static List<Link> pager(Question question, int page, int pages) {
    var links = new ArrayList<Link>();
    if (pages > 1) {
      for (int i = 1; i <= pages; i++) {
        boolean near = Math.abs(i - page) <= 2 || i == 1 || i == pages;
        if (near) {
          links.add(new Link(question.page(i).href(), number(i), i == page));
        }
      }
    }
    return links;
  }

  static String number(int number) {
    return NumberFormat.getIntegerInstance(Locale.ROOT).format(number);
  }
}
