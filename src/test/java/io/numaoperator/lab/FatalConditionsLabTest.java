package io.numaoperator.lab;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec;
import io.numaoperator.api.NumaNodeStateSpec.File;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.kubelet.DropIn;
import io.numaoperator.kubelet.DropInFile;
import io.numaoperator.kubelet.KubeletSettings;
import io.numaoperator.lab.FatalConditions.Caught;
import io.numaoperator.lab.FatalConditions.Row;
import io.numaoperator.plan.ClusterFacts;
import io.numaoperator.plan.ClusterVersion;
import io.numaoperator.plan.Policies;
import io.numaoperator.plan.agent.AgentPlan;
import io.numaoperator.plan.kubelet.KubeletPlan.Refused;
import io.numaoperator.preflight.Preflight;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Every condition that a kubelet exits on, past the planner and past preflight, through the real
 * agent on real kubelets: each ends with the node as it was and the kubelet's own line. The test
 * stands in for the operator: it grants what no operator would.
 *
 * <p>What the agent itself would refuse comes by a wrapper around the kubelet, which stands for a
 * configuration manager that adds a file of its own wherever it sees a new one of ours.
 */
@Tag("lab")
class FatalConditionsLabTest {
  private static final String POLICY = "fatal";
  private static final String WINDOW = "2s";
  private static final String DROP_INS = "/etc/kubernetes/kubelet.conf.d";
  private static final String HOOK = "/var/lib/kubelet/hook";
  private static final String WRAPPER =
      """
      #!/bin/sh
      rm -f CONF/95-hook.conf
      if [ -e CONF/OURS ] && ! cmp -s CONF/OURS HOOK/before; then
        cp HOOK/95-hook.conf CONF/ 2>/dev/null
        cp HOOK/*_manager_state /var/lib/kubelet/ 2>/dev/null
      fi
      exec /usr/local/sbin/kubelet "$@"
      """
          .replace("CONF", DROP_INS)
          .replace("OURS", Names.DROP_IN_FILE)
          .replace("HOOK", HOOK);

  private static Lab lab;
  private static KubernetesClient client;
  private static final Map<String, CompletableFuture<Outcome>> OUTCOMES = new ConcurrentHashMap<>();
  private static final CompletableFuture<Attempt> SOUND = new CompletableFuture<>();
  private static final CompletableFuture<Attempt> GIVEN = new CompletableFuture<>();
  private static final CompletableFuture<Edited> EDITED = new CompletableFuture<>();

  /** What came of a row. */
  private record Outcome(
      Attempt attempt,
      Optional<Refused> preflight,
      String filesBefore,
      String filesAfter,
      boolean ready) {}

  /**
   * What came of editing the main file: what a kubelet exits on, then two that it takes.
   *
   * @param mainFile its owner's
   * @param editedFile after the second
   */
  private record Edited(
      Attempt fatal,
      String filesBefore,
      String filesRestored,
      Attempt first,
      Attempt second,
      String mainFile,
      String editedFile) {}

  // ---- the cluster

  @BeforeAll
  static void up() {
    lab = Lab.up("--no-nodes");
    client = lab.client();
    lab.kubectl("apply", "-k", "config/crd");
    lab.kubectl("apply", "-f", "config/manager/namespace.yaml");
    lab.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=180s");
    lab.kubectl("apply", "-f", "src/main/resources/crds");
    add(FatalConditions.PLAIN, "--zones", "2");
    add(FatalConditions.OWNED, "--zones", "2");
    add(FatalConditions.BARE, "--zones", "2", "--no-config-dir");
    add(
        FatalConditions.MANY,
        "--zones",
        "9",
        "--cpus-per-zone",
        "2",
        "--memory-per-zone",
        "1Gi",
        "--threads-per-core",
        "1");
    installAgents();
    FatalConditions.ROWS.forEach(row -> OUTCOMES.put(row.name(), new CompletableFuture<>()));
    var threads = Executors.newVirtualThreadPerTaskExecutor();
    FatalConditions.ROWS.stream()
        .map(Row::node)
        .distinct()
        .forEach(node -> threads.submit(() -> run(node)));
    threads.shutdown();
  }

  @AfterAll
  static void down() {
    lab.close();
  }

