package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.micrometer.core.instrument.Counter;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import io.numaoperator.api.Condition;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.DevicePluginPolicy.Provider;
import io.numaoperator.api.KubeletPolicy.TopologyScope;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.nvidia.ClusterPolicy;
import io.numaoperator.plan.device.NvidiaConfig;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One simulated machine goes from each device plugin to each other one. Its plugins' owners do as
 * they are told: they take the former plugin away, and point the next one to our ConfigMap.
 */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class DevicePluginPairsQuarkusLabTest {
  private static final String NODE = "switched";
  private static final List<Provider> PROVIDERS = List.of(Provider.values());
  private static final Map<Provider, String> CONFIG_MAPS =
      Map.of(
          Provider.NVIDIA, "numaoperator-nvidia-config",
          Provider.GPUOperator, "numaoperator-nvidia-config",
          Provider.HAMi, "numaoperator-hami-config",
          Provider.None, "");

  private static final String DIFFER = "HAMiAccountsDiffer";

  @Inject @AsAdmin KubernetesClient client;
  @Inject PrometheusMeterRegistry meters;

  private OneGpuMachine machine;

  @BeforeEach
  void up() {
    machine = new OneGpuMachine(client, NODE);
    var theirs =
        Serialization.unmarshal(
            """
            apiVersion: nvidia.com/v1
            kind: ClusterPolicy
            metadata: {name: cluster-policy}
            spec:
              operator: {defaultRuntime: containerd}
              driver: {enabled: false}
              toolkit: {}
              devicePlugin: {enabled: true}
              dcgm: {}
              dcgmExporter: {}
              nodeStatusExporter: {}
              daemonsets: {}
              gfd: {}
            """,
            GenericKubernetesResource.class);
    await()
        .ignoreExceptions()
        .until(() -> client.resource(theirs).fieldManager("owner").serverSideApply() != null);
  }

  @AfterEach
  void down() {
    machine.close();
    client.resources(ClusterPolicy.class).delete();
  }

  /**
   * What there is of us.
   *
   * @param ours our objects
   * @param node its label, and what is remembered of its plugin, without the time
   * @param theirs the ClusterPolicy, and who has fields in it
   */
  private record Traces(Footprint ours, String node, String theirs) {}

  /**
   * What there is after a switch is what the provider makes where there was none before, and the
   * node is in service.
   */
  @Test
  void everyPluginGivesWayToEveryOtherWithoutATrace() {
    policy();
    await("the kubelet is changed").atMost(Lab.LONG).until(this::isConfigured);
    var alone = new EnumMap<Provider, Traces>(Provider.class);
    alone.put(Provider.None, settled());
    for (var provider : PROVIDERS) {
      if (provider != Provider.None) {
        change(provider);
        await(provider + " is loaded")
            .atMost(Lab.LONG)
            .until(() -> FakePlugins.mark(client, NODE).startsWith(provider + "/Loaded/"));
        alone.put(provider, settled());
        change(Provider.None);
        awaitTraces("from " + provider + " to None", alone.get(Provider.None));
      }
    }
    assertThat(new HashSet<>(alone.values())).hasSameSizeAs(PROVIDERS);
    assertThat(alone.get(Provider.GPUOperator).theirs()).contains("numaoperator-nvidia-config");
    assertThat(alone.get(Provider.NVIDIA).node()).contains("numaoperator-");
    var tour = EveryPair.tour(PROVIDERS);
    for (int i = 1; i < tour.size(); i++) {
      change(tour.get(i));
      awaitTraces("from " + tour.get(i - 1) + " to " + tour.get(i), alone.get(tour.get(i)));
    }
    System.out.printf("%d switches of device plugin, each pair once%n", tour.size() - 1);
  }

  /**
   * HAMi's picture of a pod, and what its plugin says of its refits. HAMi's plugin here has no
   * refit.
   */
  @Test
  void whatHamiAccountsForIsComparedWithWhatTheKubeletGave() {
    policy();
    await("the kubelet is changed").atMost(Lab.LONG).until(this::isConfigured);
    FakePlugins.run(client, Provider.HAMi);
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: vgpu
                  namespace: default
                  annotations:
                    hami.io/numa-alignment: Strict
                    hami.io/vgpu-devices-allocated: "GPU-a,NVIDIA,20000,0:;"
                spec:
                  nodeName: switched
                  containers: [{name: main, image: numa.test/pause}]
                """,
                Pod.class))
        .create();
    machine.machines().holder(NODE, "default/vgpu", "GPU-a");
    awaitEvent("HAMiStrictOnlyLogs", "strict has default/vgpu only log");
    assertThat(devicesReporting().map(c -> c.reason)).isNotEqualTo(Optional.of(DIFFER));

    machine.machines().holder(NODE, "default/vgpu", "GPU-b");
    await("the node tells")
        .atMost(Lab.PATIENCE)
        .until(this::devicesReporting, c -> c.filter(x -> x.reason.equals(DIFFER)).isPresent());
    awaitEvent(DIFFER, "runs on GPU-b and HAMi accounts for GPU-a");

    for (var result : List.of("NumaRefitSucceed", "NumaRefitFailed")) {
      client.resource(refit(result)).create();
      await(result + " is counted")
          .atMost(Lab.PATIENCE)
          .until(
              () ->
                  meters.find("numaoperator.hami.refits").counters().stream()
                      .filter(counter -> result.equals(counter.getId().getTag("result")))
                      .filter(counter -> NODE.equals(counter.getId().getTag("node")))
                      .mapToDouble(Counter::count)
                      .sum(),
              count -> count == 1);
    }
    machine.machines().holders(NODE);
    client.pods().inNamespace("default").withName("vgpu").delete();
  }

  /** As HAMi's plugin writes it. */
  private static Event refit(String reason) {
    return Serialization.unmarshal(
        """
        apiVersion: v1
        kind: Event
        metadata: {name: NAME, namespace: default}
        reason: REASON
        message: "NUMA refit moved container 0 from [GPU-a] to [GPU-b]"
        type: Normal
        involvedObject: {kind: Pod, namespace: default, name: vgpu}
        """
            .replace("NAME", reason.toLowerCase(Locale.ROOT))
            .replace("REASON", reason),
        Event.class);
  }

  private void awaitEvent(String reason, String message) {
    await(reason)
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Lab.events(client, "vgpu").stream()
                    .anyMatch(
                        event ->
                            reason.equals(event.getReason())
                                && event.getMessage().contains(message)));
  }

  private Optional<Condition> devicesReporting() {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(NODE).get())
        .flatMap(state -> Optional.ofNullable(state.getStatus()))
        .stream()
        .flatMap(status -> status.conditions.stream())
        .filter(c -> c.type.equals("DevicesReporting"))
        .findFirst();
  }

  private void change(Provider provider) {
    edit(
        spec -> {
          spec.devicePlugin = new DevicePluginPolicy();
          spec.devicePlugin.provider = provider;
        });
    FakePlugins.run(client, provider, CONFIG_MAPS.get(provider));
  }

  private void awaitTraces(String as, Traces traces) {
    await(as)
        .atMost(Lab.LONG)
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(
            () -> {
              var now = traces();
              assertThat(Footprint.differences(traces.ours(), now.ours())).as(as).isEmpty();
              assertThat(now.node()).as(as).isEqualTo(traces.node());
              assertThat(now.theirs()).as(as).isEqualTo(traces.theirs());
            });
    await(as + ": in service").atMost(Lab.LONG).until(() -> !isCordoned());
  }

  /** Once it is the same for a while, with the node in service. */
  private Traces settled() {
    return await()
        .atMost(Lab.LONG)
        .until(
            () -> {
              var before = traces();
              Lab.sleep(Duration.ofSeconds(3));
              return !isCordoned() && before.equals(traces())
                  ? Optional.of(before)
                  : Optional.<Traces>empty();
            },
            Optional::isPresent)
        .orElseThrow();
  }

  private Traces traces() {
    var node = client.nodes().withName(NODE).get();
    var policy = client.resources(ClusterPolicy.class).withName("cluster-policy").get();
    var managers = new TreeSet<String>();
    policy.getMetadata().getManagedFields().forEach(entry -> managers.add(entry.getManager()));
    return new Traces(
        Footprint.of(client),
        node.getMetadata().getLabels().get(NvidiaConfig.NODE_LABEL)
            + " "
            + FakePlugins.mark(client, NODE).replaceAll("/[0-9T:-]+Z/", "/"),
        Serialization.asJson(policy.getSpec()).replaceAll("\\s", "") + managers);
  }

  private boolean isCordoned() {
    return Boolean.TRUE.equals(client.nodes().withName(NODE).get().getSpec().getUnschedulable());
  }

  private boolean isConfigured() {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(NODE).get())
        .flatMap(state -> Optional.ofNullable(state.getStatus()))
        .stream()
        .flatMap(status -> status.conditions.stream())
        .anyMatch(c -> c.type.equals("KubeletConfigured") && c.reason.equals("Configured"));
  }

  private void policy() {
    var policy = new NumaPolicy();
    policy.getMetadata().setName(NODE);
    policy.setSpec(new NumaPolicySpec());
    var spec = policy.getSpec();
    spec.mode = NumaPolicySpec.Mode.Enforce;
    spec.nodeSelector = new NodeSelector();
    spec.nodeSelector.matchLabels = Map.of("pool", NODE);
    spec.kubelet.topologyManager.scope = TopologyScope.Container;
    spec.scheduler.provider = SchedulerPolicy.Provider.None;
    spec.rollout.verification.window = "5s";
    spec.rollout.verification.proofPod = false;
    client.resource(policy).create();
  }

  private void edit(Consumer<NumaPolicySpec> change) {
    await()
        .ignoreExceptionsMatching(e -> e.getMessage().contains("has been modified"))
        .until(
            () ->
                client
                        .resources(NumaPolicy.class)
                        .withName(NODE)
                        .edit(
                            policy -> {
                              change.accept(policy.getSpec());
                              return policy;
                            })
                    != null);
  }
}
