package io.numaoperator.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.numaoperator.view.NodeMap.Cpu;
import io.numaoperator.view.NodeMap.Slot;
import io.numaoperator.view.NodeMap.State;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class NodeMapsTest {
  private static final String STATE =
      """
      metadata: {name: gpu-1}
      spec: {policy: gpu-nodes}
      status:
        conditions:
        - {type: AlignmentReady, status: "True", reason: Aligned, message: a pod is aligned}
        inventory:
          zoneCount: 2
          gpuCount: 8
          zones:
          - {id: 0, cpus: 0-3, cores: ["0,2", "1,3"], memory: 17179869184, hugepages: 0,
             distances: [10, 21], devices: [{resource: a.example/nic, count: 1}, {resource: nvidia.com/gpu, count: 4}]}
          - {id: 1, cpus: 4-7, cores: ["4,6", "5,7"], memory: 17179869184, hugepages: 0,
             distances: [21, 10], devices: [{resource: nvidia.com/gpu, count: 4}]}
        effective:
          settings:
            cpuManagerPolicy: static
            reservedSystemCPUs: "0,4"
            reservedMemory: [{numaNode: 0, limits: {memory: 4Gi}}, {numaNode: 1, limits: {memory: 4Gi}}]
            topologyManagerPolicy: single-numa-node
            topologyManagerScope: pod
        containers:
          aligned: 1
          crossNuma: 1
          notPinned: 2
          placed:
          - {pod: default/one, container: main, placement: Aligned, cpus: "1", cpuZones: [0],
             memoryZones: [0], deviceZones: [0], devices: [{resource: nvidia.com/gpu, count: 2, zones: [0]}]}
          - {pod: default/two, container: main, placement: CrossNUMA, cpus: "5-6", cpuZones: [1],
             memoryZones: [0, 1], deviceZones: [0, 1], devices: [{resource: nvidia.com/gpu, count: 1, zones: [0]},
               {resource: nvidia.com/gpu, count: 2, zones: [1]}]}
      """;
  private static final String TOPOLOGY =
      """
      metadata: {name: gpu-1}
      zones:
      - name: node-0
        type: Node
        resources:
        - {name: cpu, capacity: "4", allocatable: "3", available: "2"}
        - {name: memory, capacity: "17179869184", allocatable: "12884901888", available: "10737418240"}
        - {name: nvidia.com/gpu, capacity: "4", allocatable: "4", available: "1"}
        - {name: a.example/nic, capacity: "1", allocatable: "1", available: "1"}
      - name: node-1
        type: Node
        resources:
        - {name: cpu, capacity: "4", allocatable: "3", available: "1"}
        - {name: memory, capacity: "17179869184", allocatable: "12884901888", available: "12884901888"}
        - {name: nvidia.com/gpu, capacity: "4", allocatable: "4", available: "2"}
      """;

  @Test
  void everyCpuAndDeviceHasAStateAndAHolder() {
    var map = map(state());
    assertThat(map.holders())
        .extracting(h -> h.pod())
        .containsExactly("default/two", "default/one");
    var zone = map.zones().getFirst();
    assertThat(zone.cpus())
        .containsExactly(
            cpu(0, State.Reserved), held(1, 1), cpu(2, State.Free), cpu(3, State.Free));
    assertThat(map.zones().get(1).cpus())
        .containsExactly(cpu(4, State.Reserved), held(5, 0), held(6, 0), cpu(7, State.Free));
    assertThat(zone.devices())
        .extracting(d -> d.resource())
        .containsExactly("nvidia.com/gpu", "a.example/nic");
    assertThat(zone.devices().getFirst().slots())
        .containsExactly(slot(0), slot(1), slot(1), new Slot(State.Free, OptionalInt.empty()));
    assertThat(map.zones().get(1).devices().getFirst().slots())
        .containsExactly(
            slot(0),
            slot(0),
            new Slot(State.Free, OptionalInt.empty()),
            new Slot(State.Free, OptionalInt.empty()));
    assertThat(map.remarks()).isEmpty();
  }

  @Test
  void memoryIsReservedHeldAndFree() {
    var memory = map(state()).zones().getFirst().memory();
    assertThat(memory.total()).isEqualTo(16L << 30);
    assertThat(memory.reserved()).isEqualTo(OptionalLong.of(4L << 30));
    assertThat(memory.free()).isEqualTo(OptionalLong.of(10L << 30));
    assertThat(memory.held()).isEqualTo(OptionalLong.of(2L << 30));
  }

  @Test
  void whatIsNotReportedIsUnknownAndNeverFree() {
    var state = state();
    state.getStatus().containers.placedLeftOut = 3;
    var map = NodeMaps.of(state, Optional.empty());
    assertThat(map.zones().getFirst().cpus())
        .contains(cpu(2, State.Unknown), cpu(3, State.Unknown));
    assertThat(map.zones().getFirst().devices().getFirst().count(State.Free)).isZero();
    assertThat(map.zones().getFirst().memory().free()).isEmpty();
    assertThat(map.remarks()).hasSize(2);
    assertThat(map.remarks().getLast()).startsWith("3 more containers hold something");
  }

  @Test
  void cpusOfAKubeletWithoutStaticManagerAreShared() {
    var state = state();
    state.getStatus().containers.placed = List.of();
    state.getStatus().effective.settings.cpuManagerPolicy = "none";
    state.getStatus().effective.settings.reservedSystemCPUs = null;
    assertThat(map(state).zones().getFirst().cpus(State.Shared)).isEqualTo(4);
    state.getStatus().effective = null;
    assertThat(map(state).zones().getFirst().cpus(State.Unknown)).isEqualTo(4);
  }

  @Test
  void devicesThatAreNotFreeAndOfNoListedContainerAreHeldBySomebody() {
    var state = state();
    state.getStatus().containers.placed = List.of();
    assertThat(map(state).zones().getFirst().devices().getFirst().slots())
        .containsExactly(
            new Slot(State.Held, OptionalInt.empty()),
            new Slot(State.Held, OptionalInt.empty()),
            new Slot(State.Held, OptionalInt.empty()),
            new Slot(State.Free, OptionalInt.empty()));
  }

  @Test
  void aNodeThatNobodyLookedAtYetIsUnknown() {
    var state = state();
    state.setStatus(null);
    var map = NodeMaps.of(state, Optional.empty());
    assertThat(map.line().ready()).isEqualTo(Condition.Status.Unknown);
    assertThat(map.line().zones()).isEmpty();
    assertThat(map.zones()).isEmpty();
    assertThat(map.remarks())
        .containsExactly("the node's agent has not reported its NUMA nodes yet");
  }

  private static NumaNodeState state() {
    return Serialization.unmarshal(STATE, NumaNodeState.class);
  }

  private static NodeMap map(NumaNodeState state) {
    return NodeMaps.of(
        state, Optional.of(Serialization.unmarshal(TOPOLOGY, NodeResourceTopology.class)));
  }

  private static Cpu cpu(int id, State state) {
    return new Cpu(id, state, OptionalInt.empty());
  }

  private static Cpu held(int id, int holder) {
    return new Cpu(id, State.Held, OptionalInt.of(holder));
  }

  private static Slot slot(int holder) {
    return new Slot(State.Held, OptionalInt.of(holder));
  }
}
