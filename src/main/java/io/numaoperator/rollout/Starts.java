package io.numaoperator.rollout;

import io.numaoperator.rollout.Gangs.Gang;
import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Takes further nodes out of service, in their order, as far as canaries, windows, budget allow.
 */
final class Starts {
  private final List<NodeProgress> nodes;
  private final RolloutSettings settings;
  private final Gangs gangs;
  private final Instant now;
  private final CanaryGate canary;
  private final Optional<Wait> closed;
  private final Set<String> taken = new LinkedHashSet<>();
  private int free;
  private boolean heldForGang;
  private boolean told;

  /**
   * @param nodes all nodes of the policy in their order
   */
  Starts(List<NodeProgress> nodes, RolloutSettings settings, Gangs gangs, Instant now) {
    this.nodes = nodes;
    this.settings = settings;
    this.gangs = gangs;
    this.now = now;
    this.canary = new CanaryGate(nodes, settings.canary(), now);
    this.closed =
        settings.windows().isOpenAt(now)
            ? Optional.empty()
            : Optional.of(new Wait.Window(settings.windows().nextOpening(now)));
    this.free =
        settings.maxUnavailable() - (int) nodes.stream().filter(NodeProgress::unavailable).count();
  }

  void next(List<String> failed, List<Action> actions, Map<String, Wait> waits) {
    for (var node : nodes) {
      if (!isCandidate(node) || taken.contains(node.name())) {
        continue;
      }
      var wait =
          failed.isEmpty() || node.isTriedAgain()
              ? obstacle(node)
              : Optional.<Wait>of(new Wait.Stopped(failed));
      if (wait.isPresent()) {
        waits.put(node.name(), wait.get());
      } else {
        take(node, actions, waits);
      }
    }
  }

  /** It rests and has to be changed; what else keeps it back is told by its conditions. */
  private static boolean isCandidate(NodeProgress node) {
    return node.wanted()
        && node.nodeReady()
        && node.cordon() instanceof Cordon.None
        && !node.begun()
        && node.agentAlive()
        && node.grant().isEmpty()
        && (node.devicesWanted() || node.heldBack().isEmpty());
  }

  private Optional<Wait> obstacle(NodeProgress node) {
    return otherObstacle(node)
        .or(
            () ->
                node.devices() instanceof Devices.Change(var hash, var at)
                        && node.devicesWanted()
                        && now.isBefore(at)
                    ? Optional.of(new Wait.Settings(at))
                    : Optional.empty());
  }

  private Optional<Wait> otherObstacle(NodeProgress node) {
    var givenUp =
        node.drain()
            .givenUp()
            .filter(g -> now.isBefore(g.notBefore()))
            .filter(g -> !g.refused() || !isAnother(node));
    if (givenUp.isPresent()) {
      return Optional.of(new Wait.Backoff(givenUp.get()));
    }
    var retry = retryAt(node).filter(now::isBefore);
    if (retry.isPresent()) {
      return Optional.of(new Wait.Retry(retry.get()));
    }
    return closed.isPresent() && !node.newcomer() ? closed : canary.obstacle(node);
  }

  private void take(NodeProgress node, List<Action> actions, Map<String, Wait> waits) {
    if (node.newcomer()) {
      cordon(node, Optional.empty(), actions);
      return;
    }
    if (free <= 0 || heldForGang) {
      waits.put(node.name(), turn());
      return;
    }
    var gang =
        settings.maxUnavailable() > 1 && !node.holders().isEmpty()
            ? gangs.of(node.name())
            : Optional.<Gang>empty();
    var together = gang.map(g -> members(node, g)).orElse(List.of(node));
    if (together.size() > free && together.size() <= attainable()) {
      heldForGang = true; // else those behind would take what it waits for, for ever
      waits.put(
          node.name(),
          new Wait.Together(gang.get().name(), together.size(), settings.maxUnavailable()));
      return;
    }
    var shared = together.size() > 1 ? gang.map(Gang::name) : Optional.<String>empty();
    together.stream().limit(free).toList().forEach(member -> cordon(member, shared, actions));
  }

  private void cordon(NodeProgress node, Optional<String> gang, List<Action> actions) {
    taken.add(node.name());
    free -= node.newcomer() ? 0 : 1;
    actions.add(
        new Action.Cordon(node.name(), node.nextAttempt(), Draining.begin(settings, now), gang));
  }

  /** The node and those that share the job and could be taken now. */
  private List<NodeProgress> members(NodeProgress node, Gang gang) {
    var members = new ArrayList<>(List.of(node));
    nodes.stream()
        .filter(other -> gang.nodes().contains(other.name()) && !other.name().equals(node.name()))
        .filter(other -> isCandidate(other) && !other.newcomer() && !taken.contains(other.name()))
        .filter(other -> obstacle(other).isEmpty())
        .forEach(members::add);
    return members;
  }

  /** Who uses up all of the budget is told once, to the next in turn: it changes often. */
  private Wait turn() {
    var others = told ? List.<String>of() : others();
    told = true;
    return new Wait.Turn(
        settings.maxUnavailable(), others.size() >= settings.maxUnavailable() ? others : List.of());
  }

  /** The budget when all that we took out are back. */
  private int attainable() {
    return settings.maxUnavailable() - others().size();
  }

  /** Those that others keep out of service. */
  private List<String> others() {
    return nodes.stream()
        .filter(node -> node.unavailable() && !node.begun())
        .map(node -> node.name() + (node.nodeReady() ? " (cordoned by others)" : " (not Ready)"))
        .toList();
  }

  private Optional<Instant> retryAt(NodeProgress node) {
    return node.attempt()
        .filter(a -> node.kubeletWanted())
        .filter(a -> a.outcome() == Outcome.Refused || isSucceeded(a, node))
        .map(a -> a.since().plus(settings.retryDelay()));
  }

  /** Than the one that was refused: it need not wait for hours on its account. */
  private static boolean isAnother(NodeProgress node) {
    return node.attempt()
        .filter(a -> !a.hash().isEmpty())
        .filter(
            a -> node.target() instanceof Target.Change change && !change.hash().equals(a.hash()))
        .isPresent();
  }

  /**
   * The very change that is wanted again did succeed: somebody undid it. Healing is as slow as a
   * retry, so that two writers do not restart a kubelet in turns without a pause.
   */
  private static boolean isSucceeded(Attempt attempt, NodeProgress node) {
    return attempt.outcome() == Outcome.Succeeded
        && node.target() instanceof Target.Change change
        && change.hash().equals(attempt.hash());
  }
}