  private static void add(String... nodeAndFlags) {
    var command = new ArrayList<>(List.of("node", "add"));
    command.addAll(List.of(nodeAndFlags));
    command.add("--no-gpu-plugin");
    lab.numalab(command.toArray(String[]::new));
    var node = nodeAndFlags[0];
    if (node.equals(FatalConditions.OWNED)) {
      write(node, "10-owner.conf", FatalConditions.withHeader(FatalConditions.OWNERS_DROP_IN));
      lab.exec(node, "cp", HOOK + "/10-owner.conf", DROP_INS + "/");
      lab.numalab("kubelet", "restart", node);
    }
    write(node, "kubelet", WRAPPER);
    lab.exec(
        node,
        "sh",
        "-c",
        "cp -P /usr/bin/kubelet /usr/local/sbin/kubelet; rm /usr/bin/kubelet;"
            + " cp HOOK/kubelet /usr/bin/kubelet; chmod 755 /usr/bin/kubelet"
                .replace("HOOK", HOOK));
  }

  /** What the operator would apply; nothing here plans or grants but the test. */
  private static void installAgents() {
    var policy =
        Policies.policy(
            POLICY, 1, spec -> spec.nodeSelector.matchLabels = Map.of("kubernetes.io/os", "linux"));
    var version = new ClusterVersion(1, 36);
    var facts =
        new ClusterFacts("numa-operator-system", Lab.IMAGE + ":dev", version, version, false);
    for (HasMetadata object : AgentPlan.objects(facts, List.of(policy)).objects()) {
      object.getMetadata().setOwnerReferences(List.of());
      client.resource(object).create();
    }
  }

  // ---- a node's rows, one after the other

  private static void run(String node) {
    var rows = FatalConditions.ROWS.stream().filter(row -> row.node().equals(node)).toList();
    try {
      observe(node);
      if (node.equals(FatalConditions.MANY)) {
        SOUND.complete(sound(node));
      }
      if (node.equals(FatalConditions.BARE)) {
        EDITED.complete(edited(node));
      }
      for (var row : rows) {
        OUTCOMES.get(row.name()).complete(attempt(row));
      }
      if (node.equals(FatalConditions.BARE)) {
        GIVEN.complete(grant(node, fragment(FatalConditions.SOUND)));
      }
    } catch (RuntimeException | Error e) {
      SOUND.completeExceptionally(e);
      GIVEN.completeExceptionally(e);
      EDITED.completeExceptionally(e);
      rows.forEach(row -> OUTCOMES.get(row.name()).completeExceptionally(e));
    }
  }

  private static void observe(String node) {
    var state = new NumaNodeState();
    state.setMetadata(new ObjectMetaBuilder().withName(node).build());
    state.setSpec(new NumaNodeStateSpec());
    state.getSpec().policy = POLICY;
    state.setStatus(null);
    client.resource(state).create();
    await(node)
        .atMost(Lab.PATIENCE)
        .until(() -> status(node).filter(s -> s.files != null && s.effective != null).isPresent());
  }

  /** One that starts; its state files are kept for rows that want those of another machine. */
  private static Attempt sound(String node) {
    var attempt = grant(node, fragment(FatalConditions.SOUND_ON_MANY));
    for (var file : List.of("cpu_manager_state", "memory_manager_state")) {
      copy(lab.kubeletFile(node, file), donor(node, file));
    }
    return attempt;
  }

  /** As for a kubelet before 1.32, which this one is not. */
  private static Edited edited(String node) {
    var before = files(node);
    var owners = mainFile(node);
    var fatal = grant(node, fragment("cpuManagerPolicy: static"), File.MainFile);
    var restored = files(node);
    var first = grant(node, fragment(FatalConditions.SOUND), File.MainFile);
    // lays the next plan over what the owner wrote: nothing of the first may remain
    var second = grant(node, fragment("topologyManagerPolicy: best-effort"), File.MainFile);
    return new Edited(fatal, before, restored, first, second, owners, mainFile(node));
  }

  private static String mainFile(String node) {
    return lab.exec(node, "cat", "/var/lib/kubelet/config.yaml");
  }

