package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.DevicePluginPolicy;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.NumaPolicySpec.Mode;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Mode Observe plans, compares and tells; beside states, statuses and the agents that look, it
 * makes nothing, changes nothing and takes nothing away. On a real API server, with one simulated
 * machine and pods that stand for the device plugins.
 */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class ObserveQuarkusLabTest {
  private static final String NODE = "looked-at";

  @Inject @AsAdmin KubernetesClient client;

  private OneGpuMachine machine;

  @BeforeEach
  void up() {
    machine = new OneGpuMachine(client, NODE);
  }

  @AfterEach
  void down() {
    machine.close();
    client.resources(NodeResourceTopology.class).delete();
  }

  /** One look at every provider; of all of them there is in the end what was there before. */
  @Test
  void nothingIsMade() {
    topology();
    create(Mode.Observe, spec -> {});
    awaitReason("KubeletConfigured", "Differs");
    var before = seen();
    for (var plugin : DevicePluginPolicy.Provider.values()) {
      FakePlugins.run(client, plugin);
      edit(spec -> spec.devicePlugin.provider = plugin);
      awaitLookedAt();
      if (plugin == DevicePluginPolicy.Provider.NVIDIA
          || plugin == DevicePluginPolicy.Provider.HAMi) {
        awaitPolicy(
            "DevicesReporting",
            c ->
                c.reason.equals("HelmOwnerMustReferToConfig")
                    && c.message.contains("not before mode Enforce"));
      }
      assertThat(seen()).as("device plugin %s", plugin).isEqualTo(before);
    }
    for (var updater : TopologyUpdaterPolicy.Provider.values()) {
      edit(spec -> spec.topologyUpdater.provider = updater);
      awaitLookedAt();
      assertThat(seen()).as("updater %s", updater).isEqualTo(before);
      assertThat(state().getSpec().topology.publish).isFalse();
    }
    for (var scheduler : SchedulerPolicy.Provider.values()) {
      edit(spec -> scheduler(spec, scheduler));
      awaitLookedAt();
      assertThat(seen()).as("scheduler %s", scheduler).isEqualTo(before);
    }
    assertThat(state().getStatus().plan.changes).isNotEmpty();
  }

  private static void scheduler(NumaPolicySpec spec, SchedulerPolicy.Provider provider) {
    spec.scheduler = new SchedulerPolicy();
    spec.scheduler.provider = provider;
    if (provider != SchedulerPolicy.Provider.None) {
      spec.scheduler.assignNamespaces = SchedulerPolicy.AssignNamespaces.Labelled;
    }
  }

  /** What was made by mode Enforce goes on as it is; also what the policy no longer wants. */
  @Test
  void nothingIsTakenAway() {
    topology();
    FakePlugins.run(client, DevicePluginPolicy.Provider.HAMi, "numaoperator-hami-config");
    create(
        Mode.Enforce,
        spec -> {
          spec.devicePlugin.provider = DevicePluginPolicy.Provider.HAMi;
          spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.NFD;
          scheduler(spec, SchedulerPolicy.Provider.BuiltIn);
        });
    await("its entry is loaded")
        .atMost(Lab.LONG)
        .until(() -> FakePlugins.mark(client, NODE).startsWith("HAMi/Loaded/"));
    await("it is back in service")
        .atMost(Lab.LONG)
        .until(() -> !Boolean.TRUE.equals(node().getSpec().getUnschedulable()));
    await("all of it is there")
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Footprint.of(client)
                    .objects()
                    .keySet()
                    .containsAll(
                        List.of(
                            "ConfigMap hami-system/numaoperator-hami-config",
                            "DaemonSet numa-operator-system/numa-topology-updater",
                            "Deployment numa-operator-system/numa-scheduler",
                            "Secret numa-operator-system/numa-extender-client")));
    edit(spec -> spec.mode = Mode.Observe);
    awaitLookedAt();
    var before = seen();
    edit(
        spec -> {
          spec.devicePlugin.provider = DevicePluginPolicy.Provider.None;
          spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn;
          scheduler(spec, SchedulerPolicy.Provider.None);
          spec.kubelet.topologyManager.policy = KubeletPolicy.TopologyPolicy.Restricted;
        });
    awaitLookedAt();
    awaitReason("KubeletConfigured", "Differs");
    assertThat(seen()).isEqualTo(before);
    edit(spec -> spec.mode = Mode.Enforce);
    await("it is taken back in mode Enforce")
        .atMost(Lab.LONG)
        .until(
            () ->
                FakePlugins.mark(client, NODE).isEmpty()
                    && Footprint.of(client).objects().keySet().stream()
                        .noneMatch(
                            key ->
                                key.contains("numa-topology-updater")
                                    || key.contains("numa-scheduler")
                                    || key.contains("numa-extender")));
  }

  /** Versions of all that is ours but the agents', and what can be written of others. */
  private List<String> seen() {
    var node = node();
    return Stream.concat(
            Footprint.versions(client).stream().filter(key -> !key.contains("/numa-agent ")),
            Stream.of(
                "cordoned " + node.getSpec().getUnschedulable(),
                "labels " + new TreeMap<>(node.getMetadata().getLabels()),
                "device plugin " + FakePlugins.mark(client, NODE),
                "topologies " + client.resources(NodeResourceTopology.class).list().getItems()))
        .toList();
  }

  private Node node() {
    return client.nodes().withName(NODE).get();
  }

  private NumaNodeState state() {
    return client.resources(NumaNodeState.class).withName(NODE).get();
  }

  /** Somebody's, for a node that is none of ours. */
  private void topology() {
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: topology.node.k8s.io/v1alpha2
                kind: NodeResourceTopology
                metadata: {name: somewhere}
                zones: []
                """,
                NodeResourceTopology.class))
        .create();
  }

  private void create(Mode mode, Consumer<NumaPolicySpec> change) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName("looks");
    policy.setSpec(new NumaPolicySpec());
    var spec = policy.getSpec();
    spec.mode = mode;
    spec.nodeSelector = new NodeSelector();
    spec.nodeSelector.matchLabels = Map.of("pool", "looked-at");
    spec.rollout.verification.window = "5s";
    spec.rollout.verification.proofPod = false;
    spec.scheduler.provider = SchedulerPolicy.Provider.None;
    change.accept(spec);
    client.resource(policy).create();
  }

  private void edit(Consumer<NumaPolicySpec> change) {
    await()
        .ignoreExceptionsMatching(e -> e.getMessage().contains("has been modified"))
        .until(
            () ->
                client
                        .resources(NumaPolicy.class)
                        .withName("looks")
                        .edit(
                            policy -> {
                              change.accept(policy.getSpec());
                              return policy;
                            })
                    != null);
  }

  /** The operator has been through with the policy as it is now, and had time for more. */
  private void awaitLookedAt() {
    awaitPolicy("Ready", c -> true);
    Lab.sleep(Duration.ofSeconds(2));
  }

  private void awaitPolicy(String type, Predicate<Condition> as) {
    await(type)
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () -> {
              var policy = client.resources(NumaPolicy.class).withName("looks").get();
              assertThat(policy.getStatus()).isNotNull();
              assertThat(policy.getStatus().observedGeneration)
                  .isEqualTo(policy.getMetadata().getGeneration());
              assertThat(policy.getStatus().conditions)
                  .filteredOn(c -> c.type.equals(type))
                  .singleElement()
                  .satisfies(c -> assertThat(as).as(c.reason + ": " + c.message).accepts(c));
            });
  }

  private void awaitReason(String type, String reason) {
    await(type + " " + reason)
        .atMost(Lab.PATIENCE)
        .until(
            () ->
                Optional.ofNullable(state())
                    .flatMap(s -> Optional.ofNullable(s.getStatus()))
                    .stream()
                    .flatMap(s -> s.conditions.stream())
                    .anyMatch(c -> c.type.equals(type) && c.reason.equals(reason)));
  }
}
