package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.rollout.NodeProgress.Attempt;
import io.numaoperator.rollout.NodeProgress.Cordon;
import io.numaoperator.rollout.NodeProgress.Grant;
import io.numaoperator.rollout.NodeProgress.Outcome;
import io.numaoperator.rollout.NodeProgress.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RolloutTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Target WANTED = new Target.Change("new");

  private static RolloutSettings budget(int maxUnavailable) {
    return new RolloutSettings(maxUnavailable, true, true, Duration.ofSeconds(30));
  }

  /** A builder for a node at rest that has to be changed. */
  private record Node(NodeProgress p) {
    static Node named(String name) {
      return new Node(
          new NodeProgress(
              name,
              "",
              WANTED,
              true,
              new Cordon.None(),
              false,
              true,
              "boot",
              Optional.empty(),
              Optional.empty(),
              Optional.empty(),
              List.of()));
    }

    Node heldBack() {
      return new Node(
          new NodeProgress(
              p.name(),
              p.failureDomain(),
              p.target(),
              p.nodeReady(),
              p.cordon(),
              p.skipped(),
              p.agentAlive(),
              p.bootId(),
              p.grant(),
              p.attempt(),
              Optional.of("no scheduler"),
              p.holders()));
    }

    Node target(Target target) {
      return with(target, p.nodeReady(), p.cordon(), p.grant(), p.attempt(), p.holders());
    }

    Node notReady() {
      return with(p.target(), false, p.cordon(), p.grant(), p.attempt(), p.holders());
    }

    Node cordon(Cordon cordon) {
      return with(p.target(), p.nodeReady(), cordon, p.grant(), p.attempt(), p.holders());
    }

    Node grant(long attempt, String hash) {
      return with(
          p.target(),
          p.nodeReady(),
          p.cordon(),
          Optional.of(new Grant(attempt, hash, "boot")),
          p.attempt(),
          p.holders());
    }

    Node attempt(long number, String hash, Outcome outcome) {
      return with(
          p.target(),
          p.nodeReady(),
          p.cordon(),
          p.grant(),
          Optional.of(new Attempt(number, hash, outcome, NOW)),
          p.holders());
    }

    Node holders(String... pods) {
      return with(p.target(), p.nodeReady(), p.cordon(), p.grant(), p.attempt(), List.of(pods));
    }

    Node in(String domain) {
      return new Node(
          new NodeProgress(
              p.name(),
              domain,
              p.target(),
              p.nodeReady(),
              p.cordon(),
              p.skipped(),
              p.agentAlive(),
              p.bootId(),
              p.grant(),
              p.attempt(),
              p.heldBack(),
              p.holders()));
    }

    Node skipped() {
      return new Node(
          new NodeProgress(
              p.name(),
              p.failureDomain(),
              p.target(),
              p.nodeReady(),
              p.cordon(),
              true,
              p.agentAlive(),
              p.bootId(),
              p.grant(),
              p.attempt(),
              p.heldBack(),
              p.holders()));
    }

    Node silent() {
      return new Node(
          new NodeProgress(
              p.name(),
              p.failureDomain(),
              p.target(),
              p.nodeReady(),
              p.cordon(),
              p.skipped(),
              false,
              p.bootId(),
              p.grant(),
              p.attempt(),
              p.heldBack(),
              p.holders()));
    }

    private Node with(
        Target target,
        boolean ready,
        Cordon cordon,
        Optional<Grant> grant,
        Optional<Attempt> attempt,
        List<String> holders) {
      return new Node(
          new NodeProgress(
              p.name(),
              p.failureDomain(),
              target,
              ready,
              cordon,
              p.skipped(),
              p.agentAlive(),
              p.bootId(),
              grant,
              attempt,
              p.heldBack(),
              holders));
    }
  }

  private static List<Action> next(RolloutSettings settings, Node... nodes) {
    return Rollout.next(List.of(nodes).stream().map(Node::p).toList(), settings, NOW);
  }

  @Test
  void takesNodesWithinTheBudgetInStableOrder() {
    var c = Node.named("c");
    var b = Node.named("b").in("zone-2");
    var a = Node.named("a").in("zone-2");
    assertThat(next(budget(2), b, a, c))
        .containsExactly(new Action.Cordon("c", 1), new Action.Cordon("a", 1));
  }

  @Test
  void nodesThatAreUnavailableForAnotherReasonCount() {
    assertThat(next(budget(1), Node.named("a"), Node.named("b").notReady())).isEmpty();
    assertThat(next(budget(1), Node.named("a"), Node.named("b").cordon(new Cordon.Foreign())))
        .isEmpty();
    assertThat(
            next(
                budget(1),
                Node.named("a"),
                Node.named("b").target(new Target.Reached()).cordon(new Cordon.Foreign())))
        .isEmpty();
  }

  @Test
  void nodesAlreadyRightAreNeverTouched() {
    assertThat(next(budget(5), Node.named("a").target(new Target.Reached()))).isEmpty();
    assertThat(next(budget(5), Node.named("a").target(new Target.Unplanned()))).isEmpty();
  }

  /** A plan that is no longer the approved one: nothing is started, and what was not begun ends. */
  @Test
  void anUnapprovedPlanIsNotCarriedOut() {
    var held = Node.named("a").target(new Target.Unapproved("p"));
    assertThat(next(budget(5), held)).isEmpty();
    var cordoned = held.cordon(new Cordon.Ours(1));
    assertThat(next(budget(5), cordoned)).containsExactly(new Action.Uncordon("a"));
    assertThat(next(budget(5), cordoned.grant(1, "new"))).containsExactly(new Action.Revoke("a"));
    assertThat(next(budget(5), cordoned.grant(1, "new").attempt(1, "new", Outcome.Running)))
        .isEmpty();
  }

  @Test
  void skippedSilentAndForeignNodesAreNotStarted() {
    assertThat(
            next(
                budget(5),
                Node.named("a").skipped(),
                Node.named("b").silent(),
                Node.named("c").cordon(new Cordon.Foreign()),
                Node.named("d")))
        .containsExactly(new Action.Cordon("d", 1));
  }

  /** Strict kubelets before a scheduler that sees them would make pods loop. */
  @Test
  void aNodeThatIsHeldBackIsNotStartedButIsFinished() {
    assertThat(next(budget(5), Node.named("a").heldBack())).isEmpty();
    var running = Node.named("a").cordon(new Cordon.Ours(1)).heldBack();
    assertThat(next(budget(5), running)).containsExactly(new Action.Grant("a", 1, "new", "boot"));
  }

  @Test
  void grantsWhatItCordonedForOnceThePodsAreGone() {
    var cordoned = Node.named("a").cordon(new Cordon.Ours(3));
    assertThat(next(budget(1), cordoned.holders("train/llm"))).isEmpty();
    assertThat(next(budget(1), cordoned)).containsExactly(new Action.Grant("a", 3, "new", "boot"));
    assertThat(next(budget(1), cordoned.silent())).isEmpty();
  }

  @Test
  void leavesARunningAttemptAlone() {
    var running =
        Node.named("a")
            .cordon(new Cordon.Ours(1))
            .grant(1, "old")
            .attempt(1, "old", Outcome.Running);
    assertThat(next(budget(1), running)).isEmpty();
    assertThat(next(new RolloutSettings(1, false, true, Duration.ZERO), running)).isEmpty();
  }

  @Test
  void takesBackAUsedGrantThenUncordons() {
    var done =
        Node.named("a")
            .target(new Target.Reached())
            .cordon(new Cordon.Ours(1))
            .attempt(1, "new", Outcome.Succeeded);
    assertThat(next(budget(1), done.grant(1, "new"))).containsExactly(new Action.Revoke("a"));
    assertThat(next(budget(1), done)).containsExactly(new Action.Uncordon("a"));
  }

  @Test
  void takesBackAGrantThatNoLongerFits() {
    var granted = Node.named("a").cordon(new Cordon.Ours(1)).grant(1, "old");
    assertThat(next(budget(1), granted)).containsExactly(new Action.Revoke("a"));
    assertThat(next(budget(1), Node.named("a").cordon(new Cordon.Ours(1)).grant(1, "new")))
        .isEmpty();
  }

  @Test
  void aFailedHashIsNotTriedAgainAndStopsThePolicy() {
    var failed = Node.named("a").attempt(1, "new", Outcome.RolledBack);
    assertThat(next(budget(5), failed, Node.named("b"))).isEmpty();
    assertThat(next(new RolloutSettings(5, true, false, Duration.ZERO), failed, Node.named("b")))
        .containsExactly(new Action.Cordon("b", 1));
    assertThat(next(budget(5), failed.target(new Target.Change("newer")), Node.named("b")))
        .containsExactly(new Action.Cordon("a", 2), new Action.Cordon("b", 1));
  }

  @Test
  void aRolledBackNodeGoesBackIntoService() {
    var failed = Node.named("a").cordon(new Cordon.Ours(1)).attempt(1, "new", Outcome.RolledBack);
    assertThat(next(budget(1), failed)).containsExactly(new Action.Uncordon("a"));
  }

  @Test
  void aNodeWhoseKubeletStayedDownStaysOutOfService() {
    var broken =
        Node.named("a")
            .cordon(new Cordon.Ours(1))
            .attempt(1, "new", Outcome.RollbackFailed)
            .notReady();
    assertThat(next(budget(1), broken, Node.named("b"))).isEmpty();
  }

  @Test
  void aRefusedGrantIsTriedAgainLater() {
    var refused = Node.named("a").attempt(4, "new", Outcome.Refused);
    assertThat(next(budget(1), refused)).isEmpty();
    assertThat(Rollout.next(List.of(refused.p()), budget(1), NOW.plusSeconds(30)))
        .containsExactly(new Action.Cordon("a", 5));
  }

  @Test
  void aSuccessThatSomebodyUndidIsHealedButNotInAHurry() {
    var undone = Node.named("a").attempt(4, "new", Outcome.Succeeded);
    assertThat(next(budget(1), undone)).isEmpty();
    assertThat(Rollout.next(List.of(undone.p()), budget(1), NOW.plusSeconds(30)))
        .containsExactly(new Action.Cordon("a", 5));
    assertThat(next(budget(1), undone.target(new Target.Change("newer"))))
        .containsExactly(new Action.Cordon("a", 5));
  }

  @Test
  void pausingPutsWaitingNodesBackIntoService() {
    var paused = new RolloutSettings(1, false, true, Duration.ZERO);
    assertThat(next(paused, Node.named("a"), Node.named("b").cordon(new Cordon.Ours(1))))
        .containsExactly(new Action.Uncordon("b"));
  }

  @Test
  void percentagesRoundDownToAtLeastOne() {
    assertThat(RolloutSettings.maxUnavailable("10%", 25)).isEqualTo(2);
    assertThat(RolloutSettings.maxUnavailable("10%", 4)).isEqualTo(1);
    assertThat(RolloutSettings.maxUnavailable("3", 4)).isEqualTo(3);
  }

  /**
   * The law: whatever order things happen in, never more than the budget is out of service, and in
   * the end every node that can be changed is. Agents, pods and failures are simulated with a seed.
   */
  @Test
  void neverExceedsItsBudgetOver200Nodes() {
    for (int seed = 0; seed < 20; seed++) {
      var random = new Random(seed);
      int max = 1 + random.nextInt(7);
      var settings = new RolloutSettings(max, true, false, Duration.ofSeconds(30));
      var nodes = new ArrayList<NodeProgress>();
      for (int i = 0; i < 200; i++) {
        nodes.add(Node.named("n" + i).in("z" + i % 3).holders(busy(random)).p());
      }
      var now = NOW;
      int rounds = 0;
      while (nodes.stream().anyMatch(RolloutTest::unfinished)) {
        assertThat(++rounds).as("seed %s comes to an end", seed).isLessThan(20_000);
        now = now.plusSeconds(5);
        for (var action : Rollout.next(nodes, settings, now)) {
          apply(nodes, action);
        }
        int i = random.nextInt(nodes.size());
        for (int k = 0; k < 40; k++) {
          i = (i + 1) % nodes.size();
          nodes.set(i, live(nodes.get(i), random, now));
        }
        assertThat(nodes.stream().filter(NodeProgress::unavailable).count())
            .as("seed %s round %s", seed, rounds)
            .isLessThanOrEqualTo(max);
      }
      assertThat(nodes).allMatch(n -> n.cordon() instanceof Cordon.None);
    }
  }

  private static boolean unfinished(NodeProgress node) {
    return node.unavailable() || (node.target() instanceof Target.Change && !node.failed());
  }

  private static String[] busy(Random random) {
    return random.nextInt(3) == 0 ? new String[] {"train/job"} : new String[0];
  }

  private static void apply(List<NodeProgress> nodes, Action action) {
    nodes.replaceAll(
        n ->
            !n.name().equals(action.node())
                ? n
                : switch (action) {
                  case Action.Cordon c -> new Node(n).cordon(new Cordon.Ours(c.attempt())).p();
                  case Action.Uncordon u -> new Node(n).cordon(new Cordon.None()).p();
                  case Action.Grant g -> new Node(n).grant(g.attempt(), g.hash()).p();
                  case Action.Revoke r ->
                      new Node(n)
                          .with(
                              n.target(),
                              n.nodeReady(),
                              n.cordon(),
                              Optional.empty(),
                              n.attempt(),
                              n.holders())
                          .p();
                });
  }

  /** What may happen on a node by itself: pods end, its agent begins or ends an attempt. */
  private static NodeProgress live(NodeProgress n, Random random, Instant now) {
    if (n.granted()) {
      var g = n.grant().orElseThrow();
      return new Node(n).attempt(g.attempt(), g.hash(), Outcome.Running).p();
    }
    if (n.underChange()) {
      var a = n.attempt().orElseThrow();
      var outcome =
          switch (random.nextInt(10)) {
            case 0 -> Outcome.RolledBack;
            case 1 -> Outcome.Refused;
            default -> Outcome.Succeeded;
          };
      var ended =
          new Node(n)
              .with(
                  outcome == Outcome.Succeeded ? new Target.Reached() : n.target(),
                  n.nodeReady(),
                  n.cordon(),
                  n.grant(),
                  Optional.of(new Attempt(a.number(), a.hash(), outcome, now)),
                  n.holders());
      return ended.p();
    }
    return random.nextInt(4) == 0 ? new Node(n).holders().p() : n;
  }
}
