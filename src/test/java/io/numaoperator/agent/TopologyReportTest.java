package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.numaoperator.agent.PodResources.Allocatable;
import io.numaoperator.agent.PodResources.Container;
import io.numaoperator.agent.PodResources.Device;
import io.numaoperator.agent.PodResources.Memory;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.NumaNodeStateStatus.Inventory;
import io.numaoperator.api.NumaNodeStateStatus.ZoneFacts;
import io.numaoperator.topology.AccountedPods;
import io.numaoperator.topology.CpuSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TopologyReportTest {
  private static final String GPU = "nvidia.com/gpu";
  private static final long GI = 1L << 30;

  /** Two zones with the sparse ids 0 and 8. */
  private static Inventory machine() {
    var inventory = new Inventory();
    inventory.zones = List.of(zone(0, "0-3", 10, 21), zone(8, "4-7", 21, 10));
    return inventory;
  }

  private static ZoneFacts zone(int id, String cpus, Integer... distances) {
    var zone = new ZoneFacts();
    zone.id = id;
    zone.cpus = cpus;
    zone.cores = List.of(cpus);
    zone.memory = 16 * GI;
    zone.distances = List.of(distances);
    return zone;
  }

  private static KubeletFragment settings() {
    var settings = new KubeletFragment();
    settings.topologyManagerPolicy = "single-numa-node";
    settings.topologyManagerScope = "pod";
    settings.topologyManagerPolicyOptions = Map.of("max-allowable-numa-nodes", "16");
    return settings;
  }

  private static Allocatable allocatable() {
    return new Allocatable(
        List.of(
            new Device(GPU, "a", Set.of(0)),
            new Device(GPU, "b", Set.of(0)),
            new Device(GPU, "c", Set.of(8)),
            new Device("example.com/nic", "both", Set.of(0, 8)),
            new Device("example.com/fuse", "nowhere", Set.of())),
        CpuSet.parse("1-3,5-7"),
        List.of(
            new Memory("memory", 12 * GI, Set.of(0)), new Memory("memory", 12 * GI, Set.of(8))));
  }

  private static Container container(
      String pod, String cpus, List<Memory> memory, Device... devices) {
    return new Container("ns", pod, "main", CpuSet.parse(cpus), memory, List.of(devices));
  }

  private static TopologyReport report(Container... containers) {
    return TopologyReport.of(
        machine(), settings(), allocatable(), List.of(containers), ManagerState.UNKNOWN);
  }

  private static String available(JsonNode object, String zone, String resource) {
    for (var z : object.path("zones")) {
      for (var r : z.path("resources")) {
        if (z.path("name").asText().equals(zone) && r.path("name").asText().equals(resource)) {
          return r.path("available").asText();
        }
      }
    }
    return "absent";
  }

  @Test
  void saysWhatIsFreeInEachZone() {
    var json =
        report(
                container(
                    "p",
                    "1-2",
                    List.of(new Memory("memory", 4 * GI, Set.of(0))),
                    new Device(GPU, "a", Set.of(0))),
                container("shared", "", List.of()))
            .toJson("n", "u");
    assertThat(available(json, "node-0", "cpu")).isEqualTo("1");
    assertThat(available(json, "node-8", "cpu")).isEqualTo("3");
    assertThat(available(json, "node-0", "memory")).isEqualTo(String.valueOf(8 * GI));
    assertThat(available(json, "node-0", GPU)).isEqualTo("1");
    assertThat(available(json, "node-8", GPU)).isEqualTo("1");
    assertThat(available(json, "node-8", "example.com/nic")).isEqualTo("1");
    assertThat(available(json, "node-0", "example.com/fuse")).isEqualTo("absent");
  }

  @Test
  void memoryOverSeveralZonesIsTakenFromThemInOrder() {
    var json =
        report(container("p", "", List.of(new Memory("memory", 20 * GI, Set.of(0, 8)))))
            .toJson("n", "u");
    assertThat(available(json, "node-0", "memory")).isEqualTo("0");
    assertThat(available(json, "node-8", "memory")).isEqualTo(String.valueOf(4 * GI));
    assertThat(json.toString()).contains("\"numaoperator.io/memory-group\",\"value\":\"0,8\"");
  }

  /** PodResources leaves them out; the managers keep what they held until the pod ends. */
  @Test
  void whatInitContainersHoldIsNotFree() {
    var state =
        new ManagerState(
            Optional.of(CpuSet.parse("0,3-4,7")),
            Map.of(0, Map.of("memory", GI)),
            Set.of(GPU + "/a"));
    var json =
        TopologyReport.of(machine(), settings(), allocatable(), List.of(), state).toJson("n", "u");
    assertThat(available(json, "node-0", "cpu")).isEqualTo("1");
    assertThat(available(json, "node-8", "cpu")).isEqualTo("1");
    assertThat(available(json, "node-0", "memory")).isEqualTo(String.valueOf(GI));
    assertThat(available(json, "node-8", "memory")).isEqualTo(String.valueOf(12 * GI));
    assertThat(available(json, "node-0", GPU)).isEqualTo("1");
    assertThat(available(json, "node-8", GPU)).isEqualTo("1");
  }

  @Test
  void withoutManagersThereAreNoCpusAndNoMemory() {
    var none =
        TopologyReport.of(
            machine(),
            new KubeletFragment(),
            new Allocatable(List.of(), CpuSet.EMPTY, List.of()),
            List.of(),
            ManagerState.UNKNOWN);
    var json = none.toJson("n", "u");
    assertThat(available(json, "node-0", "cpu")).isEqualTo("absent");
    assertThat(available(json, "node-0", "memory")).isEqualTo("absent");
    assertThat(json.toString()).contains("\"topologyManagerPolicy\",\"value\":\"none\"");
  }

  @Test
  void carriesWhatSchedulersReadBesideTheZones() {
    var json = report(container("p", "1", List.of())).toJson("n", "uid-1");
    assertThat(json.toString())
        .contains("{\"name\":\"topologyManagerPolicy\",\"value\":\"single-numa-node\"}")
        .contains("{\"name\":\"topologyManagerScope\",\"value\":\"pod\"}")
        .contains("{\"name\":\"topologyManagerMaxNUMANodes\",\"value\":\"16\"}")
        .contains("{\"name\":\"nodeTopologyPodsFingerprint\",\"value\":\"pfp0v001")
        .contains("{\"name\":\"node-8\",\"value\":21}")
        .contains("\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"uid-1\"");
    var accounted =
        AccountedPods.parse(
                json.path("metadata").path("annotations").path(AccountedPods.ANNOTATION).asText())
            .orElseThrow();
    assertThat(accounted.contains(AccountedPods.mark("ns", "p"))).isTrue();
    assertThat(accounted.zones()).containsValue(Set.of(0));
  }

  @Test
  void equalContentIsEqualText() {
    var containers = new ArrayList<Container>();
    for (int i = 0; i < 5; i++) {
      containers.add(container("p" + i, "", List.of(), new Device(GPU, "x" + i, Set.of(0))));
    }
    var devices = new ArrayList<>(allocatable().devices());
    var first =
        TopologyReport.of(machine(), settings(), allocatable(), containers, ManagerState.UNKNOWN)
            .toJson("n", "u");
    Collections.shuffle(containers, new java.util.Random(1));
    Collections.shuffle(devices, new java.util.Random(2));
    var again =
        TopologyReport.of(
                machine(),
                settings(),
                new Allocatable(devices, allocatable().cpus(), allocatable().memory().reversed()),
                containers,
                ManagerState.UNKNOWN)
            .toJson("n", "u");
    assertThat(again).isEqualTo(first);
  }

  @Test
  void tellsWhereAPublishedObjectDiffers() throws Exception {
    var ours = report();
    assertThat(ours.differences(ours.toJson("n", "u"))).isEmpty();
    var stale =
        new JsonMapper()
            .readTree(
                ours.toJson("n", "u")
                    .toString()
                    .replace("single-numa-node", "best-effort")
                    .replace("\"available\":\"2\"", "\"available\":\"7\""));
    assertThat(ours.differences(stale))
        .containsExactly(
            "topologyManagerPolicy is best-effort, the kubelet has single-numa-node",
            "node-0 nvidia.com/gpu available is 7, the kubelet has 2");
    assertThat(ours.differences(new JsonMapper().readTree("{}"))).isNotEmpty();
  }
}
