package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Names;
import io.numaoperator.api.NodeSelector;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.SchedulerPolicy;
import io.numaoperator.api.TopologyUpdaterPolicy;
import io.numaoperator.api.admission.MutatingAdmissionPolicy;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.api.nrt.NodeResourceTopology;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.HttpURLConnection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(
          ConfigMap.class,
          Service.class,
          ServiceAccount.class,
          Deployment.class,
          DaemonSet.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          MutatingAdmissionPolicy.class,
          KaiConfig.class,
          SchedulingShard.class);

  @Inject KubernetesClient client;

  @BeforeEach
  void kinds() {
    client.resources(NumaPolicy.class).delete();
    for (var name : List.of("configs", "schedulingshards")) {
      install("kai.scheduler_" + name);
    }
    install("scheduling.run.ai_queues");
    await()
        .atMost(Lab.PATIENCE)
        .ignoreExceptions()
        .until(() -> client.resources(SchedulingShard.class).list() != null);
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

  private void install(String crd) {
    client
        .resource(
            Serialization.unmarshal(
                read(Path.of("src/test/resources/crds", crd + ".yaml")),
                CustomResourceDefinition.class))
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  private static String read(Path file) {
    try {
      return java.nio.file.Files.readString(file);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

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
    var config = spec("configs", "kai-config");
    var shard = spec("schedulingshards", "default");
    policy(spec -> scheduler(spec, SchedulerPolicy.Provider.None));
    for (var provider : eachAfterEach()) {
      change(spec -> scheduler(spec, provider));
      await()
          .atMost(Lab.PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(providersOf("scheduler"))
                      .as("after a switch to %s", provider)
                      .isEqualTo(expected(provider)));
      if (provider == SchedulerPolicy.Provider.KAI) {
        await()
            .atMost(Lab.PATIENCE)
            .untilAsserted(
                () -> {
                  assertThat(spec("schedulingshards", "default"))
                      .contains("\"numa\"", "\"gpupack\"", "\"binpack\"");
                  assertThat(spec("configs", "kai-config"))
                      .contains("\"pollInterval\":\"2s\"", "\"tolerations\"");
                });
      } else {
        await()
            .atMost(Lab.PATIENCE)
            .untilAsserted(
                () -> {
                  assertThat(spec("configs", "kai-config")).isEqualTo(config);
                  assertThat(spec("schedulingshards", "default")).isEqualTo(shard);
                  assertThat(managers("schedulingshards", "default"))
                      .doesNotContain(Names.OPERATOR_FIELD_MANAGER);
                });
      }
    }
  }

  private static Set<String> expected(SchedulerPolicy.Provider provider) {
    return switch (provider) {
      case None -> Set.of();
      case KAI -> Set.of(); // its fields are in objects of others
      default -> Set.of(provider.name().toLowerCase(java.util.Locale.ROOT));
    };
  }

  /** Each ordered pair of two providers comes once. */
  private static List<SchedulerPolicy.Provider> eachAfterEach() {
    var all =
        List.of(
            SchedulerPolicy.Provider.None,
            SchedulerPolicy.Provider.BuiltIn,
            SchedulerPolicy.Provider.NodeResourceTopologyMatch,
            SchedulerPolicy.Provider.KAI,
            SchedulerPolicy.Provider.External);
    var left = new ArrayList<List<SchedulerPolicy.Provider>>();
    all.forEach(a -> all.stream().filter(b -> a != b).forEach(b -> left.add(List.of(a, b))));
    var walk = new ArrayList<SchedulerPolicy.Provider>();
    walk.add(SchedulerPolicy.Provider.None);
    while (!left.isEmpty()) {
      var here = walk.getLast();
      var next =
          left.stream()
              .filter(pair -> pair.getFirst() == here)
              .findFirst()
              .orElseGet(() -> List.of(here, left.getFirst().getFirst()));
      left.remove(next);
      walk.add(next.getLast());
    }
    return walk;
  }

  private static void scheduler(NumaPolicySpec spec, SchedulerPolicy.Provider provider) {
    var name = spec.scheduler.schedulerName;
    spec.scheduler = new SchedulerPolicy();
    spec.scheduler.schedulerName = name;
    spec.scheduler.provider = provider;
    if (provider == SchedulerPolicy.Provider.NodeResourceTopologyMatch) {
      spec.scheduler.nodeResourceTopologyMatch = new SchedulerPolicy.NodeResourceTopologyMatch();
      spec.scheduler.nodeResourceTopologyMatch.image = "registry.example/kube-scheduler:none";
    }
  }

  @Test
  void nfdGivesWayAndComesAgain() {
    policy(spec -> scheduler(spec, SchedulerPolicy.Provider.None));
    for (var provider :
        List.of(
            TopologyUpdaterPolicy.Provider.NFD,
            TopologyUpdaterPolicy.Provider.BuiltIn,
            TopologyUpdaterPolicy.Provider.External,
            TopologyUpdaterPolicy.Provider.NFD,
            TopologyUpdaterPolicy.Provider.External,
            TopologyUpdaterPolicy.Provider.BuiltIn)) {
      change(spec -> spec.topologyUpdater.provider = provider);
      await()
          .atMost(Lab.PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(providersOf("topology-updater"))
                      .as("after a switch to %s", provider)
                      .isEqualTo(
                          provider == TopologyUpdaterPolicy.Provider.NFD
                              ? Set.of("nfd")
                              : Set.of()));
    }
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
    policy.getSpec().mode = NumaPolicySpec.Mode.Observe;
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

  private Set<String> providersOf(String part) {
    var providers = new TreeSet<String>();
    for (var kind : KINDS) {
      client
          .resources(kind)
          .inAnyNamespace()
          .withLabel("numaoperator.io/part", part)
          .list()
          .getItems()
          .forEach(
              object ->
                  providers.add(object.getMetadata().getLabels().get("numaoperator.io/provider")));
    }
    return providers;
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
