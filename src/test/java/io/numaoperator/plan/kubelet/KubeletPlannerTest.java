package io.numaoperator.plan.kubelet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.KubeletVersion;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.Bytes;
import io.numaoperator.topology.Machine;
import io.numaoperator.topology.TestMachine;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class KubeletPlannerTest {
  /** Two zones of 16Gi and 4 cores with 2 threads: 0-3,8-11 and 4-7,12-15. */
  private static final TestMachine TWO = TestMachine.zones(2);

  /** The kubelet of the documents' example. */
  private static final String NODE =
      "{systemReserved: {memory: 200Mi}, evictionHard: {memory.available: 100Mi},"
          + " enforceNodeAllocatable: [pods]}";

  @Test
  void theDocumentsExampleToTheByte() throws IOException {
    var planned =
        planned(plan("memoryManager: {reserved: {perNumaNode: 4Gi}}", TWO.machine(), NODE, 36));
    try (var golden = getClass().getResourceAsStream("single-numa-node.conf")) {
      assertThat(DropIn.render(planned.fragment()))
          .asString(UTF_8)
          .isEqualTo(new String(golden.readAllBytes(), UTF_8));
    }
    assertThat(planned.hash()).isEqualTo(DropIn.hash(planned.fragment()));
    assertThat(planned.notes())
        .containsExactly(
            "systemReserved[memory] goes from 200Mi to 8092Mi, so that the sum is what"
                + " memoryManager.reserved asks for.");
  }

  // kubeReserved, systemReserved, eviction as planned, then the shares by zone
  @ParameterizedTest(name = "{0} | {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        // the node's own reservations, split
        "|kubeReserved: {memory: 1Gi}, systemReserved: {memory: 1Gi}, evictionHard: {memory.available: 100Mi}|1Gi 1Gi 100Mi|0=1074Mi 1=1074Mi",
        "|systemReserved: {memory: 1Gi}, evictionHard: {memory.available: 1Mi}|- 1Gi 1Mi|0=513Mi 1=512Mi",
        "|systemReserved: {memory: 1001Ki}, evictionHard: {memory.available: 0%}|- 1001Ki 0%|0=501Ki 1=500Ki",
        "|systemReserved: {memory: 1001}, evictionHard: {memory.available: 100%}|- 1001 0%|0=501 1=500",
        "|evictionHard: {memory.available: 1}|- 0 1|0=1",
        "|kubeReserved: {cpu: 1, memory: 0.5Gi}, evictionHard: {memory.available: 104857600}|512Mi 0 100Mi|0=306Mi 1=306Mi",
        "|kubeReserved: {memory: 500000000m}, evictionHard: {memory.available: 100Mi}|500000 0 100Mi|0=52678800 1=52678800",
        // no threshold in a running kubelet is none: set to the default
        "|systemReserved: {memory: 1Gi}|- 1Gi 100Mi|0=562Mi 1=562Mi",
        "|systemReserved: {memory: 1Gi}, evictionHard: {nodefs.available: 10%}|- 1Gi 100Mi|0=562Mi 1=562Mi",
        // a percentage becomes an amount, by the kubelet's arithmetic, of 32Gi
        "|evictionHard: {memory.available: 5%}|- 0 1717986944|0=858993472 1=858993472",
        // asked for in all
        "total: 6Gi|kubeReserved: {memory: 1Gi}, systemReserved: {memory: 7Gi}, evictionHard: {memory.available: 1Gi}|1Gi 4Gi 1Gi|0=3Gi 1=3Gi",
        "total: 100Mi|evictionHard: {memory.available: 100Mi}|- 0 100Mi|0=50Mi 1=50Mi",
        "total: 1000000001|evictionHard: {memory.available: 1}|- 1000000000 1|0=500000001 1=500000000",
        // asked for per zone
        "perNumaNode: 4Gi|kubeReserved: {memory: 1Gi}, evictionHard: {memory.available: 100Mi}|1Gi 7068Mi 100Mi|0=4Gi 1=4Gi",
        "perNumaNode: 1500M|systemReserved: {memory: 1Gi}, evictionHard: {memory.available: 0%}|- 3000000000 0%|0=1500000000 1=1500000000",
      })
  void reservesMemory(String reserved, String node, String reservations, String shares) {
    var policy = reserved == null ? "" : "memoryManager: {reserved: {%s}}".formatted(reserved);
    var fragment = planned(plan(policy, TWO.machine(), "{" + node + "}", 36)).fragment();
    assertThat(fragment.memoryManagerPolicy).isEqualTo("Static");
    assertThat(
            "%s %s %s"
                .formatted(
                    fragment.kubeReserved == null ? "-" : fragment.kubeReserved.get("memory"),
                    fragment.systemReserved.get("memory"),
                    fragment.evictionHard.get("memory.available")))
        .isEqualTo(reservations);
    assertThat(shares(fragment)).isEqualTo(shares);
    var each =
        Stream.of(fragment.kubeReserved, fragment.systemReserved)
            .filter(map -> map != null)
            .mapToLong(map -> Bytes.parse(map.get("memory")).orElseThrow())
            .sum();
    var eviction = fragment.evictionHard.get("memory.available");
    assertThat(
            fragment.reservedMemory.stream()
                .mapToLong(r -> Bytes.parse(r.limits.get("memory")).orElseThrow())
                .sum())
        .isEqualTo(each + (eviction.equals("0%") ? 0 : Bytes.parse(eviction).orElseThrow()));
  }

  private static String shares(KubeletFragment fragment) {
    return fragment.reservedMemory.stream()
        .map(r -> r.numaNode + "=" + r.limits.get("memory"))
        .collect(Collectors.joining(" "));
  }

  @Test
  void splitsByWhatHugepagesLeave() {
    var inventory = TestMachine.zones(3).inventory();
    inventory.zones.get(0).hugepages = 12 * Bytes.GI; // leaves 4Gi
    inventory.zones.get(2).cpus = ""; // memory only: nothing is reserved there
    inventory.zones.get(2).cores = List.of();
    var fragment =
        planned(
                plan(
                    "memoryManager: {reserved: {total: 5Gi}}",
                    Machine.of(inventory),
                    "evictionHard: {memory.available: 100Mi}",
                    36))
            .fragment();
    assertThat(shares(fragment)).isEqualTo("0=1Gi 1=4Gi");
  }

  @ParameterizedTest(name = "{0} on {1} zones, {2} cores, {3} threads")
  @CsvSource(
      delimiter = '|',
      value = {
        "{coresPerNumaNode: 1}|2|4|2|0,4,8,12",
        "{coresPerNumaNode: 2}|2|4|2|0-1,4-5,8-9,12-13",
        "{coresPerNumaNode: 1}|2|4|1|0,4",
        "{coresPerNumaNode: 1}|1|4|4|0,4,8,12",
        "{coresPerNumaNode: 3}|1|4|2|0-2,4-6",
        "{cpus: '8,0'}|2|4|2|0,8",
        "{cpus: 0-1}|2|4|1|0-1",
        "|2|4|2|0,4,8,12",
      })
  void reservesCpus(String reserved, int zones, int cores, int threads, String cpus) {
    var machine = TestMachine.zones(zones).coresPerZone(cores).threads(threads).machine();
    var policy = reserved == null ? "" : "cpuManager: {reserved: %s}".formatted(reserved);
    var fragment = planned(plan(policy, machine, NODE, 36)).fragment();
    assertThat(fragment.cpuManagerPolicy).isEqualTo("static");
    assertThat(fragment.reservedSystemCPUs).isEqualTo(cpus);
  }

  @Test
  void saysWhenReservedCpusSplitACore() {
    var planned =
        planned(plan("cpuManager: {reserved: {cpus: \"0-1,8\"}}", TWO.machine(), NODE, 36));
    assertThat(planned.notes()).anyMatch(note -> note.contains("pods can get CPUs 9,"));
  }

  /**
   * What the main file says of the cgroups, and what has to be written beside reservedSystemCPUs.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "enforceNodeAllocatable: [pods]|[pods]|0",
        "enforceNodeAllocatable: [none]|[none]|0",
        "enforceNodeAllocatable: []|[none]|0",
        "x: y|[none]|0",
        "{enforceNodeAllocatable: [pods, system-reserved, kube-reserved], systemReservedCgroup: /s, kubeReservedCgroup: /k}|[pods]|2",
        "{enforceNodeAllocatable: [pods, system-reserved-compressible], systemReservedCgroup: /s}|[pods]|1",
        "{enforceNodeAllocatable: [kube-reserved-compressible], kubeReservedCgroup: /k}|[none]|1",
        "{enforceNodeAllocatable: [pods], systemReservedCgroup: /s}|[pods]|1",
      })
  void clearsTheCgroupsThatReservedCpusExclude(String node, String enforced, int notes) {
    var planned = planned(plan("memoryManager: {policy: None}", TWO.machine(), node, 36));
    assertThat(planned.fragment().systemReservedCgroup).isEmpty();
    assertThat(planned.fragment().kubeReservedCgroup).isEmpty();
    assertThat(planned.fragment().enforceNodeAllocatable).hasToString(enforced);
    assertThat(planned.notes()).hasSize(notes);
  }

  @Test
  void whatFilesDoNotSayIsEnforcedByDefault() {
    for (var source : new Source[] {Source.Files, null}) {
      var effective = effective("x: y");
      effective.source = source;
      var plan = KubeletPlanner.plan(new KubeletPolicy(), TWO.machine(), effective, version(36));
      assertThat(planned(plan).fragment().enforceNodeAllocatable).isNull();
    }
  }

  /** An explicit empty list would come back as [pods] with the first drop-in. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"cgroupsPerQOS: false|[none]", "[none]|[none]", "[pods]|null", "[]|[none]"})
  void aKubeletThatEnforcesNothingGoesOnSo(String now, String planned) {
    var settings = now.startsWith("[") ? "enforceNodeAllocatable: " + now : now;
    var fragment =
        planned(
                plan(
                    "{cpuManager: {policy: None}, memoryManager: {policy: None}, topologyManager:"
                        + " {policy: None}}",
                    TestMachine.zones(2).machine(),
                    settings,
                    36))
            .fragment();
    assertThat(String.valueOf(fragment.enforceNodeAllocatable)).isEqualTo(planned);
  }

  @Test
  void managersThatAreOffLeaveTheReservationsAlone() {
    var fragment =
        planned(
                plan(
                    "{cpuManager: {policy: None}, memoryManager: {policy: None, reserved: {total:"
                        + " 6Gi}}, topologyManager: {policy: None, scope: Container}}",
                    TestMachine.zones(40).machine(),
                    "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {full-pcpus-only:"
                        + " \"true\"}, reservedSystemCPUs: \"0\", kubeReservedCgroup: /k,"
                        + " enforceNodeAllocatable: [pods]}",
                    30))
            .fragment();
    assertThat(DropIn.render(fragment))
        .asString(UTF_8)
        .endsWith(
            """
            kind: KubeletConfiguration
            cpuManagerPolicy: none
            cpuManagerPolicyOptions: null
            memoryManagerPolicy: None
            topologyManagerPolicy: none
            topologyManagerScope: container
            """);
  }

  @ParameterizedTest(name = "{0} on {3} in {4}")
  @CsvSource(
      delimiter = '|',
      value = {
        "fullPhysicalCpusOnly: true|SingleNUMANode|{full-pcpus-only=true}||36",
        "fullPhysicalCpusOnly: false|Restricted|{full-pcpus-only=false}||36",
        "distributeCpusAcrossNuma: true|Restricted|{distribute-cpus-across-numa=true, prefer-align-cpus-by-uncorecache=false}||34",
        "distributeCpusAcrossNuma: true|Restricted|{distribute-cpus-across-numa=true}||33",
        "alignBySocket: true|Restricted|{align-by-socket=true}|CPUManagerPolicyAlphaOptions|36",
        "alignBySocket: false|Restricted|null||36",
        "strictCpuReservation: false|Restricted|null||31",
        "strictCpuReservation: true|Restricted|{strict-cpu-reservation=true}||33",
        "preferAlignCpusByUncoreCache: true|Restricted|{distribute-cpus-across-numa=false, prefer-align-cpus-by-uncorecache=true}||36",
        // with the alpha options open, what would be fatal in the main file is switched off
        "|SingleNUMANode|{align-by-socket=false}|CPUManagerPolicyAlphaOptions|36",
        "|Restricted|null|CPUManagerPolicyAlphaOptions|36",
        "fullPhysicalCpusOnly: true|Restricted|{distribute-cpus-across-cores=false, full-pcpus-only=true}|CPUManagerPolicyAlphaOptions|36",
        "distributeCpusAcrossCores: true|Restricted|{distribute-cpus-across-cores=true, distribute-cpus-across-numa=false, full-pcpus-only=false, prefer-align-cpus-by-uncorecache=false}|AllAlpha|36",
      })
  void writesCpuOptions(String options, String topology, String expected, String gate, int minor) {
    var policy =
        "{topologyManager: {policy: %s}, cpuManager: {options: {%s}}}"
            .formatted(topology, options == null ? "" : options);
    var effective = effective(NODE);
    effective.featureGates = gate == null ? null : Map.of(gate, true);
    var plan = KubeletPlanner.plan(policy(policy), TWO.machine(), effective, version(minor));
    assertThat(String.valueOf(planned(plan).fragment().cpuManagerPolicyOptions))
        .isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}, {1} zones, 1.{2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "policy: SingleNUMANode|2|36|single-numa-node pod null",
        "{policy: BestEffort, scope: Container}|2|36|best-effort container null",
        "policy: Restricted|8|36|restricted pod null",
        "policy: Restricted|9|36|restricted pod {max-allowable-numa-nodes=9}",
        "policy: Restricted|16|31|restricted pod {max-allowable-numa-nodes=16}",
        "{policy: Restricted, options: {maxAllowableNumaNodes: 40}}|34|36|restricted pod {max-allowable-numa-nodes=40}",
        "{policy: Restricted, options: {maxAllowableNumaNodes: 8}}|2|36|restricted pod {max-allowable-numa-nodes=8}",
        "{policy: Restricted, options: {preferClosestNumaNodes: true}}|2|36|restricted pod {prefer-closest-numa-nodes=true}",
        "policy: None|40|36|none pod null",
      })
  void writesTheTopologyManager(String topology, int zones, int minor, String expected) {
    var policy =
        "{topologyManager: %s, memoryManager: {policy: None}}"
            .formatted(topology.startsWith("{") ? topology : "{" + topology + "}");
    var machine = TestMachine.zones(zones).machine();
    var fragment = planned(plan(policy, machine, NODE, minor)).fragment();
    assertThat(
            "%s %s %s"
                .formatted(
                    fragment.topologyManagerPolicy,
                    fragment.topologyManagerScope,
                    fragment.topologyManagerPolicyOptions))
        .isEqualTo(expected);
  }

  static Stream<Arguments> refusals() {
    var two = TWO.machine();
    var noPlainMemory = TestMachine.zones(2).hugepages(16 * Bytes.GI).machine();
    var noCpus = TWO.inventory();
    noCpus.zones.forEach(
        zone -> {
          zone.cpus = "";
          zone.cores = List.of();
        });
    var less = TWO.inventory();
    less.memoryTotal = 3 * Bytes.GI;
    return Stream.of(
        // CPUs
        refusal("cpuManager: {reserved: {cpus: 5-1}}", two, NODE, 36, "ReservedCpusInvalid", "5-1"),
        refusal(
            "cpuManager: {reserved: {cpus: 0-20}}",
            two,
            NODE,
            36,
            "ReservedCpusNotOnNode",
            "16-20 (it has 0-15"),
        refusal(
            "cpuManager: {reserved: {cpus: \"4-7,12-15\"}}",
            two,
            NODE,
            36,
            "ReservedCpusTakeZone",
            "all 8 CPUs (4-7,12-15) of NUMA node 1"),
        refusal(
            "cpuManager: {reserved: {coresPerNumaNode: 4}}",
            two,
            NODE,
            36,
            "ReservedCpusTakeZone",
            "it has 4 physical cores"),
        refusal(
            "",
            TestMachine.zones(1).coresPerZone(1).machine(),
            NODE,
            36,
            "ReservedCpusTakeZone",
            "all 2 CPUs"),
        refusal("", Machine.of(noCpus), NODE, 36, "InventoryUnreadable", "No NUMA node"),
        // options
        refusal(
            option("distributeCpusAcrossCores"),
            two,
            NODE,
            30,
            "UnsupportedOption",
            "needs Kubernetes 1.31; this kubelet is v1.30.0"),
        refusal(
            option("strictCpuReservation"),
            two,
            NODE,
            32,
            "UnsupportedOption",
            "CPUManagerPolicyAlphaOptions in Kubernetes v1.32.0"),
        refusal(
            option("distributeCpusAcrossCores"),
            two,
            NODE,
            36,
            "UnsupportedOption",
            "CPUManagerPolicyAlphaOptions"),
        refusal(
            "topologyManager: {options: {preferClosestNumaNodes: true}}",
            two,
            NODE,
            25,
            "UnsupportedOption",
            "1.26"),
        refusal(
            "topologyManager: {options: {maxAllowableNumaNodes: 9}}",
            two,
            NODE,
            30,
            "UnsupportedOption",
            "1.31"),
        refusal(
            "cpuManager: {options: {distributeCpusAcrossNuma: true, preferAlignCpusByUncoreCache: true}}",
            two,
            NODE,
            36,
            "OptionsExclusive",
            "distribute-cpus-across-numa"),
        refusal(
            option("alignBySocket"), two, ALPHA, 36, "AlignBySocketImpossible", "SingleNUMANode"),
        refusal(
            "{topologyManager: {policy: Restricted}, cpuManager: {options: {alignBySocket: true}}}",
            TestMachine.zones(2).sockets(4).machine(),
            ALPHA,
            36,
            "AlignBySocketImpossible",
            "sockets (4) than NUMA nodes (2)"),
        // zones
        refusal(
            "memoryManager: {policy: None}",
            TestMachine.zones(9).machine(),
            NODE,
            30,
            "TooManyZones",
            "9 NUMA nodes"),
        refusal(
            "memoryManager: {policy: None}",
            TestMachine.zones(17).machine(),
            NODE,
            36,
            "TooManyZones",
            "17 NUMA nodes"),
        refusal(
            "{memoryManager: {policy: None}, topologyManager: {options: {maxAllowableNumaNodes: 33}}}",
            TestMachine.zones(34).machine(),
            NODE,
            36,
            "TooManyZones",
            "maxAllowableNumaNodes is 33"),
        refusal(
            "topologyManager: {policy: None}",
            TestMachine.zones(17).machine(),
            NODE,
            36,
            "TooManyZonesForMemoryManager",
            "17 NUMA nodes"),
        // memory
        refusal(
            "memoryManager: {reserved: {total: 8Ei}}",
            two,
            NODE,
            36,
            "ReservedMemoryInvalid",
            "8Ei"),
        refusal(
            "memoryManager: {reserved: {perNumaNode: 5000000T}}",
            two,
            NODE,
            36,
            "ReservedMemoryInvalid",
            "perNumaNode"),
        refusal(
            "memoryManager: {reserved: {perNumaNode: 7E}}",
            two,
            NODE,
            36,
            "ReservedMemoryInvalid",
            "8Ei"),
        refusal(
            "memoryManager: {reserved: {total: 1Gi}}",
            two,
            "{kubeReserved: {memory: 1Gi}, evictionHard: {memory.available: 100Mi}}",
            36,
            "ReservedMemoryTooSmall",
            "kubeReserved 1Gi + evictionHard 100Mi = 1124Mi"),
        refusal(
            "memoryManager: {reserved: {perNumaNode: 10Mi}}",
            two,
            NODE,
            36,
            "ReservedMemoryTooSmall",
            "comes to 20Mi"),
        refusal(
            "",
            two,
            "evictionHard: {memory.available: 0%}",
            36,
            "NothingReserved",
            "kubeReserved 0 + systemReserved 0 + evictionHard 0"),
        refusal(
            "memoryManager: {reserved: {perNumaNode: 12388Mi}}",
            TestMachine.zones(2).zoneMemory(8 * Bytes.GI).machine(),
            NODE,
            36,
            "MemoryBeyondZone",
            "12388Mi of NUMA node 0, which has 8Gi"),
        refusal(
            "memoryManager: {reserved: {perNumaNode: 5Gi}}",
            TestMachine.zones(2).hugepages(12 * Bytes.GI).machine(),
            NODE,
            36,
            "MemoryBeyondZone",
            "has 4Gi outside hugepages (16Gi in all, 12Gi as hugepages)"),
        refusal("", noPlainMemory, NODE, 36, "MemoryBeyondZone", "300Mi cannot be reserved"),
        refusal(
            "memoryManager: {reserved: {total: 4Gi}}",
            Machine.of(less),
            NODE,
            36,
            "MemoryBeyondNode",
            "3Gi"),
        refusal(
            "",
            two,
            "kubeReserved: {memory: 1.5}",
            36,
            "KubeletSettingUnreadable",
            "kubeReserved[memory] is \"1.5\""),
        refusal(
            "",
            two,
            "systemReserved: {memory: lots}",
            36,
            "KubeletSettingUnreadable",
            "systemReserved[memory] is \"lots\""),
        refusal(
            "",
            two,
            "evictionHard: {memory.available: 0}",
            36,
            "KubeletSettingUnreadable",
            "evictionHard[memory.available]"),
        refusal(
            "",
            two,
            "{kubeReserved: {memory: 7Ei}, systemReserved: {memory: 7Ei}}",
            36,
            "ReservedMemoryInvalid",
            "8Ei"));
  }

  /** Settings of a node whose main file opens the alpha options. */
  private static final String ALPHA =
      "{systemReserved: {memory: 200Mi}, featureGates: {CPUManagerPolicyAlphaOptions: true}}";

  private static String option(String name) {
    return "cpuManager: {options: {%s: true}}".formatted(name);
  }

  private static Arguments refusal(
      String policy, Machine machine, String node, int minor, String reason, String message) {
    return Arguments.of(policy, machine, node, minor, reason, message);
  }

  @ParameterizedTest(name = "{4}: {0}")
  @MethodSource("refusals")
  void refuses(
      String policy, Machine machine, String node, int minor, String reason, String message) {
    assertThat(plan(policy, machine, node, minor))
        .isInstanceOfSatisfying(
            Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(reason);
              assertThat(refused.message()).contains(message).endsWith(".");
            });
  }

  private static KubeletPlan plan(String policy, Machine machine, String node, int minor) {
    return KubeletPlanner.plan(policy(policy), machine, effective(node), version(minor));
  }

  private static KubeletPolicy policy(String yaml) {
    return yaml.isEmpty()
        ? new KubeletPolicy()
        : Serialization.yamlMapper().convertValue(Fragments.config(yaml), KubeletPolicy.class);
  }

  private static EffectiveKubelet effective(String node) {
    var config = Fragments.config(node);
    var effective = new EffectiveKubelet();
    effective.source = Source.Configz;
    effective.settings = KubeletSettings.of(config);
    effective.featureGates = KubeletSettings.featureGates(config);
    return effective;
  }

  private static KubeletVersion version(int minor) {
    return new KubeletVersion(1, minor, 0);
  }

  private static Planned planned(KubeletPlan plan) {
    assertThat(plan).isInstanceOf(Planned.class);
    return (Planned) plan;
  }
}
