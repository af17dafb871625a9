package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.Markdown;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import io.numaoperator.api.kai.KaiConfig;
import io.numaoperator.api.kai.SchedulingShard;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A real API server takes our CRDs and enforces what they say. */
@Tag("lab")
class ApiServerLabTest {
  private static Lab lab;

  @BeforeAll
  static void up() {
    lab = Lab.up("--no-nodes");
    lab.kubectl("apply", "-k", "config/crd");
    lab.kubectl("apply", "--server-side", "-f", "src/test/resources/crds");
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  /** By OpenShift's own schemas. */
  @Test
  void openShiftTakesWhatIsRenderedForIt() {
    var file = "src/test/resources/plan/delivery-openshift.yaml";
    await().until(() -> lab.kubectl("api-resources"), kinds -> kinds.contains("kubeletconfigs"));
    lab.kubectl("apply", "--server-side", "--validate=strict", "-f", file);
    var applied =
        lab.client().resources(KubeletConfig.class).withName("numaoperator-gpu-nodes").get();
    assertThat(applied.getSpec().kubeletConfig.path("reservedMemory").size()).isEqualTo(2);
    assertThat(applied.getSpec().machineConfigPoolSelector.getMatchLabels()).hasSize(1);
    lab.kubectl(
        "create",
        "--validate=strict",
        "-f",
        yamlFile(
            """
            apiVersion: machineconfiguration.openshift.io/v1
            kind: MachineConfigPool
            metadata: {name: gpu}
            spec: {nodeSelector: {matchLabels: {role: gpu}}}
            """));
    var pool = lab.client().resources(MachineConfigPool.class).withName("gpu").get();
    assertThat(pool.getSpec().nodeSelector.getMatchLabels()).containsEntry("role", "gpu");
  }

  /** By KAI's own schemas. */
  @Test
  void kaiTakesWhatIsRenderedForIt() {
    await().until(() -> lab.kubectl("api-resources"), kinds -> kinds.contains("schedulingshards"));
    lab.kubectl("apply", "--server-side", "--validate=strict", "-f", ownerless("scheduler-kai"));
    var config = lab.client().resources(KaiConfig.class).withName(KaiConfig.NAME).get();
    assertThat(config.getSpec().numaPlacementExporter.service.enabled).isTrue();
    assertThat(config.getSpec().numaPlacementExporter.nodeSelector).containsEntry("pool", "gpu");
    var shard = lab.client().resources(SchedulingShard.class).withName("default").get();
    assertThat(shard.getSpec().plugins.get("numa").arguments)
        .containsEntry("reconstructAvailable", "true");
    assertThat(lab.kubectl("get", "queues.scheduling.run.ai", "-o", "name"))
        .contains("numa-parent", "numa");
  }

  /** The API server itself gives pods of a labelled namespace the name, and no others. */
  @Test
  void podsOfLabelledNamespacesGetTheSchedulersName() {
    lab.kubectl(
        "apply", "--server-side", "--validate=strict", "-f", ownerless("scheduler-assignment"));
    lab.kubectl("create", "namespace", "assigned");
    lab.kubectl("label", "namespace", "assigned", "numaoperator.io/assign-scheduler=true");
    lab.kubectl("create", "namespace", "free");
    // a policy takes effect a moment after it was made
    await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(scheduler("assigned", "")).isEqualTo("numa-scheduler"));
    await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(scheduler("free", "")).isEqualTo("default-scheduler"));
    assertThat(scheduler("assigned", "schedulerName: theirs,")).isEqualTo("theirs");
    assertThat(
            schedulerOf(
                "assigned",
                "ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u}]",
                ""))
        .isEqualTo("default-scheduler");
  }

  private static String scheduler(String namespace, String spec) {
    return schedulerOf(namespace, "labels: {a: b}", spec);
  }

  private static String schedulerOf(String namespace, String metadata, String spec) {
    var pod =
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: tried, namespace: %s, %s}
        spec: {%s containers: [{name: c, image: c}]}
        """
            .formatted(namespace, metadata, spec);
    return lab.client()
        .resource(Serialization.unmarshal(pod, Pod.class))
        .dryRun()
        .create()
        .getSpec()
        .getSchedulerName();
  }

  /** What was rendered, without the policies that own it: the garbage collector finds none here. */
  private static String ownerless(String rendered) {
    try {
      var yaml = Files.readString(Path.of("src/test/resources/plan", rendered + ".yaml"));
      return yamlFile(yaml.replaceAll("(?m)^  ownerReferences:\\n(?:  - .*\\n|    .*\\n)+", ""));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static String yamlFile(String content) {
    try {
      return Files.writeString(Files.createTempFile("numa", ".yaml"), content).toString();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static String yaml(String spec) {
    return """
        apiVersion: numaoperator.io/v1alpha1
        kind: NumaPolicy
        metadata: {name: tried}
        spec: {mode: Observe, nodeSelector: {}, %s}
        """
        .formatted(spec);
  }

  private static NumaPolicy policy(String spec) {
    return Serialization.unmarshal(yaml(spec), NumaPolicy.class);
  }

  static Stream<Arguments> refused() {
    return Stream.of(
        Arguments.of("kubelet: {cpuManager: {reserved: {}}}", "exactly one of cpus"),
        Arguments.of(
            "kubelet: {cpuManager: {reserved: {cpus: '0', coresPerNumaNode: 1}}}",
            "exactly one of cpus"),
        Arguments.of("kubelet: {cpuManager: {reserved: {cpus: '0-'}}}", "should match"),
        Arguments.of(
            "kubelet: {memoryManager: {reserved: {perNumaNode: 4Gi, total: 8Gi}}}",
            "exactly one of perNumaNode"),
        Arguments.of("kubelet: {memoryManager: {reserved: {total: '0'}}}", "should match"),
        Arguments.of(
            "kubelet: {cpuManager: {options: {alignBySocket: true}}}",
            "cannot be combined with topologyManager.policy SingleNUMANode"),
        Arguments.of(
            "kubelet: {cpuManager: {policy: None, options: {fullPhysicalCpusOnly: true}}}",
            "need cpuManager.policy Static"),
        Arguments.of(
            "kubelet: {cpuManager: {options: {fullPhysicalCpusOnly: true,"
                + " distributeCpusAcrossCores: true}}}",
            "cannot be combined"),
        Arguments.of(
            "kubelet: {topologyManager: {policy: None, options: {preferClosestNumaNodes: true}}}",
            "other than None"),
        Arguments.of(
            "kubelet: {topologyManager: {options: {maxAllowableNumaNodes: 4}}}",
            "greater than or equal to 8"),
        Arguments.of("devicePlugin: {hami: {}}", "needs devicePlugin.provider HAMi"),
        Arguments.of("topologyUpdater: {nfd: {}}", "needs topologyUpdater.provider NFD"),
        Arguments.of("topologyUpdater: {interval: 1s}", "between 5s and 1h"),
        Arguments.of(
            "scheduler: {provider: None, nodeResourceTopologyMatch: {}}",
            "needs scheduler.provider"),
        Arguments.of("scheduler: {kai: {}}", "needs scheduler.provider KAI"),
        Arguments.of("scheduler: {external: {}}", "needs scheduler.provider External"),
        Arguments.of("scheduler: {provider: None, assignNamespaces: Labelled}", "provider is None"),
        Arguments.of("approvedPlan: short", "at least 12"),
        Arguments.of("rollout: {maxUnavailable: 0}", "at least 1"),
        Arguments.of("rollout: {maxUnavailable: 0%}", "percentage"),
        Arguments.of("rollout: {verification: {window: 1s}}", "between 5s and 30m"),
        Arguments.of("rollout: {canary: {nodes: 0}}", "greater than or equal to 1"),
        Arguments.of("rollout: {canary: {soak: 1h}}", "nodes: Required"),
        Arguments.of("rollout: {canary: {nodes: 1, soak: 1.5h}}", "soak is a duration"),
        Arguments.of(
            "rollout: {maintenanceWindows: [{start: '24:00', duration: 1h}]}", "should match"),
        Arguments.of(
            "rollout: {maintenanceWindows: [{start: '22:00', duration: 1m}]}", "from 5m to 168h"),
        Arguments.of(
            "rollout: {maintenanceWindows: [{start: '22:00', duration: 1h, timeZone: '+1'}]}",
            "should match"),
        Arguments.of("rollout: {drain: {timeout: 0s}}", "from 1s to 168h"),
        Arguments.of("rollout: {drain: {waitTimeout: soon}}", "waitTimeout is a duration"),
        Arguments.of("rollout: {drain: {gracePeriod: 25h}}", "at most 24h"),
        Arguments.of(
            "rollout: {startupTaint: numaoperator.io/starting}",
            "startup-taint.cluster-autoscaler.kubernetes.io/"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refused")
  void refusesWhatMakesNoSense(String spec, String why) {
    assertThatThrownBy(() -> lab.client().resource(policy(spec)).dryRun().create())
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining(why);
  }

  @Test
  void takesAWholeRollout() {
    var policy =
        policy(
            """
            rollout: {
              maxUnavailable: 10%, canary: {nodes: 2, soak: 1h30m},
              maintenanceWindows: [
                {days: [Mon, Tue], start: '22:00', duration: 6h, timeZone: Europe/Berlin},
                {start: '02:00', duration: 168h}],
              drain: {mode: Evict, timeout: 30m, waitTimeout: 2h, gracePeriod: 90s},
              startupTaint: startup-taint.cluster-autoscaler.kubernetes.io/numaoperator}
            """
                .strip());
    var taken = lab.client().resource(policy).dryRun().create();
    assertThat(taken.getSpec().rollout.maintenanceWindows.get(1).timeZone).isEqualTo("UTC");
  }

  @Test
  void modeAndSelectorAreRequired() {
    var policy = policy("");
    policy.getSpec().mode = null;
    assertThatThrownBy(() -> lab.client().resource(policy).dryRun().create())
        .hasMessageContaining("spec.mode");
    policy.getSpec().mode = NumaPolicySpec.Mode.Observe;
    policy.getSpec().nodeSelector = null;
    assertThatThrownBy(() -> lab.client().resource(policy).dryRun().create())
        .hasMessageContaining("spec.nodeSelector");
  }

  @Test
  void unknownFieldsAreToldToWhoAppliesThem() {
    assertThatThrownBy(
            () ->
                lab.kubectl(
                    "create",
                    "--dry-run=server",
                    "-f",
                    write("kubelet: {cpuManager: {options: {fullPcpus: true}}}")))
        .hasMessageContaining("unknown field \"spec.kubelet.cpuManager.options.fullPcpus\"");
  }

  private static String write(String spec) throws IOException {
    return Files.writeString(Files.createTempFile("policy", ".yaml"), yaml(spec)).toString();
  }

  /** A policy read from a file without an API server must mean the same as an applied one. */
  @Test
  void defaultsOfTheServerAreThoseOfTheClasses() {
    var sent =
        Serialization.unmarshal(
            """
            {"apiVersion": "numaoperator.io/v1alpha1", "kind": "NumaPolicy",
             "metadata": {"name": "defaults"},
             "spec": {"mode": "Observe", "nodeSelector": {}}}
            """,
            io.fabric8.kubernetes.api.model.GenericKubernetesResource.class);
    var applied = lab.client().resource(sent).create();
    try {
      JsonNode ofServer = withoutEmpty(Serialization.jsonMapper().valueToTree(applied.get("spec")));
      JsonNode ofClasses =
          withoutEmpty(
              Serialization.jsonMapper()
                  .valueToTree(
                      Serialization.unmarshal(Serialization.asJson(sent), NumaPolicy.class)
                          .getSpec()));
      assertThat(ofServer).isEqualTo(ofClasses);
    } finally {
      lab.client().resource(sent).delete();
    }
  }

  private static JsonNode withoutEmpty(JsonNode node) {
    if (node.isObject()) {
      var fields = node.fields();
      while (fields.hasNext()) {
        var value = withoutEmpty(fields.next().getValue());
        if (value.isNull() || (value.isContainerNode() && value.isEmpty())) {
          fields.remove();
        }
      }
    }
    return node;
  }

  @Test
  void samplesAreAccepted() {
    for (var sample : Path.of("config/samples").toFile().listFiles()) {
      if (sample.getName().equals("kustomization.yaml")) {
        continue; // read by kubectl, and by ConfigFilesTest
      }
      assertThat(lab.kubectl("create", "--dry-run=server", "-f", sample.getPath()))
          .contains("created");
    }
  }

  /** As DocsTest holds them to the schema, so here to its CEL rules. */
  @Test
  void policiesInPagesAreAccepted(@TempDir Path directory) throws IOException {
    var policies =
        Markdown.pages().stream()
            .flatMap(page -> page.fences().stream())
            .map(Markdown.Fence::text)
            .filter(text -> text.lines().anyMatch("kind: NumaPolicy"::equals))
            .toList();
    assertThat(policies).isNotEmpty();
    for (var policy : policies) {
      var file = Files.writeString(directory.resolve("policy.yaml"), policy);
      assertThat(lab.kubectl("create", "--dry-run=server", "-f", file.toString()))
          .contains("created");
    }
  }

  @Test
  void explainTeachesTheProduct() {
    assertThat(lab.kubectl("explain", "numapolicy.spec.rollout.maxUnavailable"))
        .contains("How many of the policy's nodes may be unavailable");
    assertThat(lab.kubectl("api-resources", "--categories=numa", "-o", "name"))
        .contains("numapolicies.numaoperator.io", "numanodestates.numaoperator.io");
    assertThat(lab.kubectl("api-resources", "--api-group=numaoperator.io"))
        .contains("numapol", "numanode");
  }

  @Test
  void anAttemptNumberNeverGoesBack() {
    var state =
        Serialization.unmarshal(
            """
            {"apiVersion": "numaoperator.io/v1alpha1", "kind": "NumaNodeState",
             "metadata": {"name": "n"},
             "spec": {"policy": "p", "grant": {"attempt": 5, "hash": "h", "bootId": "b"}}}
            """,
            NumaNodeState.class);
    lab.client().resource(state).create();
    try {
      state.getSpec().grant.attempt = 4L;
      assertThatThrownBy(() -> lab.client().resource(state).update())
          .hasMessageContaining("attempt numbers never go back");
    } finally {
      lab.client().resource(state).delete();
    }
  }

  /** Who restores a backup writes a status with a field manager of his own. */
  @Test
  void nothingOfARestoredStatusStaysInTheOneOfNow() {
    var state = state("{hash: 0123456789ab, verificationWindow: 5s, restore: true}");
    lab.client().resource(state).create();
    try {
      status(
          "restoring",
          "{attempt: {number: 4, step: Done, result: Succeeded, error: old},"
              + " baseline: {cpuManagerPolicy: static}}");
      status(
          Names.AGENT_FIELD_MANAGER,
          "{attempt: {number: 5, step: Stopping}, baseline: {memoryManagerPolicy: None}}");
      var status = lab.state("tried").orElseThrow().getStatus();
      assertThat(status.attempt.number).isEqualTo(5);
      assertThat(status.attempt.result).isNull();
      assertThat(status.attempt.error).isNull();
      assertThat(status.baseline.memoryManagerPolicy).isNotNull();
      assertThat(status.baseline.cpuManagerPolicy).isNull();
    } finally {
      lab.client().resource(state).delete();
    }
  }

  private static void status(String manager, String said) {
    var status =
        """
        apiVersion: numaoperator.io/v1alpha1
        kind: NumaNodeState
        metadata: {name: tried}
        status: %s
        """
            .formatted(said);
    lab.client()
        .resource(Serialization.unmarshal(status, GenericKubernetesResource.class))
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager(manager)
                .withForce(true)
                .build());
  }

  /** Nobody can ask an agent for settings and for none at once. */
  @Test
  void aNodeIsGivenSettingsOrRestored() {
    for (var kubelet :
        List.of(
            "{hash: 0123456789ab, verificationWindow: 5s}",
            "{hash: 0123456789ab, verificationWindow: 5s, restore: false}",
            "{hash: 0123456789ab, verificationWindow: 5s, restore: true, fragment: {}}")) {
      assertThatThrownBy(() -> lab.client().resource(state(kubelet)).dryRun().create())
          .hasMessageContaining("either a fragment or restore: true");
    }
    for (var kubelet :
        List.of(
            "{hash: 0123456789ab, verificationWindow: 5s, restore: true}",
            "{hash: 0123456789ab, verificationWindow: 5s, fragment: {cpuManagerPolicy: none}}")) {
      assertThat(lab.client().resource(state(kubelet)).dryRun().create()).isNotNull();
    }
  }

  private static GenericKubernetesResource state(String kubelet) {
    return Serialization.unmarshal(
        """
        apiVersion: numaoperator.io/v1alpha1
        kind: NumaNodeState
        metadata: {name: tried}
        spec: {policy: p, kubelet: %s}
        """
            .formatted(kubelet),
        GenericKubernetesResource.class);
  }

  @Test
  void theSchedulersNameStays() {
    var policy = policy("scheduler: {schedulerName: first}");
    lab.client().resource(policy).create();
    try {
      policy.getSpec().scheduler.schedulerName = "second";
      assertThatThrownBy(() -> lab.client().resource(policy).update())
          .hasMessageContaining("schedulerName cannot be changed");
    } finally {
      lab.client().resource(policy).delete();
    }
  }
}
