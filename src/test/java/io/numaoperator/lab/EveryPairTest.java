package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EveryPairTest {
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6})
  void eachStepComesExactlyOnce(int size) {
    var values = IntStream.range(0, size).boxed().toList();
    var tour = EveryPair.tour(values);
    assertThat(tour).hasSize(size * (size - 1) + 1).startsWith(0).endsWith(0);
    var steps = new HashSet<List<Integer>>();
    for (int i = 1; i < tour.size(); i++) {
      assertThat(tour.get(i)).isNotEqualTo(tour.get(i - 1));
      steps.add(List.of(tour.get(i - 1), tour.get(i)));
    }
    assertThat(steps).hasSize(size * (size - 1));
  }
}
