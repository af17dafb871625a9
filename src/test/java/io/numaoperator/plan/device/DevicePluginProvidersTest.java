package io.numaoperator.plan.device;

import static io.numaoperator.plan.Policies.assertStable;
import static io.numaoperator.plan.Policies.cluster;
import static io.numaoperator.plan.Policies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.device.DevicePluginProvider.NodePool;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class DevicePluginProvidersTest {
  private static final ConfigMapRef HAMIS = new ConfigMapRef("hami-system", "hami-device-plugin");
  private static final ConfigMapRef OURS =
      new ConfigMapRef("hami-system", "numaoperator-hami-config");
  private static final NodePool GPU = new NodePool(hami("gpu", 1, 4), Set.of("gpu-2", "gpu-1"));
  private static final String CHART =
      """
      {"nodeconfig": [{"name": "m5-cloudinfra-online02", "devicememoryscaling": 1.8}]}
      """;

  @Test
  void rendersHamisConfiguration() throws IOException {
    Golden.assertMatches("device-plugin-hami", plan(List.of(GPU), Map.of(), Map.of(HAMIS, CHART)));
  }

  @Test
  void orderOfPoolsDoesNotMatter() {
    assertStable(
        List.of(
            GPU,
            new NodePool(hami("b", 3, 2), Set.of("gpu-3", "gpu-1")),
            new NodePool(hami("a", 2, 8), Set.of("gpu-4", "gpu-3"))),
        pools -> Golden.yaml(objects(plan(pools, Map.of(), Map.of()))));
  }

  @Test
  void aNodeOfTwoPoolsIsTheOlderPolicys() {
    var json =
        json(
            plan(List.of(new NodePool(hami("a", 2, 8), Set.of("gpu-1")), GPU), Map.of(), Map.of()));
    assertThat(json).contains("\"devicesplitcount\" : 4").doesNotContain(": 8");
  }

  @Test
  void ourOwnIsGoneOnWithAndHamisIsOnlyForTheStart() {
    var first = json(plan(List.of(GPU), Map.of(), Map.of(HAMIS, CHART)));
    var second =
        json(plan(List.of(GPU), Map.of(OURS, first), Map.of(HAMIS, "{\"nodeconfig\": []}")));
    assertThat(second).isEqualTo(first);
  }

  @Test
  void withoutPoliciesItStaysWithWhatHamisHeld() {
    var held = json(plan(List.of(GPU), Map.of(), Map.of(HAMIS, CHART)));
    var objects = objects(plan(List.of(), Map.of(OURS, held), Map.of()));
    var configMap = (ConfigMap) objects.getFirst();
    assertThat(configMap.getData().get("config.json"))
        .contains("m5-cloudinfra-online02")
        .doesNotContain("gpu-1");
    assertThat(configMap.getMetadata().getLabels()).containsEntry(Ownership.RETAIN_LABEL, "true");
    assertThat(configMap.getMetadata().getOwnerReferences()).isEmpty();
  }

  @Test
  void poolsMayHaveConfigMapsOfTheirOwn() {
    var other =
        policy(
            "other",
            2,
            spec -> {
              spec.devicePlugin.provider = DevicePluginPolicy.Provider.HAMi;
              spec.devicePlugin.hami = new DevicePluginPolicy.Hami();
              spec.devicePlugin.hami.namespace = "gpu-sharing";
            });
    var objects =
        objects(plan(List.of(GPU, new NodePool(other, Set.of("gpu-9"))), Map.of(), Map.of()));
    assertThat(objects)
        .extracting(object -> object.getMetadata().getNamespace())
        .containsExactly("gpu-sharing", "hami-system");
    assertThat(hami().reads(input(List.of(new NodePool(other, Set.of()), GPU), Map.of(), Map.of())))
        .containsExactly(
            new ConfigMapRef("gpu-sharing", "hami-device-plugin"),
            new ConfigMapRef("gpu-sharing", "hami-scheduler-device"),
            new ConfigMapRef("gpu-sharing", "numaoperator-hami-config"),
            HAMIS,
            new ConfigMapRef("hami-system", "hami-scheduler-device"),
            OURS);
  }

  @Test
  void saysWhatTheHelmOwnerHasToRun() {
    var planned = (Provision.Objects) plan(List.of(GPU), Map.of(), Map.of());
    assertThat(planned.remarks())
        .singleElement()
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HelmOwnerMustReferToConfig");
              assertThat(remark.message())
                  .contains("--namespace hami-system")
                  .contains(
                      "--set devicePlugin.nodeConfiguration.externalConfigName="
                          + "numaoperator-hami-config");
            });
  }

  @Test
  void namesTheNodesThatTakeNoPart() {
    var mig = "{\"nodeconfig\": [{\"name\": \"gpu-2\", \"operatingmode\": \"mig\"}]}";
    var planned = (Provision.Objects) plan(List.of(GPU), Map.of(), Map.of(HAMIS, mig));
    assertThat(planned.remarks())
        .filteredOn(remark -> remark.reason().equals("NotInHamiCoreMode"))
        .singleElement()
        .satisfies(remark -> assertThat(remark.message()).endsWith(": gpu-2"));
  }

  @Test
  void nodesSplitByMigGetNoEntryAndAreNamed() {
    var mig =
        new NodeDevices(
            true,
            Optional.empty(),
            Optional.empty(),
            Optional.of("[{\"id\":\"GPU-1\",\"mode\":\"mig\"}]"),
            List.of());
    var plan = hami().plan(input(List.of(GPU), Map.of("gpu-2", mig)));
    assertThat(json(plan.provision())).contains("gpu-1").doesNotContain("gpu-2");
    assertThat(plan.wishes()).containsEntry("gpu-2", new Wish.Nothing());
    assertThat(((Provision.Objects) plan.provision()).remarks())
        .filteredOn(remark -> remark.reason().equals("NotInHamiCoreMode"))
        .singleElement()
        .satisfies(remark -> assertThat(remark.message()).endsWith(": gpu-2"));
  }

  @Test
  void hamiWantsTheScopeContainer() {
    GPU.policy().getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Pod;
    try {
      var planned = (Provision.Objects) plan(List.of(GPU), Map.of(), Map.of());
      assertThat(planned.remarks())
          .extracting(Provision.Remark::reason)
          .contains("HAMiWantsContainerScope");
    } finally {
      GPU.policy().getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container;
    }
  }

  /** A changed entry is loaded by a new pod, once the plugin mounts our ConfigMap. */
  @Test
  void eachNodeLoadsItsEntry() {
    var plan = hami().plan(input(List.of(GPU), Map.of("gpu-1", running(OURS.name()))));
    assertThat(plan.wishes())
        .containsEntry("gpu-2", new Wish.Unknown())
        .hasEntrySatisfying("gpu-1", wish -> assertThat(((Wish.Load) wish).reachable()).isTrue());
    var other = new NodePool(hami("gpu", 1, 8), Set.of("gpu-1"));
    var changed = hami().plan(input(List.of(other), Map.of("gpu-1", running("theirs"))));
    assertThat(((Wish.Load) changed.wishes().get("gpu-1")).reachable()).isFalse();
    assertThat(((Wish.Load) changed.wishes().get("gpu-1")).hash())
        .isNotEqualTo(((Wish.Load) plan.wishes().get("gpu-1")).hash());
  }

  /** HAMi may be installed after its ConfigMap of ours was made. */
  @Test
  void whatAPluginStillMountsCountsUntilItMountsOurs() {
    var held = Map.of(OURS, "{\"nodeconfig\": []}");
    for (var mounted : List.of(HAMIS, OURS)) {
      var plan =
          hami()
              .plan(
                  new DevicePluginProvider.Input(
                      cluster(34),
                      List.of(GPU),
                      data(held),
                      data(Map.of(HAMIS, CHART)),
                      Map.of("gpu-1", running(mounted.name())),
                      List.of()));
      assertThat(json(plan.provision()).contains("m5-cloudinfra-online02"))
          .isEqualTo(mounted.equals(HAMIS));
    }
  }

  /** As its kubelet does. */
  @Test
  void aNodeThatIsLetGoKeepsItsEntry() {
    var held = json(plan(List.of(GPU), Map.of(), Map.of(HAMIS, CHART)));
    var letGo =
        new NodeDevices(
            false,
            Optional.empty(),
            Optional.of(
                new DeviceMark(
                    DevicePluginPolicy.Provider.HAMi,
                    DeviceMark.State.Loaded,
                    "h",
                    Instant.EPOCH,
                    "")),
            Optional.empty(),
            List.of());
    var plan =
        hami()
            .plan(
                new DevicePluginProvider.Input(
                    cluster(34),
                    List.of(),
                    data(Map.of(OURS, held)),
                    Map.of(),
                    Map.of("gpu-1", letGo),
                    List.of()));
    assertThat(json(plan.provision())).contains("gpu-1").doesNotContain("gpu-2");
    assertThat(plan.unused()).isEmpty();
  }

  @Test
  void withoutPoliciesAndPluginsItIsUnused() {
    var held = json(plan(List.of(GPU), Map.of(), Map.of(HAMIS, CHART)));
    assertThat(hami().plan(input(List.of(), Map.of(OURS, held), Map.of())).unused())
        .containsExactly(OURS);
  }

  private static NodeDevices running(String configMap) {
    return new NodeDevices(
        true,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        List.of(
            new RunningPlugin(
                RunningPlugin.Kind.HAMi,
                "hami-system",
                "hami-device-plugin-1",
                true,
                Instant.EPOCH,
                Set.of(configMap),
                Map.of(),
                "projecthami/hami:v2.10.1",
                true)));
  }

  private static DevicePluginProvider.Input input(
      List<NodePool> pools, Map<String, NodeDevices> nodes) {
    return new DevicePluginProvider.Input(cluster(34), pools, Map.of(), Map.of(), nodes, List.of());
  }

  @Test
  void refusesJsonThatHamiWouldIgnore() {
    assertThat(plan(List.of(GPU), Map.of(), Map.of(HAMIS, "{nodeconfig: []}")))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo("InvalidNodeConfig");
              assertThat(refused.message()).contains("hami-system/hami-device-plugin", "line 1");
            });
  }

  @Test
  void writesOverNobodysConfigMap() {
    assertThat(plan(List.of(GPU), Map.of(), Map.of(OURS, "")))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("ConfigMapNotOurs"));
    var bold = hami("bold", 1, 1);
    bold.getSpec().devicePlugin.hami.configMapName = HAMIS.name();
    assertThat(plan(List.of(new NodePool(bold, Set.of("gpu-1"))), Map.of(), Map.of(HAMIS, CHART)))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("ConfigMapNotOurs"));
  }

  @Test
  void refusesWhatDoesNotFitIntoAConfigMap() {
    var filler = "x".repeat(1 << 20);
    assertThat(plan(List.of(GPU), Map.of(), Map.of(HAMIS, "{\"note\": \"" + filler + "\"}")))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo("NodeConfigTooLarge"));
  }

  /**
   * A policy in mode Observe is told all, and nothing is made for it: least of all is a plugin
   * pointed to a ConfigMap that is not there.
   */
  @Test
  void whatObservesIsToldAndNotMade() {
    var nodes = Map.of("gpu-1", running(HAMIS.name()));
    var all = hami().plan(input(List.of(GPU), nodes));
    var plan = all.making(hami().plan(input(List.of(), nodes)));
    assertThat(objects(plan.provision())).isEmpty();
    assertThat(plan.wishes().get("gpu-1")).isEqualTo(all.wishes().get("gpu-1"));
    assertThat(((Provision.Objects) plan.provision()).remarks().getFirst())
        .satisfies(
            remark -> {
              assertThat(remark.reason()).isEqualTo("HelmOwnerMustReferToConfig");
              assertThat(remark.message())
                  .startsWith("not before mode Enforce, which makes ConfigMap " + OURS)
                  .contains("helm upgrade");
            });
  }

  /** Of two policies with one ConfigMap, one observes: its nodes keep the entries that they had. */
  @Test
  void whatObservesKeepsWhatItHad() {
    var others = new NodePool(hami("others", 2, 2), Set.of("gpu-3"));
    var held = json(plan(List.of(GPU, others), Map.of(), Map.of()));
    var marked =
        new NodeDevices(
            true,
            Optional.empty(),
            Optional.of(
                new DeviceMark(
                    DevicePluginPolicy.Provider.HAMi,
                    DeviceMark.State.Loaded,
                    "h",
                    Instant.EPOCH,
                    "")),
            Optional.empty(),
            List.of());
    var changed = new NodePool(hami("gpu", 1, 7), GPU.nodes());
    var all = input(List.of(changed, others), data(Map.of(OURS, held)), marked);
    var enforced = input(List.of(others), data(Map.of(OURS, held)), marked.leftAlone());
    var plan = hami().plan(all).making(hami().plan(enforced));
    assertThat(json(hami().plan(all).provision())).contains("\"devicesplitcount\" : 7");
    assertThat(json(plan.provision()).lines().sorted())
        .containsExactlyElementsOf(held.lines().sorted().toList());
    assertThat(plan.unused()).isEmpty();
  }

  private static DevicePluginProvider.Input input(
      List<NodePool> pools, Map<ConfigMapRef, Map<String, String>> owned, NodeDevices observed) {
    return new DevicePluginProvider.Input(
        cluster(34),
        pools,
        owned,
        Map.of(),
        Map.of("gpu-1", observed, "gpu-2", observed),
        List.of());
  }

  @Test
  void noneIsNothing() {
    var none = DevicePluginProviders.of(DevicePluginPolicy.Provider.None);
    var pool = new NodePool(policy("a", 1), Set.of("gpu-1"));
    assertThat(none.reads(input(List.of(pool), Map.of(), Map.of()))).isEmpty();
    assertThat(none.plan(input(List.of(pool), Map.of(), Map.of())).provision())
        .isEqualTo(Provision.Objects.none("none"));
  }

  private static NumaPolicy hami(String name, int day, int splitCount) {
    return policy(
        name,
        day,
        spec -> {
          spec.devicePlugin.provider = DevicePluginPolicy.Provider.HAMi;
          spec.devicePlugin.hami = new DevicePluginPolicy.Hami();
          spec.devicePlugin.hami.deviceSplitCount = splitCount;
          spec.kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container;
        });
  }

  private static DevicePluginProvider hami() {
    return DevicePluginProviders.of(DevicePluginPolicy.Provider.HAMi);
  }

  private static Provision plan(
      List<NodePool> pools, Map<ConfigMapRef, String> owned, Map<ConfigMapRef, String> foreign) {
    return hami().plan(input(pools, owned, foreign)).provision();
  }

  private static DevicePluginProvider.Input input(
      List<NodePool> pools, Map<ConfigMapRef, String> owned, Map<ConfigMapRef, String> foreign) {
    return new DevicePluginProvider.Input(
        cluster(34), pools, data(owned), data(foreign), Map.of(), List.of());
  }

  private static Map<ConfigMapRef, Map<String, String>> data(Map<ConfigMapRef, String> config) {
    return config.entrySet().stream()
        .collect(
            Collectors.toMap(Map.Entry::getKey, entry -> Map.of("config.json", entry.getValue())));
  }

  private static List<HasMetadata> objects(Provision provision) {
    assertThat(provision).isInstanceOf(Provision.Objects.class);
    return ((Provision.Objects) provision).objects();
  }

  private static String json(Provision provision) {
    return ((ConfigMap) objects(provision).getFirst()).getData().get("config.json");
  }
}
