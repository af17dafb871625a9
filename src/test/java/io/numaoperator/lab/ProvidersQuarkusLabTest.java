package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicyBinding;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.KaiQueue;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Providers of updater and scheduler, switched on a real API server with the published kinds of KAI
 * and NodeResourceTopology. No image can be pulled here and no node runs: what is looked at is the
 * objects, and nothing stands for the programs.
 */
@Tag("lab")
@QuarkusTest
@QuarkusTestResource(ControlPlane.class)
class ProvidersQuarkusLabTest {
  private static final String NAMESPACE = "numa-operator-system";

  private static final List<SchedulerPolicy.Provider> SCHEDULERS =
      List.of(
          SchedulerPolicy.Provider.None,
          SchedulerPolicy.Provider.BuiltIn,
          SchedulerPolicy.Provider.NodeResourceTopologyMatch,
          SchedulerPolicy.Provider.KAI,
          SchedulerPolicy.Provider.External);

  @Inject @AsAdmin KubernetesClient client;

  @BeforeEach
  void kinds() {
    client.resources(NumaPolicy.class).delete();
    ControlPlane.kaisKinds(client);
  }

  @AfterEach
  void clean() {
    client.resources(NumaPolicy.class).delete();
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> client.resources(NumaPolicy.class).list().getItems(), List::isEmpty);
    client.resources(SchedulingShard.class).delete();
    client.resources(KaiConfig.class).delete();
    client.resources(NodeResourceTopology.class).delete();
  }

  /**
   * What there is after a switch is what the provider makes where there was none before: object by
   * object, and field by field in KAI's that others made.
   */
  @Test
  void everySchedulerGivesWayToEveryOtherWithoutATrace() {
    topology("somewhere", "{}");
    theirs(
        """
        apiVersion: kai.scheduler/v1
        kind: Config
        metadata: {name: kai-config}
        spec: {namespace: kai-scheduler, numaPlacementExporter: {pollInterval: 2s}}
        """);
    theirs(
        """
        apiVersion: kai.scheduler/v1
        kind: SchedulingShard
        metadata: {name: default}
        spec: {placementStrategy: {gpu: binpack}, plugins: {gpupack: {enabled: true}}}
        """);
    var untouched = kais();
    policy(spec -> scheduler(spec, SchedulerPolicy.Provider.None));
    await().atMost(Lab.PATIENCE).until(() -> !Footprint.of(client).objects().isEmpty());
    var settled = settled();
    var alone = new EnumMap<SchedulerPolicy.Provider, Traces>(SchedulerPolicy.Provider.class);
    alone.put(SchedulerPolicy.Provider.None, new Traces(settled, untouched));
    for (var provider : SCHEDULERS) {
      if (provider != SchedulerPolicy.Provider.None) {
        change(spec -> scheduler(spec, provider));
        var kais = provider == SchedulerPolicy.Provider.KAI;
        await(provider + " is set up")
            .atMost(Lab.PATIENCE)
            .until(() -> !Footprint.of(client).equals(settled) && kais != kais().equals(untouched));
        alone.put(provider, new Traces(settled(), kais()));
        change(spec -> scheduler(spec, SchedulerPolicy.Provider.None));
        awaitTraces("from " + provider + " to None", alone.get(SchedulerPolicy.Provider.None));
      }
    }
    assertThat(new HashSet<>(alone.values())).hasSameSizeAs(SCHEDULERS);
    assertThat(alone.get(SchedulerPolicy.Provider.KAI).kais())
        .contains("\"gpupack\"", "\"binpack\"", "\"pollInterval\":\"2s\"", "\"numa\"");
    var tour = EveryPair.tour(SCHEDULERS);
    for (int i = 1; i < tour.size(); i++) {
      var provider = tour.get(i);
      change(spec -> scheduler(spec, provider));
      awaitTraces("from " + tour.get(i - 1) + " to " + provider, alone.get(provider));
    }
    System.out.printf("%d switches of scheduler, each pair once%n", tour.size() - 1);
  }

  /** What is ours, and what we have set inside objects of others. */
  private record Traces(Footprint ours, String kais) {}

  private void awaitTraces(String as, Traces traces) {
    await(as)
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(Footprint.differences(traces.ours(), Footprint.of(client)))
                  .as(as)
                  .isEmpty();
              assertThat(kais()).as(as).isEqualTo(traces.kais());
            });
  }

  /** Once the operator is through with the policy as it is now, and it is the same for a while. */
  private Footprint settled() {
    await()
        .atMost(Lab.PATIENCE)
        .until(
            () -> client.resources(NumaPolicy.class).withName("providers").get(),
            ProvidersQuarkusLabTest::isDone);
    return await()
        .atMost(Lab.PATIENCE)
        .until(
            () -> {
              var before = Footprint.of(client);
              Lab.sleep(Duration.ofSeconds(2));
              return before.equals(Footprint.of(client))
                  ? Optional.of(before)
                  : Optional.<Footprint>empty();
            },
            Optional::isPresent)
        .orElseThrow();
  }

  private static boolean isDone(NumaPolicy policy) {
    return policy.getStatus() != null
        && policy.getMetadata().getGeneration().equals(policy.getStatus().observedGeneration);
  }

  /** Specs of KAI's objects, and who has fields in them. */
  private String kais() {
    return String.join(
        "\n",
        spec("configs", "kai-config"),
        new TreeSet<>(managers("configs", "kai-config")).toString(),
        spec("schedulingshards", "default"),
        new TreeSet<>(managers("schedulingshards", "default")).toString());
  }

  private static void scheduler(NumaPolicySpec spec, SchedulerPolicy.Provider provider) {
    var name = spec.scheduler.schedulerName;
    spec.scheduler = new SchedulerPolicy();
    spec.scheduler.schedulerName = name;
    spec.scheduler.provider = provider;
    spec.scheduler.replicas = 2;
    spec.scheduler.assignNamespaces =
        provider == SchedulerPolicy.Provider.None
            ? SchedulerPolicy.AssignNamespaces.Off
            : SchedulerPolicy.AssignNamespaces.Labelled;
    if (provider == SchedulerPolicy.Provider.NodeResourceTopologyMatch) {
      spec.scheduler.nodeResourceTopologyMatch = new SchedulerPolicy.NodeResourceTopologyMatch();
      spec.scheduler.nodeResourceTopologyMatch.image = "registry.example/kube-scheduler:none";
    }
  }

  @Test
  void everyUpdaterGivesWayToEveryOtherWithoutATrace() {
    var alone =
        new EnumMap<TopologyUpdaterPolicy.Provider, Footprint>(
            TopologyUpdaterPolicy.Provider.class);
    for (var provider : TopologyUpdaterPolicy.Provider.values()) {
      policy(
          spec -> {
            scheduler(spec, SchedulerPolicy.Provider.None);
            spec.topologyUpdater.provider = provider;
          });
      await().atMost(Lab.PATIENCE).until(() -> !Footprint.of(client).objects().isEmpty());
      alone.put(provider, settled());
      client.resources(NumaPolicy.class).delete();
      await("the garbage collector took all of it")
          .atMost(Lab.PATIENCE)
          .until(() -> Footprint.of(client).objects().isEmpty());
    }
    // NFD has a DaemonSet; to publish, the agent needs one permission more than to compare
    assertThat(new HashSet<>(alone.values())).hasSize(3);
    var tour = EveryPair.tour(List.of(TopologyUpdaterPolicy.Provider.values()));
    policy(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.None);
          spec.topologyUpdater.provider = tour.getFirst();
        });
    for (var provider : tour) {
      change(spec -> spec.topologyUpdater.provider = provider);
      await()
          .atMost(Lab.PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(Footprint.differences(alone.get(provider), Footprint.of(client)))
                      .as("after a switch to %s", provider)
                      .isEmpty());
    }
    System.out.printf("%d switches of updater, each pair once%n", tour.size() - 1);
  }

  /** Its Namespace would else take them away with it, though the agents publish them by then. */
  @Test
  void whatNfdPublishedIsTheAgentsWhenTheyPublish() {
    node("kept");
    var uid = client.namespaces().withName(NAMESPACE).get().getMetadata().getUid();
    topology(
        "kept", "{apiVersion: v1, kind: Namespace, name: %s, uid: %s}".formatted(NAMESPACE, uid));
    policy(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.None);
          spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.NFD;
        });
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> Footprint.of(client).objects().keySet().toString().contains("DaemonSet"));
    var topology = client.resources(NodeResourceTopology.class).withName("kept");
    assertThat(topology.get().getMetadata().getOwnerReferences()).hasSize(1);
    change(spec -> spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.BuiltIn);
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> topology.get().getMetadata().getOwnerReferences().isEmpty());
    client.nodes().withName("kept").delete();
  }

  private void node(String name) {
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build())
        .create();
  }

  /** Where KAI's owner has made none. */
  @Test
  void whatIsMadeForKaiGoesWithIt() {
    policy(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.KAI);
          spec.scheduler.kai = new SchedulerPolicy.Kai();
          spec.scheduler.kai.defaultQueues = true;
        });
    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(ofKai())
                    .containsExactlyInAnyOrder("kai-config", "default", "numa-parent", "numa"));
    change(spec -> scheduler(spec, SchedulerPolicy.Provider.None));
    await().atMost(Lab.PATIENCE).untilAsserted(() -> assertThat(ofKai()).isEmpty());
  }

  private Set<String> ofKai() {
    var names = new TreeSet<String>();
    for (var kind : List.of(KaiConfig.class, SchedulingShard.class, KaiQueue.class)) {
      client
          .resources(kind)
          .withLabel("numaoperator.io/provider", "kai")
          .list()
          .getItems()
          .forEach(object -> names.add(((HasMetadata) object).getMetadata().getName()));
    }
    return names;
  }

  @Test
  void theAssignmentOfNamespacesGoesWithItsSetting() {
    topology("somewhere", "{}");
    policy(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.BuiltIn);
          spec.scheduler.replicas = 2;
          spec.scheduler.assignNamespaces = SchedulerPolicy.AssignNamespaces.Labelled;
        });
    await().atMost(Lab.PATIENCE).untilAsserted(() -> assertThat(assignments()).hasSize(2));
    await().atMost(Lab.PATIENCE).until(() -> budgets() == 1);
    change(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.BuiltIn);
          spec.scheduler.replicas = 1;
          spec.scheduler.assignNamespaces = SchedulerPolicy.AssignNamespaces.Off;
        });
    await().atMost(Lab.PATIENCE).untilAsserted(() -> assertThat(assignments()).isEmpty());
    await().atMost(Lab.PATIENCE).until(() -> budgets() == 0);
  }

  private List<HasMetadata> assignments() {
    var found = new ArrayList<HasMetadata>();
    found.addAll(client.resources(MutatingAdmissionPolicy.class).list().getItems());
    found.addAll(client.resources(MutatingAdmissionPolicyBinding.class).list().getItems());
    return found;
  }

  private int budgets() {
    return client
        .policy()
        .v1()
        .podDisruptionBudget()
        .inNamespace(NAMESPACE)
        .list()
        .getItems()
        .size();
  }

  /** Helm sets it back at its next upgrade. */
  @Test
  void anObjectOfHelmIsNeverWritten() {
    theirs(
        """
        apiVersion: kai.scheduler/v1
        kind: SchedulingShard
        metadata: {name: default, labels: {app.kubernetes.io/managed-by: Helm}}
        spec: {placementStrategy: {gpu: binpack}}
        """);
    var before = version("default");
    policy(spec -> scheduler(spec, SchedulerPolicy.Provider.KAI));
    await().atMost(Lab.PATIENCE).until(() -> message("KaiIsHelms").contains("helm upgrade"));
    assertThat(version("default")).isEqualTo(before);
  }

  @Test
  void aFieldThatItsOwnerSetsOtherwiseIsLeftToHim() {
    theirs(
        """
        apiVersion: kai.scheduler/v1
        kind: SchedulingShard
        metadata: {name: default}
        spec: {plugins: {numa: {enabled: false}}}
        """);
    var before = version("default");
    policy(spec -> scheduler(spec, SchedulerPolicy.Provider.KAI));
    await().atMost(Lab.PATIENCE).until(() -> message("FieldConflict").contains("owner"));
    assertThat(version("default")).isEqualTo(before);
  }

  /** NFD's objects belong to its Namespace, so that no garbage collector takes them. */
  @Test
  void whatOurUpdaterPublishedOfANodeThatIsGoneGoes() {
    var uid = client.namespaces().withName(NAMESPACE).get().getMetadata().getUid();
    topology(
        "gone", "{apiVersion: v1, kind: Namespace, name: %s, uid: %s}".formatted(NAMESPACE, uid));
    topology("gone-too", "{}");
    policy(
        spec -> {
          scheduler(spec, SchedulerPolicy.Provider.None);
          spec.topologyUpdater.provider = TopologyUpdaterPolicy.Provider.NFD;
        });
    await()
        .atMost(Lab.PATIENCE)
        .until(() -> client.resources(NodeResourceTopology.class).withName("gone").get() == null);
    assertThat(client.resources(NodeResourceTopology.class).withName("gone-too").get()).isNotNull();
  }

  private void topology(String name, String owner) {
    var yaml =
        """
        apiVersion: topology.node.k8s.io/v1alpha2
        kind: NodeResourceTopology
        metadata: {name: %s, ownerReferences: %s}
        zones: []
        """
            .formatted(name, owner.equals("{}") ? "[]" : "[" + owner + "]");
    client.resource(Serialization.unmarshal(yaml, NodeResourceTopology.class)).create();
  }

  private void theirs(String yaml) {
    var object =
        Serialization.unmarshal(
            yaml, io.fabric8.kubernetes.api.model.GenericKubernetesResource.class);
    // a kind that was just installed is found a moment later
    await()
        .ignoreExceptions()
        .until(() -> client.resource(object).fieldManager("owner").serverSideApply() != null);
  }

  private void policy(Consumer<NumaPolicySpec> change) {
    var policy = new NumaPolicy();
    policy.getMetadata().setName("providers");
    policy.setSpec(new NumaPolicySpec());
    policy.getSpec().mode = NumaPolicySpec.Mode.Enforce;
    policy.getSpec().nodeSelector = new NodeSelector();
    policy.getSpec().nodeSelector.matchLabels = Map.of("no-such", "label");
    change.accept(policy.getSpec());
    client.resource(policy).create();
  }

  private void change(Consumer<NumaPolicySpec> change) {
    // the operator writes the same object
    await()
        .ignoreExceptionsMatching(
            e ->
                e instanceof KubernetesClientException refused
                    && refused.getCode() == HttpURLConnection.HTTP_CONFLICT)
        .until(
            () ->
                client
                        .resources(NumaPolicy.class)
                        .withName("providers")
                        .edit(
                            policy -> {
                              change.accept(policy.getSpec());
                              return policy;
                            })
                    != null);
  }

  private String message(String reason) {
    var policy = client.resources(NumaPolicy.class).withName("providers").get();
    return policy.getStatus() == null
        ? ""
        : policy.getStatus().conditions.stream()
            .filter(c -> c.type.equals("SchedulerReady") && c.reason.equals(reason))
            .map(c -> c.message)
            .findFirst()
            .orElse("");
  }

  private String version(String shard) {
    return client
        .resources(SchedulingShard.class)
        .withName(shard)
        .get()
        .getMetadata()
        .getResourceVersion();
  }

  private String spec(String plural, String name) {
    return Serialization.asJson(generic(plural, name).get("spec")).replaceAll("\\s", "");
  }

  private List<String> managers(String plural, String name) {
    return generic(plural, name).getMetadata().getManagedFields().stream()
        .map(f -> f.getManager())
        .toList();
  }

  private io.fabric8.kubernetes.api.model.GenericKubernetesResource generic(
      String plural, String name) {
    return client
        .genericKubernetesResources(
            KaiConfig.GROUP + "/" + KaiConfig.VERSION,
            plural.equals("configs") ? "Config" : "SchedulingShard")
        .withName(name)
        .get();
  }
}
