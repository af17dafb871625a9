package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EvictorTest {
  private static KubernetesClientException answer(int code) {
    var status = new StatusBuilder().withCode(code).withMessage("a webhook says no").build();
    return new KubernetesClientException("POST: a webhook says no", code, status);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 422, 429, 500, 503})
  void whatTheApiServerAnswersStandsInTheWayOfThatPodAlone(int code) {
    assertThat(Evictor.refusal(answer(code))).contains("a webhook says no");
  }

  @ParameterizedTest
  @ValueSource(ints = {404, 409})
  void aPodThatIsGoneIsInNobodysWay(int code) {
    assertThat(Evictor.refusal(answer(code))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 401})
  void whoIsNotHeardIsNotRefused(int code) {
    assertThatThrownBy(() -> Evictor.refusal(answer(code)))
        .isInstanceOf(KubernetesClientException.class);
  }

  @Test
  void anAnswerWithoutWordsIsToldByItsCode() {
    var bare = new KubernetesClientException("no body", 503, new StatusBuilder().build());
    assertThat(Evictor.refusal(bare)).contains("HTTP 503: no body");
  }
}
