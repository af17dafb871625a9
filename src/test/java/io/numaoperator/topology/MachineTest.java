package io.numaoperator.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.api.NumaNodeStateStatus.DeviceCount;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MachineTest {
  @Test
  void readsAnInventory() {
    var inventory = TestMachine.zones(2).inventory();
    inventory.zones.get(1).devices.add(new DeviceCount("nvidia.com/gpu", 4));
    inventory.zones.get(1).distances = List.of(21, 10);
    inventory.zones.get(1).hugepages = 2 * Bytes.GI;
    inventory.offlineCpus = "16-17";
    Collections.reverse(inventory.zones);
    var machine = Machine.of(inventory);
    assertThat(machine.zones()).extracting(Zone::id).containsExactly(0, 1);
    assertThat(machine.cpus().format()).isEqualTo("0-15");
    assertThat(machine.offlineCpus().format()).isEqualTo("16-17");
    assertThat(machine.zoneOf(13)).map(Zone::id).hasValue(1);
    assertThat(machine.zoneOf(16)).isEmpty();
    assertThat(machine.withSiblings(CpuSet.of(0, 15)).format()).isEqualTo("0,7-8,15");
    assertThat(machine.sockets()).containsExactly(0, 1);
    var zone = machine.zones().get(1);
    assertThat(zone.plainMemory()).isEqualTo(14 * Bytes.GI);
    assertThat(zone.devices()).containsEntry("nvidia.com/gpu", 4);
    assertThat(zone.distances()).containsExactly(21, 10);
    assertThat(zone.cores()).extracting(CpuSet::format).startsWith("4,12", "5,13");
  }

  @Test
  void zonesOfMemoryOnlyAreNotAmongThoseWithCpus() {
    var inventory = TestMachine.zones(3).inventory();
    inventory.zones.get(1).cpus = "";
    inventory.zones.get(1).cores = List.of();
    inventory.zones.get(2).id = 8; // ids may be sparse
    assertThat(Machine.of(inventory).zonesWithCpus()).extracting(Zone::id).containsExactly(0, 8);
  }

  @Test
  void countsTheZonesBeyondTheList() {
    var inventory = TestMachine.zones(2).inventory();
    inventory.zoneCount = 70;
    assertThat(Machine.of(inventory).zoneCount()).isEqualTo(70);
    inventory.zoneCount = null;
    assertThat(Machine.of(inventory).zoneCount()).isEqualTo(2);
  }

  static Stream<Arguments> contradictions() {
    return Stream.of(
        contradiction("no zones", i -> i.zones = List.of()),
        contradiction("no zones", i -> i.zones = null),
        contradiction("a zone without an id", i -> i.zones.get(0).id = null),
        contradiction("zone 0 is there twice", i -> i.zones.get(1).id = 0),
        contradiction("memory of zone 1 is not known", i -> i.zones.get(1).memory = null),
        contradiction("memoryTotal is not known", i -> i.memoryTotal = null),
        contradiction("not a cpuset: \"x\"", i -> i.offlineCpus = "x"),
        contradiction("not a cpuset: \"3-1\"", i -> i.zones.get(0).cpus = "3-1"),
        contradiction("do not add up to its CPUs", i -> i.zones.get(0).cores.removeFirst()),
        contradiction("do not add up to its CPUs", i -> i.zones.get(0).cores.set(1, "0,8")),
        contradiction(
            "CPUs 0-3,8-11 are in two zones",
            i -> {
              i.zones.get(1).cpus = i.zones.get(0).cpus;
              i.zones.get(1).cores = i.zones.get(0).cores;
            }));
  }

  private static Arguments contradiction(String message, Consumer<Inventory> damage) {
    return Arguments.of(message, damage);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("contradictions")
  void refusesAnInventoryThatContradictsItself(String message, Consumer<Inventory> damage) {
    var inventory = TestMachine.zones(2).inventory();
    damage.accept(inventory);
    assertThatThrownBy(() -> Machine.of(inventory))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
