package io.numaoperator.scheduler;

import static io.numaoperator.scheduler.Given.topology;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.topology.fit.Fit;
import io.numaoperator.topology.fit.NodeFree;
import io.numaoperator.topology.fit.NodeTopology;
import io.numaoperator.topology.fit.PodRequest;
import org.junit.jupiter.api.Test;

class FitMemoTest {
  private int asked;
  private final FitMemo memo =
      new FitMemo(
          (free, request) -> {
            asked++;
            return Fit.of(free, request);
          },
          2);

  private static NodeFree node(String name, int gpus) {
    return NodeTopology.of(topology(name, gpus, 0)).free();
  }

  private static PodRequest pod(String name, int gpus) {
    return PodView.of(Given.pod(name, gpus)).request();
  }

  private void ask(int free, int wanted) {
    assertThat(memo.of(node("n1", free), pod("a", wanted)))
        .isEqualTo(Fit.of(node("n1", free), pod("a", wanted)));
  }

  @Test
  void alikeNodesAndPodsAreAskedForOnce() {
    assertThat(memo.of(node("n1", 4), pod("a", 2))).isInstanceOf(Fit.Fits.class);
    assertThat(memo.of(node("n2", 4), pod("b", 2))).isInstanceOf(Fit.Fits.class);
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void anotherNodeOrPodIsAnotherQuestion() {
    ask(4, 2);
    ask(1, 2);
    ask(1, 1);
    assertThat(asked).isEqualTo(3);
  }

  @Test
  void whatWasAskedForLongestAgoIsForgotten() {
    ask(4, 1);
    ask(4, 2);
    ask(4, 1);
    ask(4, 3);
    assertThat(asked).isEqualTo(3);
    ask(4, 1);
    assertThat(asked).isEqualTo(3);
    ask(4, 2);
    assertThat(asked).isEqualTo(4);
  }
}
