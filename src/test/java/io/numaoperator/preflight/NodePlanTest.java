package io.numaoperator.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletFragment.MemoryReservation;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.KubeletPolicy.ReservedMemory;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.KubeletPolicy.TopologyPolicy;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.ConfigFiles;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.PciDevice;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.api.NumaNodeStateStatus.StateFiles;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.kubelet.ManagedField;
import io.numaoperator.kubelet.OwnSettings;
import io.numaoperator.plan.kubelet.KubeletPlan;
import io.numaoperator.plan.kubelet.KubeletPlan.Planned;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.topology.TestMachine;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class NodePlanTest {
  private static final String BOOT = "6a1f";

  @Test
  void aSoundNodeGetsItsPlan() {
    var plan = NodePlan.of(new KubeletPolicy(), status(), BOOT);
    assertThat(plan).isInstanceOf(Planned.class);
    var planned = (Planned) plan;
    assertThat(planned.fragment().topologyManagerPolicy).isEqualTo("single-numa-node");
    assertThat(planned.hash()).isEqualTo(DropIn.hash(planned.fragment()));
  }

  static Stream<Arguments> violations() {
    return Stream.of(
        violation("InventoryMissing", "has not reported", s -> s.inventory = null),
        violation("InventoryMissing", "has not reported", s -> s.inventory.kubelet = null),
        violation(
            "InventoryOutdated", "from boot old, and it runs boot 6a1f", s -> s.bootId = "old"),
        violation("InventoryOutdated", "(not reported)", s -> s.bootId = null),
        violation("InventoryUnreadable", "no zones", s -> s.inventory.zones.clear()),
        violation("InventoryUnreadable", "memoryTotal", s -> s.inventory.memoryTotal = null),
        violation("KubeletSettingsUnknown", "not known yet.", s -> s.effective = null),
        violation(
            "KubeletSettingsUnknown",
            "not known: configz: 403.",
            s -> {
              s.effective.settings = null;
              s.agentError = "configz: 403";
            }),
        violation("KubeletVersionUnknown", "\"\"", s -> s.inventory.kubelet.version = null),
        violation("KubeletVersionUnknown", "\"dev\"", s -> s.inventory.kubelet.version = "dev"),
        violation(
            "KubeletTooOld",
            "drop-ins are merged over it",
            s -> s.inventory.kubelet.version = "v1.31.9"),
        violation(
            "KubeletTooOld",
            "none that the agent sees",
            s -> {
              s.inventory.kubelet.version = "v1.31.9";
              s.inventory.kubelet.dropInDirectory = null;
              s.files = null;
            }),
        violation("NoKubeletService", "systemd", s -> s.inventory.kubelet.service = null),
        violation(
            "NoDropInDirectory", "--config-dir", s -> s.inventory.kubelet.dropInDirectory = ""),
        violation(
            "NoDropInDirectory",
            "kubelet.service",
            s -> s.inventory.kubelet.dropInDirectory = null),
        violation(
            "RemovedFeatureGate",
            "v1.36.3",
            s -> s.effective.featureGates = Map.of("MemoryManager", true)),
        violation(
            "LockedFeatureGate",
            "TopologyManagerPolicyOptions, which is locked on in kubelet v1.36.3",
            s -> s.effective.featureGates = Map.of("TopologyManagerPolicyOptions", false)),
        violation(
            "EvictionNotCounted",
            "--experimental-allocatable-ignore-eviction",
            s -> flags(s, ManagedField.IGNORE_EVICTION_FLAG)),
        violation(
            "StateFileMismatch",
            "policy none, but cpu_manager_state in /var/lib/kubelet says static",
            s -> s.stateFiles.cpuPolicy = "static"),
        violation(
            "StateFileMismatch",
            "policy None, but memory_manager_state",
            s -> s.stateFiles.memoryPolicy = "Static"),
        violation(
            "SetByFlag",
            "reservedSystemCPUs is not set, wanted 0,4,8,12, but reservedSystemCPUs is set on",
            s -> flags(s, "reservedSystemCPUs")),
        violation(
            "SetByFlag",
            "cpuManagerPolicy is none, wanted static",
            s -> flags(s, "maxPods", "cpuManagerPolicy")),
        violation(
            "OverriddenByDropIn",
            "95-other.conf in the kubelet's directory is read after the operator's and wins over it:"
                + " topologyManagerPolicy is none, wanted single-numa-node",
            s -> {
              s.files.above.topologyManagerPolicy = "none";
              s.files.overriding = List.of("95-other.conf");
            }),
        violation(
            "OverriddenByDropIn",
            "reservedMemory is",
            s -> {
              s.files.above.reservedMemory = List.of(new MemoryReservation(0, "1Gi"));
              s.files.overriding = List.of("99-foreign.conf");
            }),
        violation(
            "DevicesThroughDRA",
            "node's 2 GPUs are not handed out by a device plugin, and DRA drivers are there"
                + " (gpu.nvidia.com)",
            NodePlanTest::gpusThroughDra),
        // the planner's own refusals come through
        violation("TooManyZones", "17 NUMA nodes", s -> many(s)),
        // the first violation wins
        violation(
            "InventoryOutdated",
            "boot",
            s -> {
              s.bootId = "old";
              s.effective = null;
            }));
  }

  private static void gpusThroughDra(NumaNodeStateStatus status) {
    for (var zone : status.inventory.zones) {
      var gpu = new PciDevice();
      gpu.address = "0000:17:00.0";
      gpu.pciClass = "0302";
      zone.pci = List.of(gpu);
    }
    status.inventory.gpuCount = 0;
    status.inventory.kubelet.draDrivers = List.of("gpu.nvidia.com");
  }

  private static void many(NumaNodeStateStatus status) {
    status.files = null;
    status.inventory.zones = TestMachine.zones(16).inventory().zones;
    status.inventory.zoneCount = 17;
    status.effective.settings.memoryManagerPolicy = "None";
  }

  private static Arguments violation(
      String reason, String message, Consumer<NumaNodeStateStatus> damage) {
    return Arguments.of(reason, message, damage);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("violations")
  void eachViolationIsNamed(String reason, String message, Consumer<NumaNodeStateStatus> damage) {
    var policy = new KubeletPolicy();
    if (reason.equals("TooManyZones")) {
      policy.memoryManager.policy = StaticOrNone.None;
    }
    var status = status();
    damage.accept(status);
    assertThat(NodePlan.of(policy, status, BOOT))
        .isInstanceOfSatisfying(
            Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(reason);
              assertThat(refused.message()).contains(message).endsWith(".");
            });
  }

  static Stream<Arguments> tolerated() {
    return Stream.of(
        Arguments.of(
            "the gate before 1.36",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.inventory.kubelet.version = "v1.35.4";
                  s.effective.featureGates = Map.of("MemoryManager", true);
                }),
        Arguments.of(
            "no state files seen", (Consumer<NumaNodeStateStatus>) s -> s.stateFiles = null),
        Arguments.of(
            "state files during an attempt",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.attempt = new Attempt();
                  s.stateFiles.cpuPolicy = "static";
                }),
        Arguments.of(
            "a flag of a field with the wanted value",
            (Consumer<NumaNodeStateStatus>)
                s -> flags(s, "evictionHard", "systemReserved", "enforceNodeAllocatable")),
        Arguments.of(
            "GPUs through a device plugin beside DRA drivers",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  gpusThroughDra(s);
                  s.inventory.gpuCount = 2;
                }),
        Arguments.of(
            "a later drop-in that says the same",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.files.above.topologyManagerPolicy = "single-numa-node";
                  s.files.overriding = List.of("95-other.conf");
                }),
        Arguments.of(
            "files that the agent does not see",
            (Consumer<NumaNodeStateStatus>) s -> s.files = null),
        Arguments.of(
            "a directory that the kubelet can be given",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.inventory.kubelet.dropInDirectory = null;
                  s.inventory.kubelet.newDropInDirectory = "/etc/kubernetes/kubelet.conf.d";
                }),
        Arguments.of(
            "an old kubelet whose main file can be edited",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.inventory.kubelet.version = "v1.30.14";
                  s.inventory.kubelet.dropInDirectory = null;
                }),
        Arguments.of(
            "no gates, no flags",
            (Consumer<NumaNodeStateStatus>)
                s -> {
                  s.effective.featureGates = null;
                  s.inventory.kubelet.managedByFlag = null;
                }));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tolerated")
  void whatDoesNoHarmIsTolerated(String name, Consumer<NumaNodeStateStatus> change) {
    var status = status();
    change.accept(status);
    assertThat(NodePlan.of(new KubeletPolicy(), status, BOOT)).isInstanceOf(Planned.class);
  }

  @Test
  void stateFilesCountAgainWhenTheAttemptIsOver() {
    var status = status();
    status.attempt = new Attempt();
    status.attempt.result = Result.RolledBack;
    status.stateFiles.cpuPolicy = "static";
    assertThat(NodePlan.of(new KubeletPolicy(), status, BOOT))
        .isInstanceOfSatisfying(
            Refused.class, r -> assertThat(r.reason()).isEqualTo("StateFileMismatch"));
  }

  @Test
  void aFlagThatHoldsAnotherAmountIsInTheWay() {
    var policy = new KubeletPolicy();
    policy.memoryManager.reserved = new ReservedMemory();
    policy.memoryManager.reserved.total = "6Gi";
    var status = status();
    flags(status, "systemReserved");
    assertThat(NodePlan.of(policy, status, BOOT))
        .isInstanceOfSatisfying(
            Refused.class,
            refused ->
                assertThat(refused.message())
                    .startsWith("systemReserved[memory] is 200Mi, wanted 6044Mi, but"));
  }

  @Test
  void withoutAMemoryManagerTheIgnoredEvictionDoesNotMatter() {
    var policy = new KubeletPolicy();
    policy.memoryManager.policy = StaticOrNone.None;
    var status = status();
    flags(status, ManagedField.IGNORE_EVICTION_FLAG);
    assertThat(NodePlan.of(policy, status, BOOT)).isInstanceOf(Planned.class);
  }

  /** BestEffort promises nothing, so nothing is broken. */
  @Test
  void devicesThroughDraMayBeUnalignedWhereThatIsAsked() {
    var policy = new KubeletPolicy();
    policy.topologyManager.policy = TopologyPolicy.BestEffort;
    var status = status();
    gpusThroughDra(status);
    assertThat(NodePlan.of(policy, status, BOOT)).isInstanceOf(Planned.class);
  }

  static Stream<Arguments> fragments() {
    var pod = "{topologyManagerScope: pod}";
    return Stream.of(
        Arguments.of("FragmentNotAllowed", "{}", "{topologyManagerPolicy: numa}"),
        Arguments.of("NoReservedCpus", "{}", "{cpuManagerPolicy: static}"),
        Arguments.of(
            "NoReservedCpus", "{kubeReserved: {cpu: 17000m}}", "{cpuManagerPolicy: static}"),
        Arguments.of("", "{kubeReserved: {cpu: 500m}}", "{cpuManagerPolicy: static}"),
        Arguments.of(
            "ReservedCgroupConflict", "{kubeReservedCgroup: /k}", "{reservedSystemCPUs: 0-1}"),
        Arguments.of(
            "EnforcementWithoutCgroup",
            "{kubeReservedCgroup: /k, enforceNodeAllocatable: [pods, kube-reserved]}",
            "{reservedSystemCPUs: 0-1, kubeReservedCgroup: ''}"),
        Arguments.of(
            "", "{kubeReservedCgroup: /k}", "{reservedSystemCPUs: 0-1, kubeReservedCgroup: ''}"),
        Arguments.of("EmptyValueLost", "{enforceNodeAllocatable: []}", pod),
        Arguments.of("", "{enforceNodeAllocatable: []}", "{enforceNodeAllocatable: [none]}"),
        Arguments.of(
            "OptionsWithoutPolicy", "{cpuManagerPolicyOptions: {full-pcpus-only: 'true'}}", pod),
        Arguments.of(
            "UnsupportedOption",
            "{topologyManagerPolicyOptions: {new-one: 'true'}}",
            "{topologyManagerPolicy: restricted}"),
        Arguments.of("", "{topologyManagerPolicyOptions: {new-one: 'true'}}", pod),
        Arguments.of(
            "ReservedMemoryUnequal",
            "{kubeReserved: {memory: 1Gi}}",
            "{memoryManagerPolicy: Static, systemReserved: {memory: 1Gi}, reservedMemory:"
                + " [{numaNode: 0, limits: {memory: 1Gi}}]}"),
        Arguments.of("KubeletSettingUnreadable", "{kubeReserved: {memory: 1.5}}", pod),
        Arguments.of("NothingReserved", "{memoryManagerPolicy: Static}", pod));
  }

  @ParameterizedTest(name = "{0}: {1} + {2}")
  @MethodSource("fragments")
  void aFragmentIsJudgedWithTheFilesBelowIt(String reason, String below, String fragment) {
    var status = status();
    status.files.below = Fragments.fragment(below);
    status.effective.settings.enforceNodeAllocatable = null;
    var refused =
        Preflight.check(
            new Preflight.Input(new KubeletPolicy(), status, BOOT), Fragments.fragment(fragment));
    assertThat(refused.map(Refused::reason).orElse("")).isEqualTo(reason);
    refused.ifPresent(r -> assertThat(r.message()).endsWith("."));
  }

  /** Nobody but the Machine Config Operator writes on its nodes, and it writes nowhere else. */
  @ParameterizedTest
  @CsvSource({
    "Agent, OpenShift, ManagedByPlatform",
    "Agent, Talos, ManagedByPlatform",
    "Agent, GKE, ManagedByPlatform",
    "Agent, EKS, ''",
    "OpenShift, Kubeadm, NotOpenShift",
    "OpenShift, OpenShift, ''",
    "External, OpenShift, ''",
    "Auto, Bottlerocket, ''"
  })
  void aDeliveryFitsItsPlatform(Delivery delivery, Platform platform, String reason) {
    var policy = new KubeletPolicy();
    policy.delivery = delivery;
    var status = status();
    status.inventory.kubelet.platform = platform;
    var plan = NodePlan.of(policy, status, BOOT);
    assertThat(plan instanceof Refused refused ? refused.reason() : "").isEqualTo(reason);
  }

  /** Who configures the kubelet himself needs a plan, but nothing of what the agent needs. */
  @Test
  void otherDeliveriesNeedNoDropIn() {
    for (var delivery : Delivery.values()) {
      var policy = new KubeletPolicy();
      policy.delivery = delivery;
      for (Consumer<NumaNodeStateStatus> lack :
          List.<Consumer<NumaNodeStateStatus>>of(
              s -> s.inventory.kubelet.dropInDirectory = null,
              s -> s.inventory.kubelet.service = null,
              s -> s.inventory.kubelet.version = "v1.30.14")) {
        var status = status();
        lack.accept(status);
        boolean agent = delivery == Delivery.Auto || delivery == Delivery.Agent;
        assertThat(NodePlan.of(policy, status, BOOT))
            .as(delivery.name())
            .isInstanceOf(agent ? Refused.class : Planned.class);
      }
    }
  }

  /** A kubelet that was upgraded or downgraded under us is judged by its version of now. */
  @Test
  void anotherVersionIsPreflightedAnew() {
    var policy = new KubeletPolicy();
    policy.cpuManager.options = new KubeletPolicy.CpuOptions();
    policy.cpuManager.options.strictCpuReservation = true;
    var status = status();
    assertThat(NodePlan.of(policy, status, BOOT)).isInstanceOf(Planned.class);
    status.inventory.kubelet.version = "v1.32.9"; // alpha there
    assertThat(NodePlan.of(policy, status, BOOT))
        .isInstanceOfSatisfying(
            Refused.class, r -> assertThat(r.reason()).isEqualTo("UnsupportedOption"));
    status.inventory.kubelet.version = "v1.31.2";
    assertThat(NodePlan.of(policy, status, BOOT))
        .isInstanceOfSatisfying(
            Refused.class, r -> assertThat(r.reason()).isEqualTo("KubeletTooOld"));
  }

  /** What the next version will stop at is told, and holds nothing up. */
  @Test
  void theNextVersionIsLookedAtToo() {
    var status = status();
    status.inventory.kubelet.version = "v1.35.4";
    assertThat(NodePlan.afterUpgrade(new KubeletPolicy(), status, BOOT)).isEmpty();
    status.effective.featureGates = Map.of("MemoryManager", true);
    assertThat(NodePlan.of(new KubeletPolicy(), status, BOOT)).isInstanceOf(Planned.class);
    assertThat(NodePlan.afterUpgrade(new KubeletPolicy(), status, BOOT).orElseThrow())
        .startsWith("Kubernetes 1.36: ")
        .contains("featureGates.MemoryManager", "v1.36.0 does not start");

    status.inventory.kubelet.version = "v1.32.9";
    status.effective.featureGates = Map.of("CPUManagerPolicyOptions", false);
    assertThat(NodePlan.afterUpgrade(new KubeletPolicy(), status, BOOT).orElseThrow())
        .startsWith("Kubernetes 1.33: ")
        .contains("CPUManagerPolicyOptions", "locked on");
  }

  /** What an earlier policy raised is not taken for the node's own. */
  @Test
  void theNodesOwnSettingsArePlannedFrom() {
    var status = status();
    var fresh = (Planned) NodePlan.of(new KubeletPolicy(), status, BOOT);
    status.baseline = status.effective.settings;
    status.effective = new EffectiveKubelet();
    status.effective.source = Source.Configz;
    status.effective.settings =
        KubeletSettings.of(Fragments.config("{systemReserved: {memory: 9Gi}}"));
    assertThat(((Planned) NodePlan.of(new KubeletPolicy(), status, BOOT)).hash())
        .isEqualTo(fresh.hash());
  }

  @Test
  void aChangedNodeHasTheSamePlan() {
    var status = status();
    KubeletPlan plan = NodePlan.of(new KubeletPolicy(), status, BOOT);
    status.effective.settings = ((Planned) plan).fragment();
    status.stateFiles.cpuPolicy = "static";
    status.stateFiles.memoryPolicy = "Static";
    assertThat(((Planned) NodePlan.of(new KubeletPolicy(), status, BOOT)).hash())
        .isEqualTo(((Planned) plan).hash());
  }

  /** As after an update of the kernel: some pages more or less, and the plan stays the same. */
  @Test
  void aPercentageOfTheMemoryIsNotPlannedAnewForSomePages() {
    var status = status();
    var own = status.effective.settings;
    own.evictionHard = Map.of("memory.available", "5%", "nodefs.available", "10%");
    status.baseline = own;
    status.files.below.evictionHard = own.evictionHard;
    var first = (Planned) NodePlan.of(new KubeletPolicy(), status, BOOT);
    status.effective = new EffectiveKubelet();
    status.effective.source = Source.Configz;
    status.effective.settings = OwnSettings.with(own, first.fragment());
    status.dropInHash = first.hash();
    status.stateFiles.cpuPolicy = "static";
    status.stateFiles.memoryPolicy = "Static";
    long memory = status.inventory.memoryTotal;
    for (long pages : List.of(-2000L, -1L, 0L, 1L, 2000L)) {
      status.inventory.memoryTotal = memory + pages * 4096;
      assertThat(hash(status)).as("%d pages", pages).isEqualTo(first.hash());
    }
    status.inventory.memoryTotal = memory / 10 * 9;
    assertThat(hash(status)).as("a DIMM less").isNotEqualTo(first.hash());
    status.inventory.memoryTotal = memory + 4096;
    status.dropInHash = null;
    assertThat(hash(status)).as("nothing of ours runs").isNotEqualTo(first.hash());
    status.dropInHash = first.hash();
    status.baseline = OwnSettings.written(own, new KubeletFragment());
    status.baseline.evictionHard = Map.of("memory.available", "6%");
    assertThat(hash(status)).as("the owner wants another").isNotEqualTo(first.hash());
  }

  private static String hash(NumaNodeStateStatus status) {
    return switch (NodePlan.of(new KubeletPolicy(), status, BOOT)) {
      case Planned planned -> planned.hash();
      case Refused refused -> refused.message();
    };
  }

  private static void flags(NumaNodeStateStatus status, String... fields) {
    status.inventory.kubelet.managedByFlag = List.of(fields);
  }

  /** A node of kubeadm's kind with a drop-in directory. */
  private static NumaNodeStateStatus status() {
    var status = new NumaNodeStateStatus();
    status.bootId = BOOT;
    status.inventory = TestMachine.zones(2).inventory();
    status.inventory.kubelet = new KubeletFacts();
    status.inventory.kubelet.version = "v1.36.3";
    status.inventory.kubelet.service = "kubelet.service";
    status.inventory.kubelet.configFile = "/var/lib/kubelet/config.yaml";
    status.inventory.kubelet.dropInDirectory = "/etc/kubernetes/kubelet.conf.d";
    status.inventory.kubelet.rootDirectory = "/var/lib/kubelet";
    status.effective = new EffectiveKubelet();
    status.effective.source = Source.Configz;
    status.effective.settings =
        KubeletSettings.of(
            Fragments.config(
                """
                cpuManagerPolicy: none
                memoryManagerPolicy: None
                topologyManagerPolicy: none
                topologyManagerScope: container
                systemReserved: {memory: 200Mi}
                evictionHard: {memory.available: 100Mi, nodefs.available: 10%}
                enforceNodeAllocatable: [pods]
                """));
    status.files = new ConfigFiles();
    status.files.below =
        Fragments.fragment(
            "{systemReserved: {memory: 200Mi}, evictionHard: {memory.available: 100Mi}}");
    status.files.above = new KubeletFragment();
    status.stateFiles = new StateFiles();
    status.stateFiles.cpuPolicy = "none";
    status.stateFiles.memoryPolicy = "None";
    return status;
  }
}
