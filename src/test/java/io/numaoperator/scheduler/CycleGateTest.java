package io.numaoperator.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CycleGateTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private static CompletableFuture<Void> enter(CycleGate gate, String uid) {
    return CompletableFuture.runAsync(() -> gate.enter(uid), Thread::startVirtualThread);
  }

  @Test
  void theNextPodWaitsForTheBindingOfTheLast() throws Exception {
    var gate = new CycleGate(LONG);
    gate.enter("a");
    gate.leave("a", true);
    var next = enter(gate, "b");
    Thread.sleep(50);
    assertThat(next).isNotDone();
    gate.bound("a");
    next.get(10, TimeUnit.SECONDS);
  }

  @Test
  void aPodThatNoNodeSuitsIsNotWaitedFor() throws Exception {
    var gate = new CycleGate(LONG);
    gate.leave("a", false);
    enter(gate, "b").get(10, TimeUnit.SECONDS);
  }

  @Test
  void thePodItselfDoesNotWait() throws Exception {
    var gate = new CycleGate(LONG);
    gate.leave("a", true);
    enter(gate, "a").get(10, TimeUnit.SECONDS);
  }

  @Test
  void patienceEnds() throws Exception {
    var gate = new CycleGate(Duration.ofMillis(20));
    gate.leave("a", true);
    enter(gate, "b").get(10, TimeUnit.SECONDS);
  }
}
