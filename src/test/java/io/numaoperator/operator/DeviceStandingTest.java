package io.numaoperator.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.plan.device.ConfigMapRef;
import io.numaoperator.plan.device.DeviceMark;
import io.numaoperator.plan.device.DeviceMark.State;
import io.numaoperator.plan.device.NvidiaConfig;
import io.numaoperator.plan.device.RunningPlugin;
import io.numaoperator.plan.device.RunningPlugin.Kind;
import io.numaoperator.plan.device.Wish;
import io.numaoperator.rollout.Devices;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a node's device plugin has to do, from the Node, the plan and the plugin's pod. */
class DeviceStandingTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final ConfigMapRef OURS = new ConfigMapRef("ns", "ours");
  private static final String LABEL = "numaoperator-h";

  private final NumaPolicy policy = new NumaPolicy();
  private Optional<Wish> wish = Optional.of(new Wish.Load("h", Optional.of(LABEL), OURS, true));
  private Optional<String> label = Optional.empty();
  private Optional<DeviceMark> mark = Optional.empty();
  private RunningPlugin plugin = plugin(Kind.NVIDIA, true, NOW);
  private String gpus = "4";
  private boolean planned = true;
  private Set<Provider> refused = Set.of();

  DeviceStandingTest() {
    policy.getMetadata().setName("p");
    policy.setSpec(new NumaPolicySpec());
    provider(Provider.NVIDIA);
  }

  private void provider(Provider provider) {
    policy.getSpec().devicePlugin.provider = provider;
  }

  private static RunningPlugin plugin(Kind kind, boolean ready, Instant created) {
    return new RunningPlugin(
        kind, "ns", "plugin", ready, created, Set.of("ours"), Map.of(), "image", true);
  }

  private void mark(Provider provider, State state, String hash, String was) {
    mark = Optional.of(new DeviceMark(provider, state, hash, NOW, was));
  }

  private DeviceStanding standing() {
    var view =
        new DeviceView(
            planned,
            wish.map(w -> Map.of("n", w)).orElse(Map.of()),
            refused,
            Map.of(OURS, NOW.plusSeconds(90)),
            name -> List.of(plugin),
            node -> List.of());
    return DeviceStanding.of(policy, node(), view);
  }

  private Node node() {
    var builder =
        new NodeBuilder()
            .withNewMetadata()
            .withName("n")
            .withLabels(label.map(l -> Map.of(NvidiaConfig.NODE_LABEL, l)).orElse(Map.of()))
            .withAnnotations(
                mark.map(m -> Map.of(Names.DEVICE_PLUGIN_ANNOTATION, m.format())).orElse(Map.of()))
            .endMetadata();
    return builder
        .withNewStatus()
        .withAllocatable(Map.of("nvidia.com/gpu", new Quantity(gpus)))
        .endStatus()
        .build();
  }

  private Devices devices(int secondsLater) {
    return standing().devices(NOW.plusSeconds(secondsLater));
  }

  private Devices devices() {
    return devices(0);
  }

  private void assertChange(String hash) {
    assertThat(devices()).isInstanceOf(Devices.Change.class);
    assertThat(((Devices.Change) devices()).hash()).isEqualTo(hash);
  }

  @Test
  void anotherLabelHasToBeLoadedWhenItIsSurelyThere() {
    assertThat(devices()).isEqualTo(new Devices.Change("h", NOW.plusSeconds(90)));
    label = Optional.of(LABEL);
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
  }

  /** Flipped before the plugin mounts our ConfigMap, its config-manager would end. */
  @Test
  void nothingIsDoneBeforeThePluginMountsOurConfigMap() {
    wish = Optional.of(new Wish.Load("h", Optional.of(LABEL), OURS, false));
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
  }

  @Test
  void nothingIsDoneWithoutAPlan() {
    planned = false;
    mark(Provider.NVIDIA, State.Loaded, "h", "");
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
    planned = true;
    wish = Optional.empty();
    refused = Set.of(Provider.NVIDIA);
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
    refused = Set.of();
    assertChange(DeviceMark.NOTHING);
  }

  @Test
  void whatIsNotWantedAnyMoreIsTakenBack() {
    wish = Optional.empty();
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
    label = Optional.of("somebodys-own");
    assertThat(devices()).isInstanceOf(Devices.AsWanted.class);
    label = Optional.of(LABEL);
    assertChange(DeviceMark.NOTHING);
    label = Optional.empty();
    mark(Provider.HAMi, State.Loaded, "h", "");
    assertChange(DeviceMark.NOTHING);
  }

  @Test
  void theFormerProvidersGoesFirst() {
    mark(Provider.HAMi, State.Loaded, "e", "");
    assertChange(DeviceMark.NOTHING);
    assertThat(standing().begin(DeviceMark.NOTHING, NOW).provider()).isEqualTo(Provider.HAMi);
    mark = Optional.empty();
    assertChange("h");
  }

  @Test
  void aLabelThatSomebodyTookOffIsPutBack() {
    mark(Provider.NVIDIA, State.Loaded, "h", "");
    assertChange("h");
  }

  @Test
  void theLabelOfBeforeIsGivenBack() {
    label = Optional.of("theirs");
    var begun = standing().begin("h", NOW);
    assertThat(begun.was()).isEqualTo("theirs");
    assertThat(standing().label(begun)).contains(LABEL);
    label = Optional.of(LABEL);
    mark = Optional.of(begun.as(State.Loaded));
    wish = Optional.empty();
    var undone = standing().begin(DeviceMark.NOTHING, NOW);
    assertThat(standing().label(undone)).contains("theirs");
  }

  @Test
  void devicesAreBackWhenTheyWereThereForTheWindow() {
    mark(Provider.NVIDIA, State.Loading, "h", "");
    policy.getSpec().rollout.verification.window = "30s";
    assertThat(devices(29)).isEqualTo(new Devices.Loading("h", false, NOW.plusSeconds(30)));
    assertThat(devices(30)).isEqualTo(new Devices.Loading("h", true, NOW.plusSeconds(30)));
    gpus = "0";
    assertThat(devices(30)).isEqualTo(new Devices.Loading("h", false, NOW.plusSeconds(30)));
    gpus = "4";
    plugin = plugin(Kind.NVIDIA, false, NOW);
    assertThat(devices(30)).isEqualTo(new Devices.Loading("h", false, NOW.plusSeconds(30)));
  }

  /** The plugin that runs may be the one of before, which is about to end. */
  @Test
  void hamisPluginIsANewOne() {
    provider(Provider.HAMi);
    mark(Provider.HAMi, State.Loading, "h", "");
    plugin = plugin(Kind.HAMi, true, NOW.minusSeconds(1));
    assertThat(((Devices.Loading) devices(600)).back()).isFalse();
    plugin = plugin(Kind.HAMi, true, NOW);
    assertThat(((Devices.Loading) devices(600)).back()).isTrue();
  }

  @Test
  void whatFailedIsTriedAgainWhenOthersAreWanted() {
    mark(Provider.NVIDIA, State.Failed, "h", "");
    assertThat(devices()).isEqualTo(new Devices.Failed("h"));
    wish = Optional.of(new Wish.Load("i", Optional.of("numaoperator-i"), OURS, true));
    assertChange("i");
    wish = Optional.empty();
    assertChange(DeviceMark.NOTHING);
    mark(Provider.NVIDIA, State.Failed, DeviceMark.NOTHING, "");
    assertThat(devices()).isEqualTo(new Devices.Failed(DeviceMark.NOTHING));
  }
}
