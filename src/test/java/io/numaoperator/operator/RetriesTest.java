package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetriesTest {
  @ParameterizedTest
  @ValueSource(classes = {PolicyReconciler.class, NodeReconciler.class})
  void whatFailsIsTriedAgainForEverAtLeastOnceAMinute(Class<?> reconciler) {
    var retry = new GenericRetry();
    retry.initFrom(reconciler.getAnnotation(GradualRetry.class));
    var execution = retry.initExecution();
    for (int i = 0; i < 100; i++) {
      assertThat(execution.nextDelay())
          .hasValueSatisfying(ms -> assertThat(ms).isBetween(1L, 60_000L));
    }
  }
}
