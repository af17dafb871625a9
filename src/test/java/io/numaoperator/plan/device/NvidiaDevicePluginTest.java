package io.numaoperator.plan.device;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntryBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.DevicePluginPolicy.DeviceAccess;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletPolicy.StaticOrNone;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.nvidia.ClusterPolicy;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.device.DevicePluginProvider.DevicePlan;
import io.numaoperator.plan.device.DevicePluginProvider.Input;
import io.numaoperator.plan.device.DevicePluginProvider.NodePool;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The NVIDIA plugin by its own chart and by the GPU Operator. */
class NvidiaDevicePluginTest {
  private static final ConfigMapRef OURS =
      new ConfigMapRef("nvidia-device-plugin", "numaoperator-nvidia-config");
  private static final ConfigMapRef THEIRS =
      new ConfigMapRef("nvidia-device-plugin", "plugin-configs");
  private static final String SHARED =
      """
      version: v1
      flags:
        migStrategy: single
      sharing:
        timeSlicing:
          resources:
          - name: nvidia.com/gpu
            replicas: 4
      """;

  /** What the plan is made from; each test changes one thing. */
  private static final class World {
    Provider provider = Provider.NVIDIA;
    Consumer<NumaPolicySpec> change = spec -> {};
    boolean used = true;
    final Map<String, NodeDevices> nodes = new TreeMap<>();
    final Map<ConfigMapRef, Map<String, String>> owned = new HashMap<>();
    final Map<ConfigMapRef, Map<String, String>> foreign = new HashMap<>();
    final List<ClusterPolicy> clusterPolicies = new ArrayList<>();

    World() {
      node("gpu-1", Optional.empty(), Set.of("plugin-configs"), Map.of());
      node("gpu-2", Optional.of("shared"), Set.of("plugin-configs"), Map.of());
      foreign.put(THEIRS, Map.of("plain", "version: v1\n", "shared", SHARED));
    }

    void node(
        String name, Optional<String> label, Set<String> mounts, Map<String, String> environment) {
      var env = new HashMap<>(environment);
      env.putIfAbsent("DEFAULT_CONFIG", "plain");
      nodes.put(name, devices(label, Optional.empty(), plugin(mounts, env)));
    }

    RunningPlugin plugin(Set<String> mounts, Map<String, String> env) {
      return new RunningPlugin(
          provider == Provider.NVIDIA ? RunningPlugin.Kind.NVIDIA : RunningPlugin.Kind.GPUOperator,
          provider == Provider.NVIDIA ? "nvidia-device-plugin" : "gpu-operator",
          "nvdp-abcde",
          true,
          Instant.EPOCH,
          mounts,
          env,
          "nvcr.io/nvidia/k8s-device-plugin:v0.20.0",
          false);
    }

    Input input() {
      var policy =
          policy(
              "gpu",
              1,
              spec -> {
                spec.devicePlugin.provider = provider;
                change.accept(spec);
              });
      return new Input(
          cluster(34),
          used ? List.of(new NodePool(policy, Set.copyOf(nodes.keySet()))) : List.of(),
          owned,
          foreign,
          nodes,
          clusterPolicies);
    }

    DevicePlan plan() {
      return DevicePluginProviders.of(provider).plan(input());
    }

    Map<String, String> data() {
      return ((ConfigMap) objects().objects().getFirst()).getData();
    }

    Provision.Objects objects() {
      return (Provision.Objects) plan().provision();
    }

    List<String> reasons() {
      return objects().remarks().stream().map(Provision.Remark::reason).toList();
    }
  }

  private static NodeDevices devices(
      Optional<String> label, Optional<DeviceMark> mark, RunningPlugin plugin) {
    return new NodeDevices(true, label, mark, Optional.empty(), List.of(plugin));
  }

  @Test
  void rendersNamedConfigurationsBesideTheImportedOnes() throws IOException {
    Golden.assertMatches("device-plugin-nvidia", new World().objects());
  }