  private static Outcome attempt(Row row) {
    var node = row.node();
    var before = files(node);
    var preflight = preflight(row);
    boolean granted = DropInFile.parse(row.content().getBytes(UTF_8)) instanceof DropInFile.Valid;
    write(
        node,
        "before",
        lab.exec(
            node,
            "sh",
            "-c",
            "cat %s/%s 2>/dev/null || true".formatted(DROP_INS, Names.DROP_IN_FILE)));
    row.states().forEach(state -> prepare(node, state));
    if (!granted) {
      write(node, "95-hook.conf", row.content());
    }
    // where the file comes by the hook, the agent writes something that changes nothing
    var attempt = grant(node, fragment(granted ? row.dropIn() : "topologyManagerScope: container"));
    lab.exec(node, "sh", "-c", "rm -f HOOK/*.conf HOOK/*_state".replace("HOOK", HOOK));
    return new Outcome(attempt, preflight, before, files(node), isReady(node));
  }

  /** FILE=NODE or FILE=garbage. */
  private static void prepare(String node, String state) {
    var file = state.substring(0, state.indexOf('='));
    var from = state.substring(file.length() + 1);
    if (from.equals("garbage")) {
      write(node, file, "{\"policyName\":\"static\"");
    } else {
      if (!from.equals(node)) {
        SOUND.join();
      }
      copy(
          from.equals(node) ? lab.kubeletFile(node, file) : donor(from, file),
          lab.kubeletFile(node, "hook").resolve(file));
    }
  }

  private static Optional<Refused> preflight(Row row) {
    var bootId = client.nodes().withName(row.node()).get().getStatus().getNodeInfo().getBootID();
    var node = new Preflight.Input(new KubeletPolicy(), status(row.node()).orElseThrow(), bootId);
    assertThat(Preflight.check(node)).isEmpty();
    return Preflight.check(node, fragment(row.dropIn()));
  }

  private static KubeletFragment fragment(String yaml) {
    return KubeletSettings.of(yaml(yaml));
  }

