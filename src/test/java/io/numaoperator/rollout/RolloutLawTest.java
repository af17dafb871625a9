package io.numaoperator.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever order things happen in, with canaries, windows, gangs, evictions and people who cordon
 * nodes themselves: the budget holds at every moment, and in the end every node that can be changed
 * is. The laws themselves are in RandomWorld, where they could be broken.
 */
class RolloutLawTest {
  private static final int SEEDS = 8;

  @ParameterizedTest(name = "one attempt in {0} fails")
  @ValueSource(ints = {0, 10, 40})
  void neverExceedsItsBudgetOver200Nodes(int failing) {
    int used = 0;
    int proven = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
      var world = new RandomWorld(1000L * failing + seed, failing);
      int rounds = 0;
      while (!world.isOver()) {
        assertThat(++rounds).as("seed %s comes to an end", seed).isLessThan(20_000);
        world.round();
      }
      assertThat(world.mostOut).isLessThanOrEqualTo(world.settings.maxUnavailable());
      assertThat(world.hasProofPods()).as("seed %s: proof pods stay", seed).isFalse();
      proven += world.proven();
      used += world.mostOut == world.settings.maxUnavailable() ? 1 : 0;
      assertThat(world.mayStop() || world.unfinished().isEmpty())
          .as("seed %s: %s", seed, world.unfinished())
          .isTrue();
      if (failing == 0) {
        assertThat(world.started()).hasSize(200 - world.rightFromTheBeginning().size());
      }
    }
    assertThat(proven > SEEDS * 10).as("%d proofs", proven).isEqualTo(failing > 0);
    assertThat(used).as("worlds that used their budget to the full").isGreaterThan(SEEDS / 3);
  }
}
