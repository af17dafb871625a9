package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.numaoperator.rollout.Gangs.Gang;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CachedGangsTest {
  private static final Gang JOB = new Gang("Job train/llm", Set.of("a", "b"));

  private int asked;
  private boolean down;
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final CachedGangs gangs =
      new CachedGangs(
          node -> {
            asked++;
            if (down) {
              throw new KubernetesClientException("503");
            }
            return Optional.of(JOB);
          },
          () -> now);

  @Test
  void asksAboutANodeOnceInAWhile() {
    for (int i = 0; i < 10; i++) {
      assertThat(gangs.of("a")).contains(JOB);
    }
    assertThat(asked).isEqualTo(1);
    gangs.of("b");
    assertThat(asked).isEqualTo(2);
    now = now.plusSeconds(60);
    assertThat(gangs.of("a")).contains(JOB);
    assertThat(asked).isEqualTo(3);
  }

  @Test
  void aNodeThatCannotBeAskedAboutIsTakenAlone() {
    down = true;
    assertThat(gangs.of("a")).isEmpty();
    down = false;
    assertThat(gangs.of("a")).as("that is not remembered").contains(JOB);
  }
}
