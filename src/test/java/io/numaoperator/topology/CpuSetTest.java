package io.numaoperator.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CpuSetTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|0|''",
        "0|1|0",
        "0-3,8-11|8|0-3,8-11",
        "3,1,2,0|4|0-3",
        "1-1|1|1",
        "0,1,3-4,5|5|0-1,3-5",
        "0-1023|1024|0-1023",
        "511-513,2000|4|511-513,2000",
        "0-3,2-5|6|0-5",
      })
  void readsAndWritesTheListFormat(String text, int size, String canonical) {
    var cpus = CpuSet.parse(text);
    assertThat(cpus.size()).isEqualTo(size);
    assertThat(cpus.format()).isEqualTo(canonical);
    assertThat(CpuSet.parse(canonical)).isEqualTo(cpus).hasSameHashCodeAs(cpus);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",",
        "a",
        "1,",
        "-1",
        "1-",
        "3-1",
        "1 ,2",
        " 1",
        "1-2-3",
        "0x1",
        "99999999999",
        "0-65536"
      })
  void refusesWhatTheKubeletCannotRead(String text) {
    assertThatThrownBy(() -> CpuSet.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not a cpuset: \"" + text);
    assertThat(CpuSet.tryParse(text)).isEmpty();
  }

  @Test
  void arithmeticIsThatOfSets() {
    var random = new Random(7);
    for (int i = 0; i < 500; i++) {
      var a = random(random);
      var b = random(random);
      var one = CpuSet.of(a.stream().mapToInt(x -> x));
      var other = CpuSet.of(b.stream().mapToInt(x -> x));
      var union = new TreeSet<>(a);
      union.addAll(b);
      var minus = new TreeSet<>(a);
      minus.removeAll(b);
      var both = new TreeSet<>(a);
      both.retainAll(b);
      assertThat(one.union(other).stream()).containsExactlyElementsOf(union);
      assertThat(one.minus(other).stream()).containsExactlyElementsOf(minus);
      assertThat(one.intersect(other).stream()).containsExactlyElementsOf(both);
      assertThat(one.containsAll(other)).isEqualTo(a.containsAll(b));
      assertThat(CpuSet.parse(one.format())).isEqualTo(one);
      if (!a.isEmpty()) {
        assertThat(one.lowest()).isEqualTo(a.first());
      }
    }
  }

  @Test
  void operandsStayAsTheyWere() {
    var one = CpuSet.parse("0-3");
    var other = CpuSet.parse("2-5");
    assertThat(one.union(other)).isNotEqualTo(one);
    assertThat(one.minus(other).intersect(other)).isEqualTo(CpuSet.EMPTY);
    assertThat(one.format()).isEqualTo("0-3");
    assertThat(other.format()).isEqualTo("2-5");
    assertThat(CpuSet.EMPTY.isEmpty()).isTrue();
  }

  private static TreeSet<Integer> random(Random random) {
    var ids = new TreeSet<Integer>();
    IntStream.range(0, random.nextInt(40)).forEach(i -> ids.add(random.nextInt(1200)));
    return ids;
  }
}
