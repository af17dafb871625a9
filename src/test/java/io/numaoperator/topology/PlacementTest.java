package io.numaoperator.topology;

import static io.numaoperator.topology.Placement.Verdict.Aligned;
import static io.numaoperator.topology.Placement.Verdict.CrossNUMA;
import static io.numaoperator.topology.Placement.Verdict.NotPinned;
import static io.numaoperator.topology.Placement.Verdict.Unknown;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.topology.Placement.Verdict;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PlacementTest {
  /** CPUs 0-3,8-11 in zone 0 and 4-7,12-15 in zone 1. */
  private static final Machine MACHINE = TestMachine.zones(2).machine();

  static Stream<Arguments> placements() {
    return Stream.of(
        placed("all on zone 1", "4-7", mem(s(1)), dev("a", s(1)), Aligned, s(1), s(1), s(1)),
        placed("CPUs alone", "0,8", mem(), dev(), Aligned, s(0), s(), s()),
        placed("CPUs over both", "3-4", mem(s(0)), dev(), CrossNUMA, s(0, 1), s(0), s()),
        placed("memory elsewhere", "0-1", mem(s(1)), dev(), CrossNUMA, s(0), s(1), s()),
        placed("memory over both", "0-1", mem(s(0, 1)), dev(), CrossNUMA, s(0), s(0, 1), s()),
        placed("hugepages elsewhere", "0", mem(s(0), s(1)), dev(), CrossNUMA, s(0), s(0, 1), s()),
        placed("device elsewhere", "0", mem(s(0)), dev("a", s(1)), CrossNUMA, s(0), s(0), s(1)),
        placed(
            "device on both fits", "4", mem(s(1)), dev("a", s(0, 1)), Aligned, s(1), s(1), s(0, 1)),
        placed("device without topology", "4", mem(s(1)), dev("a", s()), Aligned, s(1), s(1), s()),
        placed(
            "one of two devices elsewhere",
            "4",
            mem(),
            Map.of("a", s(1), "b", s(0)),
            CrossNUMA,
            s(1),
            s(),
            s(0, 1)),
        placed("shared pool", "", mem(), dev("a", s(1)), NotPinned, s(), s(), s(1)),
        placed("shared pool, memory split", "", mem(s(0, 1)), dev(), NotPinned, s(), s(0, 1), s()),
        placed("a CPU that is not there", "0,99", mem(s(0)), dev(), Unknown, s(0), s(0), s()),
        placed("only such CPUs", "99", mem(), dev(), Unknown, s(), s(), s()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("placements")
  void judges(String name, Holding holding, Placement expected) {
    assertThat(Placement.of(holding, MACHINE)).isEqualTo(expected);
  }

  @Test
  void aPodIsTheUnionOfItsContainers() {
    var one = new Holding(CpuSet.parse("0"), mem(s(0)), dev("gpu/a", s(0)));
    var other = new Holding(CpuSet.parse("4"), mem(s(1)), dev("gpu/b", s(1)));
    assertThat(Placement.of(one, MACHINE).verdict()).isEqualTo(Aligned);
    assertThat(Placement.of(other, MACHINE).verdict()).isEqualTo(Aligned);
    assertThat(Placement.of(Holding.union(List.of(one, other)), MACHINE))
        .isEqualTo(new Placement(CrossNUMA, s(0, 1), s(0, 1), s(0, 1)));
    assertThat(Placement.of(Holding.union(List.of()), MACHINE).verdict()).isEqualTo(NotPinned);
  }

  @Test
  void entriesOfOneDeviceAreOneDevice() {
    var zero = new Holding(CpuSet.parse("4"), mem(), dev("gpu/a", s(0)));
    var one = new Holding(CpuSet.EMPTY, mem(), dev("gpu/a", s(1)));
    assertThat(Placement.of(Holding.union(List.of(zero, one)), MACHINE).verdict())
        .isEqualTo(Aligned);
  }

  private static Arguments placed(
      String name,
      String cpus,
      List<Set<Integer>> memory,
      Map<String, Set<Integer>> devices,
      Verdict verdict,
      Set<Integer> cpuZones,
      Set<Integer> memoryZones,
      Set<Integer> deviceZones) {
    return Arguments.of(
        name,
        new Holding(CpuSet.parse(cpus), memory, devices),
        new Placement(verdict, cpuZones, memoryZones, deviceZones));
  }

  private static Set<Integer> s(Integer... zones) {
    return Set.of(zones);
  }

  @SafeVarargs
  private static List<Set<Integer>> mem(Set<Integer>... blocks) {
    return List.of(blocks);
  }

  private static Map<String, Set<Integer>> dev() {
    return Map.of();
  }

  private static Map<String, Set<Integer>> dev(String id, Set<Integer> zones) {
    return Map.of(id, zones);
  }
}