  @Test
  void eachNodeGetsItsOwnConfigurationWithDeviceSpecs() {
    var world = new World();
    var plan = world.plan();
    var first = load(plan, "gpu-1");
    var second = load(plan, "gpu-2");
    assertThat(first.label()).isNotEqualTo(second.label());
    assertThat(world.data().get(second.label().orElseThrow()))
        .contains("passDeviceSpecs: true", "replicas: 4", "migStrategy: single");
    assertThat(first.label().orElseThrow()).isEqualTo("numaoperator-" + first.hash());
    assertThat(first.reachable()).isFalse();
  }

  @Test
  void theNameIsTheContents() {
    var world = new World();
    var before = load(world.plan(), "gpu-2");
    world.owned.put(OURS, world.data());
    assertThat(load(world.plan(), "gpu-2").hash()).isEqualTo(before.hash());
    var edited = new HashMap<>(world.data());
    edited.put("shared", SHARED.replace("4", "8"));
    world.foreign.clear();
    world.owned.put(OURS, edited);
    assertThat(load(world.plan(), "gpu-2").hash()).isNotEqualTo(before.hash());
  }

  @Test
  void theOrderOfNodesDoesNotMatter() {
    assertStable(
        List.of("a", "b", "c", "d"),
        names -> {
          var world = new World();
          names.forEach(
              name -> world.node(name, Optional.of("shared"), Set.of("plugin-configs"), Map.of()));
          return world.data();
        });
  }

  /** The plugin may be installed, or its owner may change it, after ours was made. */
  @Test
  void whatAPluginStillMountsCountsUntilItMountsOurs() {
    var world = new World();
    world.owned.put(OURS, Map.of("default", "version: v1\n", "plain", "old"));
    world.foreign.put(THEIRS, Map.of("shared", SHARED, "plain", "version: v1\n"));
    assertThat(world.data())
        .containsEntry("shared", SHARED)
        .containsEntry("plain", "version: v1\n");
    world.nodes.clear();
    world.node("gpu-1", Optional.of("plain"), Set.of(OURS.name()), Map.of());
    world.owned.put(OURS, Map.of("default", "version: v1\n", "plain", SHARED));
    assertThat(world.data()).containsEntry("plain", SHARED).doesNotContainKey("shared");
  }

  /** The plugin's config-manager ends when it does not find what the label names. */
  @Test
  void whatANodesLabelNamesIsKept() {
    var world = new World();
    var former = "numaoperator-0123456789abcdef";
    world.owned.put(
        OURS, Map.of("plain", "version: v1\n", "shared", SHARED, former, "version: v1\n"));
    assertThat(world.data()).doesNotContainKey(former);
    world.nodes.put(
        "other",
        new NodeDevices(false, Optional.of(former), Optional.empty(), Optional.empty(), List.of()));
    assertThat(world.data()).containsKey(former);
  }

  /** Its fallback "single" would find several; "named" comes first and finds this one. */
  @Test
  void theOnlyConfigurationOfBeforeStaysTheOneOfNodesWithoutLabel() {
    var world = new World();
    world.foreign.put(THEIRS, Map.of("plain", SHARED));
    assertThat(world.data()).containsEntry("default", SHARED);
    assertThat(new World().data()).containsEntry("default", "version: v1\n");
  }

