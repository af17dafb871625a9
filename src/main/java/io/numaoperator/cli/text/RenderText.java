package io.numaoperator.cli.text;

import io.numaoperator.kubelet.SettingsDiff;
import io.numaoperator.plan.Provision;
import io.numaoperator.view.ObjectDiff;
import io.numaoperator.view.RenderedNode;
import io.numaoperator.view.Rendering;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What {@code kubectl numa render} prints: YAML, with what is no object in comments. */
public final class RenderText {
  private RenderText() {}

  /**
   * @param yaml of one object
   */
  public static String of(Rendering rendering, Function<Object, String> yaml) {
    var text = new StringBuilder();
    rendering.conflicts().forEach(c -> text.append(comment("CONFLICT " + c)));
    for (var part : rendering.parts()) {
      var name = "part %s, provider %s: ".formatted(part.part().label(), part.provider());
      switch (part.provision()) {
        case Provision.Refused(var reason, var message) ->
            text.append(comment(name + "REFUSED " + reason + ": " + message));
        case Provision.NotYet(var reason, var message) ->
            text.append(comment(name + "UNKNOWN " + reason + ": " + message));
        case Provision.Objects objects -> {
          text.append(comment(name + count(objects.objects().size(), "object")));
          objects.remarks().forEach(r -> text.append(comment("note: " + r.message())));
          objects.objects().forEach(object -> text.append(document(yaml.apply(object))));
        }
      }
    }
    rendering.nodes().forEach(node -> text.append(node(node, yaml)));
    return text.toString();
  }

  private static String node(RenderedNode node, Function<Object, String> yaml) {
    var name = "node " + node.node() + ": ";
    return switch (node) {
      case RenderedNode.Refused(var _, var reason, var message) ->
          comment(name + "REFUSED " + reason + ": " + message);
      case RenderedNode.Unknown(var _, var why) -> comment(name + "UNKNOWN " + why);
      case RenderedNode.Planned planned ->
          comment(name + "plan " + planned.planHash() + ", " + planned.file())
              + planned.notes().stream()
                  .map(n -> comment("note: " + n))
                  .collect(Collectors.joining())
              + (planned.changes().isEmpty()
                  ? comment("its kubelet runs with this already")
                  : planned.changes().stream()
                      .map(c -> comment("change: " + change(c)))
                      .collect(Collectors.joining()))
              + comment("the drop-in file, hash " + planned.state().getSpec().kubelet.hash + ":")
              + planned.dropIn().lines().map(l -> comment("| " + l)).collect(Collectors.joining())
              + document(yaml.apply(planned.state()));
    };
  }

  private static String change(SettingsDiff.Change change) {
    return "%s: %s -> %s"
        .formatted(
            change.field(), change.from().orElse("(not set)"), change.to().orElse("(not set)"));
  }

  private static String document(String yaml) {
    return yaml.startsWith("---\n") ? yaml : "---\n" + yaml;
  }

  private static String comment(String text) {
    return text.lines()
        .map(line -> ("# " + line).stripTrailing() + "\n")
        .collect(Collectors.joining());
  }

  /** What applying the objects would change. */
  public static String diff(List<ObjectDiff> objects, Rendering rendering, Paint paint) {
    var text = new StringBuilder();
    for (var object : objects) {
      if (!object.exists()) {
        text.append(paint.of(Style.Good, "+ " + object.object())).append('\n');
      } else if (!object.isSame()) {
        text.append(paint.of(Style.Title, "~ " + object.object())).append('\n');
        object
            .changes()
            .forEach(
                c ->
                    text.append(
                        "    %s: %s -> %s%n"
                            .formatted(
                                c.path(),
                                paint.of(Style.Bad, c.live().orElse("(not set)")),
                                paint.of(Style.Good, c.wanted()))));
      }
    }
    long same = objects.stream().filter(ObjectDiff::isSame).count();
    text.append(
        "%d of %d objects are in the cluster as they would be applied%n"
            .formatted(same, objects.size()));
    rendering
        .conflicts()
        .forEach(c -> text.append(paint.of(Style.Bad, "CONFLICT " + c)).append('\n'));
    for (var part : rendering.parts()) {
      refusal(part.provision())
          .lines()
          .forEach(
              line ->
                  text.append(paint.of(Style.Bad, "part " + part.part().label() + ": " + line))
                      .append('\n'));
    }
    for (var node : rendering.nodes()) {
      switch (node) {
        case RenderedNode.Refused(var name, var reason, var message) ->
            text.append(
                    paint.of(Style.Bad, "node %s: REFUSED %s: %s".formatted(name, reason, message)))
                .append('\n');
        case RenderedNode.Unknown(var name, var why) ->
            text.append(paint.of(Style.Doubtful, "node %s: UNKNOWN %s".formatted(name, why)))
                .append('\n');
        case RenderedNode.Planned _ -> {}
      }
    }
    return text.toString();
  }

  private static String refusal(Provision provision) {
    return switch (provision) {
      case Provision.Refused(var reason, var message) -> "REFUSED " + reason + ": " + message;
      case Provision.NotYet(var reason, var message) -> "UNKNOWN " + reason + ": " + message;
      case Provision.Objects _ -> "";
    };
  }

  private static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
