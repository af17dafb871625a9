package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.topology.CpuSet;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Files as kubelet 1.36 writes them, shortened. */
class ManagerStateTest {
  private static final String CPU =
      """
      {"policyName":"static","defaultCpuSet":"0,4-5","entries":{
      "uid-1":{"init":"1-3","main":"1"},"uid-2":{"main":"6-7"}},"checksum":1}
      """;
  private static final String MEMORY =
      """
      {"policyName":"Static","machineState":{
      "0":{"memoryMap":{"memory":{"allocatable":12,"free":2,"reserved":10}}},
      "1":{"memoryMap":{"memory":{"allocatable":12,"free":7,"reserved":5}}}},
      "entries":{
      "uid-1":{"main":[{"numaAffinity":[0],"type":"memory","size":3}]},
      "uid-2":{"main":[{"numaAffinity":[0,1],"type":"memory","size":9}]}},"checksum":1}
      """;
  private static final String DEVICES =
      """
      {"Data":{"PodDeviceEntries":[
      {"PodUID":"uid-1","ContainerName":"init","ResourceName":"nvidia.com/gpu",
       "DeviceIDs":{"0":["gpu-0","gpu-1"],"1":["gpu-4"]},"AllocResp":"CgA="},
      {"PodUID":"uid-1","ContainerName":"main","ResourceName":"nvidia.com/gpu",
       "DeviceIDs":{"0":["gpu-0"]},"AllocResp":"CgA="},
      {"PodUID":"uid-2","ContainerName":"main","ResourceName":"example.com/fuse",
       "DeviceIDs":{"-1":["fuse"]},"AllocResp":"CgA="}],
      "RegisteredDevices":{"nvidia.com/gpu":["gpu-0","gpu-1","gpu-4"]}},"Checksum":1}
      """;

  private static Optional<byte[]> bytes(String text) {
    return Optional.of(text.getBytes(StandardCharsets.UTF_8));
  }

  private static ManagerState state(String... living) {
    return ManagerState.of(
        bytes(CPU), bytes(MEMORY), bytes(DEVICES), new LivingPods(Set.of(living)));
  }

  private static Map<Integer, Map<String, Long>> memory(long zone0, long zone1) {
    return Map.of(0, Map.of("memory", zone0), 1, Map.of("memory", zone1));
  }

  @Test
  void whatLivingPodsHoldIsNotFree() {
    var state = state("uid-1", "uid-2");
    assertThat(state.sharedCpus()).contains(CpuSet.parse("0,4-5"));
    assertThat(state.freeMemory()).isEqualTo(memory(2, 7));
    assertThat(state.heldDevices())
        .containsExactlyInAnyOrder(
            "nvidia.com/gpu/gpu-0",
            "nvidia.com/gpu/gpu-1",
            "nvidia.com/gpu/gpu-4",
            "example.com/fuse/fuse");
  }

  /** The Memory Manager has no loop that would drop it before the next admission. */
  @Test
  void whatTheFilesHoldForOthersIsFree() {
    assertThat(state("uid-2").sharedCpus()).contains(CpuSet.parse("0-5"));
    assertThat(state("uid-2").freeMemory()).isEqualTo(memory(5, 7));
    assertThat(state("uid-2").heldDevices()).containsExactly("example.com/fuse/fuse");
    assertThat(state("uid-1").freeMemory()).as("from zone 0 what it has").isEqualTo(memory(11, 7));
    assertThat(state().sharedCpus()).contains(CpuSet.parse("0-7"));
    assertThat(state().heldDevices()).isEmpty();
  }

  @Test
  void unreadableFilesSayNothing() {
    for (var text : List.of("{", "{}", "[1]")) {
      assertThat(
              ManagerState.of(bytes(text), bytes(text), bytes(text), new LivingPods(Set.of("uid"))))
          .isEqualTo(ManagerState.UNKNOWN);
    }
  }

  private static Container running(String pod) {
    return new Container("ns", pod, "main", CpuSet.EMPTY, List.of(), List.of());
  }

  @Test
  void aPodLivesWhilePodResourcesListsIt() {
    var logs = List.of("ns_one_uid-1", "ns_two_uid-2", "other_one_uid-3", "odd");
    var directories = List.of("uid-1", "uid-2", "uid-3");
    assertThat(LivingPods.of(List.of(running("one")), logs, directories).uids())
        .containsExactly("uid-1");
  }

  @Test
  void aPodThatWasJustAdmittedHasNoLogsYet() {
    assertThat(LivingPods.of(List.of(), List.of(), List.of("uid-2")).contains("uid-2")).isTrue();
  }

  /** A StatefulSet's pod: the same name, another uid. */
  @Test
  void aSuccessorOfTheSameNameIsNotItsPredecessor() {
    assertThat(
            LivingPods.of(
                    List.of(running("one")),
                    List.of("ns_one_uid-1", "ns_one_uid-9"),
                    List.of("uid-9"))
                .contains("uid-1"))
        .isFalse();
  }
}