  @Test
  void tellsTheHelmOwnerExactlyWhatToRun() {
    assertThat(new World().objects().remarks())
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HelmOwnerMustReferToConfig");
              assertThat(remark.message())
                  .contains(
                      "--namespace nvidia-device-plugin",
                      "--set config.name=numaoperator-nvidia-config",
                      "--set config.map=null",
                      "--set securityContext.privileged=true");
            });
  }

  @Test
  void tellsWhenThePluginMayNotPassDeviceSpecs() {
    var world = new World();
    world.owned.put(OURS, Map.of("plain", "version: v1\n"));
    world.nodes.clear();
    world.node("gpu-1", Optional.empty(), Set.of(OURS.name()), Map.of());
    assertThat(load(world.plan(), "gpu-1").reachable()).isTrue();
    assertThat(world.reasons()).containsExactly("DeviceSpecsNeedPrivileges");
  }

  @ParameterizedTest
  @CsvSource({
    "PASS_DEVICE_SPECS,true",
    "DEVICE_LIST_STRATEGY,cdi-annotations",
  })
  void whatTheEnvironmentHasIsEnough(String variable, String value) {
    var world = new World();
    world.nodes.clear();
    world.node("gpu-1", Optional.empty(), Set.of(), Map.of(variable, value));
    assertThat(world.plan().wishes()).containsEntry("gpu-1", new Wish.Nothing());
    assertThat(world.reasons()).isEmpty();
  }

  @Test
  void anEnvironmentThatOverridesIsTold() {
    var world = new World();
    world.nodes.clear();
    world.node("gpu-1", Optional.empty(), Set.of(), Map.of("PASS_DEVICE_SPECS", "false"));
    assertThat(world.plan().wishes()).containsEntry("gpu-1", new Wish.Nothing());
    assertThat(world.reasons()).containsExactly("DeviceAccessOverridden");
  }

  @Test
  void withoutStaticCpusNothingIsTakenAway() {
    var world = new World();
    world.change = spec -> spec.kubelet.cpuManager.policy = StaticOrNone.None;
    assertThat(world.plan().wishes().values()).containsOnly(new Wish.Nothing());
  }

  @Test
  void cdiInsteadOfDeviceSpecs() {
    var world = new World();
    world.change =
        spec -> {
          spec.devicePlugin.nvidia = new DevicePluginPolicy.Nvidia();
          spec.devicePlugin.nvidia.deviceAccess = DeviceAccess.CDI;
        };
    var label = load(world.plan(), "gpu-1").label().orElseThrow();
    assertThat(world.data().get(label)).contains("cdi-cri").doesNotContain("passDeviceSpecs");
  }

  @Test
  void aLabelThatNamesNothingAndAConfigurationThatIsNoneAreTold() {
    var world = new World();
    world.node("gpu-2", Optional.of("elsewhere"), Set.of("plugin-configs"), Map.of());
    world.foreign.put(THEIRS, Map.of("plain", "{version: [", "shared", SHARED));
    assertThat(world.plan().wishes().values()).containsOnly(new Wish.Unknown());
    assertThat(world.reasons()).containsExactly("InvalidDeviceConfig", "DeviceConfigUnknown");
  }

  @Test
  void aNodeWithoutThePluginIsLeftAsItIs() {
    var world = new World();
    world.nodes.replaceAll((name, node) -> NodeDevices.UNKNOWN);
    assertThat(world.plan().wishes().values()).containsOnly(new Wish.Unknown());
  }

  @Test
  void theLabelOfBeforeIsWhatOursIsMadeFrom() {
    var world = new World();
    var before = load(world.plan(), "gpu-2");
    world.owned.put(OURS, world.data());
    world.nodes.put(
        "gpu-2",
        devices(
            before.label(),
            Optional.of(
                new DeviceMark(
                    Provider.NVIDIA,
                    DeviceMark.State.Loaded,
                    before.hash(),
                    Instant.EPOCH,
                    "shared")),
            world.plugin(Set.of(OURS.name()), Map.of())));
    assertThat(load(world.plan(), "gpu-2").hash()).isEqualTo(before.hash());
  }

  @Test
  void aConfigMapOfOthersIsNeverWritten() {
    var world = new World();
    world.foreign.put(OURS, Map.of());
    assertThat(world.plan().provision())
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("ConfigMapNotOurs"));
  }

  /** A plugin that mounts it could not start without. */
  @Test
  void withoutPoliciesItGoesOnceNoPluginNeedsIt() {
    var world = new World();
    world.used = false;
    world.owned.put(OURS, Map.of("default", "version: v1\n"));
    assertThat(world.plan().unused()).containsExactly(OURS);
    world.node("gpu-1", Optional.empty(), Set.of(OURS.name()), Map.of());
    assertThat(world.plan().unused()).isEmpty();
    assertThat(world.data()).containsKey("default");
  }

  // ---- the GPU Operator

  private static World gpuOperator(String policy) {
    var world = new World();
    world.provider = Provider.GPUOperator;
    world.nodes.clear();
    var plugin = world.plugin(Set.of("nvidia-device-plugin-entrypoint"), Map.of());
    world.nodes.put("gpu-1", devices(Optional.empty(), Optional.empty(), plugin));
    world.clusterPolicies.add(Serialization.unmarshal(policy, ClusterPolicy.class));
    return world;
  }

  private static final String BARE =
      """
      apiVersion: nvidia.com/v1
      kind: ClusterPolicy
      metadata: {name: cluster-policy, uid: u1}
      spec: {devicePlugin: {enabled: true}, driver: {enabled: true}}
      """;

  @Test
  void setsTheNameOfTheConfigMapAndNothingElse() throws IOException {
    var world = gpuOperator(BARE);
    var applied = world.plan().clusterPolicy().orElseThrow();
    Golden.assertMatches(
        "device-plugin-gpuoperator-clusterpolicy",
        new Provision.Objects("gpuoperator", List.of(applied), List.of()));
    assertThat(world.reasons()).isEmpty();
  }

  @Test
  void observesWithoutTouchingTheClusterPolicy() {
    var world = gpuOperator(BARE);
    world.change = spec -> spec.mode = Mode.Observe;
    assertThat(world.plan().clusterPolicy()).isEmpty();
  }

  @Test
  void leavesHelmsClusterPolicyAlone() {
    var world =
        gpuOperator(
            BARE.replace("uid: u1", "uid: u1, labels: {app.kubernetes.io/managed-by: Helm}"));
    assertThat(world.plan().clusterPolicy()).isEmpty();
    assertThat(world.objects().remarks())
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("ClusterPolicyIsHelms");
              assertThat(remark.message())
                  .contains("--set devicePlugin.config.name=numaoperator-nvidia-config");
            });
  }

  @Test
  void leavesAnotherNameAloneAndImportsWhatItHas() {
    var world = gpuOperator(BARE.replace("enabled: true}, d", "config: {name: mine}}, d"));
    world.foreign.put(new ConfigMapRef("gpu-operator", "mine"), Map.of("plain", SHARED));
    var read = DevicePluginProviders.of(world.provider).reads(world.input());
    assertThat(read).contains(new ConfigMapRef("gpu-operator", "mine"));
    assertThat(world.plan().clusterPolicy()).isEmpty();
    assertThat(world.data()).containsEntry("plain", SHARED);
    assertThat(world.objects().remarks())
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("ClusterPolicyHasOtherConfig");
              assertThat(remark.message()).contains("kubectl patch clusterpolicy cluster-policy");
            });
  }

  @Test
  void aMissingClusterPolicyIsTold() {
    var world = gpuOperator(BARE.replace("cluster-policy", "other"));
    assertThat(world.reasons()).containsExactly("NoClusterPolicy");
  }

  /** Only what we applied, and not before the last node loads from elsewhere. */
  @Test
  void givesTheFieldUpWithTheLastPolicy() {
    var world = gpuOperator(BARE);
    world.used = false;
    assertThat(world.plan().clusterPolicy()).isEmpty();
    var policy = world.clusterPolicies.getFirst();
    policy
        .getMetadata()
        .setManagedFields(
            List.of(
                new ManagedFieldsEntryBuilder()
                    .withManager("numa-operator")
                    .withOperation("Apply")
                    .build()));
    assertThat(world.plan().clusterPolicy())
        .hasValueSatisfying(applied -> assertThat(applied.getSpec()).isNull());
    world.nodes.put(
        "gpu-1",
        devices(
            Optional.empty(),
            Optional.of(
                new DeviceMark(
                    Provider.GPUOperator, DeviceMark.State.Loaded, "h", Instant.EPOCH, "")),
            world.plugin(Set.of(), Map.of())));
    assertThat(world.plan().clusterPolicy()).isEmpty();
  }

  @Test
  void marksAreReadAsTheyWereWritten() {
    var mark =
        new DeviceMark(
            Provider.HAMi,
            DeviceMark.State.Failed,
            "abc",
            Instant.parse("2026-01-01T00:00:00Z"),
            "");
    assertThat(DeviceMark.parse(mark.format())).contains(mark);
    for (var spoiled :
        List.of("", "HAMi", "HAMi/Loaded/h/yesterday/", "Other/Loaded/h/2026-01-01T00:00:00Z/")) {
      assertThat(DeviceMark.parse(spoiled)).isEmpty();
    }
  }

  private static Wish.Load load(DevicePlan plan, String node) {
    assertThat(plan.wishes().get(node)).isInstanceOf(Wish.Load.class);
    return (Wish.Load) plan.wishes().get(node);
  }
}