  private static JsonNode yaml(String yaml) {
    try {
      return new YAMLMapper().readTree(yaml);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As the operator would: cordon for the attempt, then grant it; returns its end. */
  private static Attempt grant(String node, KubeletFragment fragment) {
    return grant(node, fragment, File.DropIn);
  }

  private static Attempt grant(String node, KubeletFragment fragment, File file) {
    long number = 1 + status(node).map(s -> s.attempt).map(attempt -> attempt.number).orElse(0L);
    patch(
        client.nodes().withName(node),
        Map.of(
            "metadata",
            Map.of("annotations", Map.of(Names.CORDONED_ANNOTATION, POLICY + "/" + number)),
            "spec",
            Map.of("unschedulable", true)));
    var hash = DropIn.hash(fragment);
    var bootId = client.nodes().withName(node).get().getStatus().getNodeInfo().getBootID();
    var desired = new NumaNodeStateSpec.DesiredKubelet();
    desired.fragment = fragment;
    desired.hash = hash;
    desired.file = file;
    desired.verificationWindow = WINDOW;
    var state = client.resources(NumaNodeState.class).withName(node);
    // of the last fragment nothing may remain
    patch(state, Map.of("spec", Collections.singletonMap("kubelet", null)));
    patch(
        state,
        Map.of(
            "spec",
            Map.of(
                "kubelet",
                desired,
                "grant",
                Map.of("attempt", number, "hash", hash, "bootId", bootId))));
    return await(node + " attempt " + number)
        .atMost(Lab.PATIENCE)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions()
        .until(
            () -> status(node).map(s -> s.attempt).orElseThrow(),
            attempt -> attempt.number == number && attempt.result != null);
  }

  private static <T> void patch(Resource<T> resource, Map<String, ?> body) {
    resource.patch(
        new PatchContext.Builder().withPatchType(PatchType.JSON_MERGE).build(),
        Serialization.asJson(body));
  }

  private static Optional<NumaNodeStateStatus> status(String node) {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(node).get())
        .map(NumaNodeState::getStatus);
  }

  private static boolean isReady(String node) {
    return client.nodes().withName(node).get().getStatus().getConditions().stream()
        .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
  }

  /** Name and hash of everything that an attempt may touch; of the guard see GuardLabTest. */
  private static String files(String node) {
    return lab.exec(
        node,
        "sh",
        "-c",
        "sha256sum /var/lib/kubelet/config.yaml /var/lib/kubelet/*_manager_state "
            + DROP_INS
            + "/* /etc/systemd/system/kubelet.service* /etc/systemd/system/kubelet.service.d/*"
            + " 2>/dev/null | grep -v numaoperator-guard; true");
  }

  private static void write(String node, String file, String content) {
    try {
      var directory = Files.createDirectories(lab.kubeletFile(node, "hook"));
      Files.writeString(directory.resolve(file), content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path donor(String node, String file) {
    return lab.file("donor-" + node + "-" + file);
  }

  private static void copy(Path from, Path to) {
    try {
      Files.write(to, Files.readAllBytes(from));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // ---- the verdicts

  static final List<Row> ROWS = FatalConditions.ROWS;

  @ParameterizedTest(name = "{0}")
  @FieldSource("ROWS")
  void isRolledBackWithTheKubeletsOwnLineAndIsKnownBeforeWhereItCanBe(Row row) {
    var outcome = OUTCOMES.get(row.name()).join();
    assertThat(outcome.attempt().result)
        .as("%s", outcome.attempt().error)
        .isEqualTo(Result.RolledBack);
    // klog escapes quotes; a panic does not
    assertThat(outcome.attempt().error.replace("\\\"", "\"")).contains(row.line());
    assertThat(outcome.filesAfter()).isEqualTo(outcome.filesBefore()).contains("config.yaml");
    assertThat(outcome.ready()).isTrue();
    switch (row.caught()) {
      case Caught.ByPreflight(var reason) ->
          assertThat(outcome.preflight().map(Refused::reason)).contains(reason);
      case Caught.ByTheAgent(var fault) ->
          assertThat(DropInFile.parse(row.content().getBytes(UTF_8)))
              .isInstanceOfSatisfying(
                  DropInFile.Invalid.class,
                  invalid -> assertThat(String.join("; ", invalid.faults())).contains(fault));
      case Caught.ByNobody(var because) -> assertThat(outcome.preflight()).as(because).isEmpty();
    }
  }

  /** As kubeadm leaves a kubelet: without --config-dir, which its unit gets with the change. */
  @Test
  void aKubeletWithoutADropInDirectoryIsGivenOne() {
    assertThat(GIVEN.join().result).as("%s", GIVEN.join().error).isEqualTo(Result.Succeeded);
    await()
        .atMost(Lab.PATIENCE)
        .untilAsserted(
            () -> {
              var status = status(FatalConditions.BARE).orElseThrow();
              assertThat(status.inventory.kubelet.dropInDirectory).isEqualTo(DROP_INS);
              assertThat(status.effective.settings.memoryManagerPolicy).isEqualTo("Static");
            });
    assertThat(lab.exec(FatalConditions.BARE, "ls", "/etc/systemd/system/kubelet.service.d"))
        .contains("60-numaoperator-config-dir.conf");
  }

  /** How kubelets before 1.32 are served. */
  @Test
  void theMainFileIsEditedAndGivenBack() {
    var edited = EDITED.join();
    assertThat(edited.fatal().result).isEqualTo(Result.RolledBack);
    assertThat(edited.fatal().error).contains("unable to determine reserved CPU resources");
    assertThat(edited.filesRestored()).isEqualTo(edited.filesBefore());
    assertThat(edited.first().result).as("%s", edited.first().error).isEqualTo(Result.Succeeded);
    assertThat(edited.second().result).as("%s", edited.second().error).isEqualTo(Result.Succeeded);
    assertThat(edited.editedFile())
        .contains("best-effort", "numaoperator.io")
        .doesNotContain("reservedMemory");
    GIVEN.join(); // a drop-in takes its place
    assertThat(mainFile(FatalConditions.BARE)).isEqualTo(edited.mainFile());
  }

  /** The table's way of granting does reach a kubelet that is content. */
  @Test
  void aSoundFragmentGrantedTheSameWaySucceeds() {
    assertThat(SOUND.join().result).as("%s", SOUND.join().error).isEqualTo(Result.Succeeded);
  }
}
