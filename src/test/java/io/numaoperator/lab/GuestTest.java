package io.numaoperator.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.Condition;
import io.numaoperator.api.KubeletPolicy;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaPolicy;
import io.numaoperator.api.NumaPolicySpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One machine's life with the operator, on what the lab has fakes for: systemd and its D-Bus, a
 * kernel's NUMA nodes and cpusets, containerd, an agent in a container. The verification window is
 * the default. One story, as each of its boots takes minutes without KVM.
 */
@Tag("guest")
class GuestTest {
  private static final String POLICY = "guest-nodes";
  private static final String DROP_IN = "/etc/kubernetes/kubelet.conf.d/" + Names.DROP_IN_FILE;
  private static final String UNITS = "/etc/systemd/system/";
  private static final String GUARD = "/var/lib/numaoperator/guard/";

  /** Of all: CI gives 20 minutes, and what was there when it failed wants telling. */
  private static final Duration LIMIT = Duration.ofMinutes(Integer.getInteger("guest.minutes", 18));

  private final Instant begin = Instant.now();
  private Lab lab;
  private Guest guest;
  private KubernetesClient client;
  private String told = "";

  @BeforeEach
  void up() throws IOException {
    // ends them also at Ctrl-C
    Runtime.getRuntime().addShutdownHook(new Thread(this::end));
    say("the lab's control plane, and a node for the operator");
    lab = Lab.up("--nodes", "1", "--name-prefix", "infra-", "--gpus-per-zone", "0");
    client = lab.client();
    guest = new Guest(lab, Path.of(System.getProperty("guest.base")));
    say("the guest boots, by " + guest.accelerator());
    guest.powerOn(1536, 1536);
    lab.install();
    say("the operator is installed");
  }

  @AfterEach
  void end() {
    synchronized (this) {
      if (guest != null) {
        guest.close();
        guest = null;
      }
      if (lab != null) {
        lab.close();
        lab = null;
      }
    }
  }

  @Test
  void noneStaticFailureRebootNone() throws Exception {
    try {
      await("the kubelet has joined", () -> isReady(node()));
      var original = configz();
      assertThat(original.path("cpuManagerPolicy").asText()).isEqualTo("none");
      var operator = startOperator();
      theAgentReports();
      fromNoneToStatic();
      // meanwhile it had time: without KVM a JVM of its size takes minutes
      await("an operator runs in the image", () -> isReady(operator));
      delete(operator);
      exclusiveCpusAndMemoryOfOneZone();
      aChangeThatFails();
      aRebootWithOtherMemory();
      fromStaticToNone(original);
      say("seen, all of it");
    } catch (Throwable e) {
      tellWhatWasThere();
      throw e;
    }
  }

  // ---- the story

  /**
   * A second operator beside the one that leads, of config/manager but for the network and the
   * node. The lab's nodes run the operator too, but in the host's userland, with the host's Java.
   */
  private Pod startOperator() {
    var spec =
        client
            .apps()
            .deployments()
            .inNamespace("numa-operator-system")
            .withName("numa-operator")
            .get()
            .getSpec()
            .getTemplate()
            .getSpec();
    spec.setNodeSelector(Map.of("numa.test/guest", "true"));
    spec.setHostNetwork(true);
    spec.setTopologySpreadConstraints(List.of());
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("standby")
                .withNamespace("numa-operator-system")
                .endMetadata()
                .withSpec(spec)
                .build())
        .create();
  }

  private void theAgentReports() {
    var policy = Serialization.unmarshal(POLICY_YAML, NumaPolicy.class);
    client.resource(policy).create();
    say("the policy, in mode Observe: its agent comes");
    await("the plan is shown", () -> condition("KubeletConfigured").equals("Differs"));
    var status = state().orElseThrow().getStatus();
    var zones = status.inventory.zones;
    assertThat(zones).hasSize(2);
    assertThat(zones.get(0).cpus).isEqualTo("0-1");
    assertThat(zones.get(1).cpus).isEqualTo("2-3");
    assertThat(status.inventory.kubelet.service).isEqualTo("kubelet.service");
    assertThat(guest.sh("systemctl show -p MainPID --value kubelet").strip())
        .isEqualTo(String.valueOf(status.inventory.kubelet.pid));
    assertThat(status.baseline.cpuManagerPolicy).isEqualTo("none");
    assertThat(status.agentError).isNull();
  }

  private void fromNoneToStatic() {
    var before = startPod("before", "256Mi");
    assertThat(allowed(before)).containsExactly("0-3", "0-1");
    delete(before);

    edit(policy -> policy.getSpec().mode = NumaPolicySpec.Mode.Enforce);
    say("mode Enforce: none -> static");
    var ended = attempt(1);
    assertThat(ended.result).as(ended.error).isEqualTo(Result.Succeeded);
    await("its kubelet is as planned", () -> condition("KubeletConfigured").equals("Configured"));
    await("the node is back in service", () -> !isCordoned());
    isStatic("pod");
    assertThat(unit("DropInPaths"))
        .contains(
            UNITS + "kubelet.service.d/60-numaoperator-config-dir.conf",
            UNITS + "kubelet.service.d/99-numaoperator-guard.conf");
    assertThat(guest.sh("systemctl is-active numaoperator-guard.timer || true").strip())
        .isEqualTo("inactive");
    assertThat(guest.sh("ls " + GUARD)).contains("guard.sh").doesNotContain("armed");
  }

  private void exclusiveCpusAndMemoryOfOneZone() {
    // CPU 0 is reserved, so two of one zone are 2 and 3
    var pinned = startPod("pinned", "256Mi");
    assertThat(allowed(pinned)).containsExactly("2-3", "1");
    var cgroup = guest.sh("cat /sys/fs/cgroup/kubepods.slice/*pod*/cri-*/cpuset.cpus").lines();
    assertThat(cgroup).contains("2-3");
    delete(pinned);

    // there is that much, but not in one zone
    var wide = createPod("wide", "1700Mi");
    await("the pod that fits no zone is rejected", () -> phase(wide).equals("Failed"));
    assertThat(pod(wide).getStatus().getReason()).isEqualTo("TopologyAffinityError");
    delete(wide);
  }

  /**
   * What preflight cannot know: a tool of the node's owner runs before each start of the kubelet,
   * and where it finds our next setting, it adds a reservation of its own, which the kubelet then
   * misses in reservedMemory.
   */
  private void aChangeThatFails() {
    guest.sh(
        """
        cat >/usr/local/sbin/foreign-tool <<'END'
        #!/bin/sh
        rm -f /etc/kubernetes/kubelet.conf.d/50-foreign.conf
        grep -q 'topologyManagerScope: container' %s || exit 0
        cat >/etc/kubernetes/kubelet.conf.d/50-foreign.conf <<'CONF'
        apiVersion: kubelet.config.k8s.io/v1beta1
        kind: KubeletConfiguration
        kubeReserved: {memory: 64Mi}
        CONF
        END
        chmod 755 /usr/local/sbin/foreign-tool
        printf '[Service]\\nExecStartPre=/usr/local/sbin/foreign-tool\\n' >%skubelet.service.d/50-foreign.conf
        systemctl daemon-reload
        """
            .formatted(DROP_IN, UNITS));
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Container);
    say("another scope, with which the kubelet will not start");
    var ended = attempt(2);
    assertThat(ended.result).as(ended.error).isEqualTo(Result.RolledBack);
    assertThat(ended.error).contains("is not equal to the value");
    await("the policy has stopped", () -> policyCondition("Stalled"));
    await("the node is back in service", () -> !isCordoned());
    isStatic("pod");
    assertThat(guest.sh("ls " + GUARD)).contains("guard.sh").doesNotContain("armed");

    guest.sh("rm %skubelet.service.d/50-foreign.conf; systemctl daemon-reload".formatted(UNITS));
    edit(p -> p.getSpec().kubelet.topologyManager.scope = KubeletPolicy.TopologyScope.Pod);
    await("the former spec is what runs", () -> policyCondition("KubeletsConfigured"));
    assertThat(state().orElseThrow().getStatus().attempt.number).isEqualTo(2);
  }

  /** A kubelet with the static Memory Manager does not start when it finds other memory. */
  private void aRebootWithOtherMemory() throws Exception {
    var resident = startPod("resident", "256Mi");
    assertThat(guest.sh("cat /var/lib/kubelet/memory_manager_state"))
        .contains(resident.getMetadata().getUid());
    var boot = state().orElseThrow().getStatus().bootId;
    var memory = node().getStatus().getCapacity().get("memory");
    guest.cutPower();
    guest.powerOn(1536, 1280);
    say("the guest boots with 256 MiB less");
    await(
        "the agent reports the new boot",
        () -> state().map(s -> !boot.equals(s.getStatus().bootId)).orElse(false));
    await("the node is Ready", () -> isReady(node()));
    await("its kubelet is as planned", () -> condition("KubeletConfigured").equals("Configured"));
    assertThat(Quantity.getAmountInBytes(memory).longValue() >> 20)
        .isGreaterThan(
            (Quantity.getAmountInBytes(node().getStatus().getCapacity().get("memory")).longValue()
                    >> 20)
                + 200);
    assertThat(guest.sh("journalctl -b -u kubelet -o cat"))
        .contains("numaoperator guard: first start of this boot");
    assertThat(guest.sh("ls " + GUARD)).contains("cleared-memory_manager_state");
    assertThat(unit("NRestarts").strip()).isEqualTo("0");
    isStatic("pod");
    await(
        "the resident pod runs again",
        () -> isPodReady("resident") && !container(pod("resident")).equals(container(resident)));
    assertThat(allowed(pod(resident))).containsExactly("2-3", "1");
    delete(resident);
  }

  private void fromStaticToNone(JsonNode original) {
    client.resources(NumaPolicy.class).withName(POLICY).delete();
    say("the policy is deleted: static -> none");
    await(
        "the policy is gone",
        () -> client.resources(NumaPolicy.class).withName(POLICY).get() == null);
    await("the node is Ready and in service", () -> isReady(node()) && !isCordoned());
    assertThat(guest.sh("find /etc/kubernetes /etc/systemd -name '*numaoperator*'")).isBlank();
    assertThat(guest.sh("ls " + GUARD)).doesNotContain("guard.sh", "armed");
    assertThat(unit("DropInPaths").strip()).isEqualTo(UNITS + "kubelet.service.d/10-kubeadm.conf");
    assertThat(statePolicy("cpu_manager_state")).isEqualTo("none");
    assertThat(statePolicy("memory_manager_state")).isEqualTo("None");
    assertThat(configz()).isEqualTo(original);
  }

  // ---- what is seen

  /** By the kubelet itself, by its files, and by systemd. */
  private void isStatic(String scope) {
    var config = configz();
    assertThat(config.path("cpuManagerPolicy").asText()).isEqualTo("static");
    assertThat(config.path("memoryManagerPolicy").asText()).isEqualTo("Static");
    assertThat(config.path("topologyManagerPolicy").asText()).isEqualTo("single-numa-node");
    assertThat(config.path("topologyManagerScope").asText()).isEqualTo(scope);
    assertThat(statePolicy("cpu_manager_state")).isEqualTo("static");
    assertThat(statePolicy("memory_manager_state")).isEqualTo("Static");
    assertThat(guest.sh("cat " + DROP_IN)).contains("topologyManagerScope: " + scope);
    assertThat(unit("ActiveState").strip()).isEqualTo("active");
  }

  private String unit(String property) {
    return guest.sh("systemctl show kubelet --value -p " + property);
  }

  private String statePolicy(String file) {
    return Serialization.unmarshal(guest.sh("cat /var/lib/kubelet/" + file), JsonNode.class)
        .path("policyName")
        .asText();
  }

  private JsonNode configz() {
    var text = client.raw("/api/v1/nodes/" + Guest.NODE + "/proxy/configz");
    return Serialization.unmarshal(text, JsonNode.class).path("kubeletconfig");
  }

  private Node node() {
    return client.nodes().withName(Guest.NODE).get();
  }

  private static boolean isReady(Node node) {
    return node != null
        && node.getStatus().getConditions().stream()
            .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
  }

  private boolean isCordoned() {
    return Boolean.TRUE.equals(node().getSpec().getUnschedulable());
  }

  private Optional<NumaNodeState> state() {
    return Optional.ofNullable(client.resources(NumaNodeState.class).withName(Guest.NODE).get())
        .filter(state -> state.getStatus() != null);
  }

  /** The reason of the node's condition, as of its newest plan; empty when it has none. */
  private String condition(String type) {
    return state().stream()
        .flatMap(s -> s.getStatus().conditions.stream())
        .filter(c -> c.type.equals(type))
        .map(c -> Objects.requireNonNullElse(c.reason, ""))
        .findFirst()
        .orElse("");
  }

  /** Whether it is True, of the spec as it is. */
  private boolean policyCondition(String type) {
    var policy = client.resources(NumaPolicy.class).withName(POLICY).get();
    return policy.getStatus() != null
        && policy.getMetadata().getGeneration().equals(policy.getStatus().observedGeneration)
        && policy.getStatus().conditions.stream()
            .anyMatch(c -> c.type.equals(type) && c.status == Condition.Status.True);
  }

  private Attempt attempt(long number) {
    await(
        "attempt %d has ended".formatted(number),
        () ->
            state()
                .map(s -> s.getStatus().attempt)
                .filter(a -> a.number == number && a.result != null)
                .isPresent());
    return state().orElseThrow().getStatus().attempt;
  }

  private void edit(Consumer<NumaPolicy> change) {
    await(
        "the policy is edited",
        () ->
            client
                    .resources(NumaPolicy.class)
                    .withName(POLICY)
                    .edit(
                        policy -> {
                          change.accept(policy);
                          return policy;
                        })
                != null);
  }

  // ---- pods

  /** A Guaranteed pod with two CPUs. */
  private Pod createPod(String name, String memory) {
    var resources = Map.of("cpu", new Quantity("2"), "memory", new Quantity(memory));
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .withNodeSelector(Map.of("numa.test/guest", "true"))
                .withTerminationGracePeriodSeconds(0L)
                .withHostNetwork(true)
                .addNewContainer()
                .withName("main")
                .withImage("numa.test/pause:1")
                .withNewResources()
                .withLimits(resources)
                .withRequests(resources)
                .endResources()
                .endContainer()
                .endSpec()
                .build())
        .create();
  }

  private Pod startPod(String name, String memory) {
    createPod(name, memory);
    await("pod " + name + " runs", () -> isPodReady(name));
    return pod(name);
  }

  private Pod pod(String name) {
    return client.pods().inNamespace("default").withName(name).get();
  }

  private Pod pod(Pod pod) {
    return client.resource(pod).get();
  }

  private String phase(Pod pod) {
    return pod(pod).getStatus().getPhase();
  }

  private boolean isPodReady(String name) {
    return isReady(pod(name));
  }

  private boolean isReady(Pod pod) {
    return pod(pod).getStatus().getConditions().stream()
        .anyMatch(c -> c.getType().equals("Ready") && c.getStatus().equals("True"));
  }

  private void delete(Pod pod) {
    client.resource(pod).withGracePeriod(0).delete();
    await(pod.getMetadata().getName() + " is gone", () -> pod(pod) == null);
  }

  private static String container(Pod pod) {
    var id = pod.getStatus().getContainerStatuses().getFirst().getContainerID();
    return id.substring("containerd://".length());
  }

  /** The CPUs and the NUMA nodes that the kernel lets the pod's container have. */
  private List<String> allowed(Pod pod) {
    return guest
        .sh(
            """
            pid=$(cat /sys/fs/cgroup/kubepods.slice/*/*%1$s*/cgroup.procs /sys/fs/cgroup/kubepods.slice/*%1$s*/cgroup.procs 2>/dev/null | head -1)
            sed -nE 's/^(Cpus|Mems)_allowed_list:\\s*//p' /proc/$pid/status
            """
                .formatted(container(pod)))
        .lines()
        .toList();
  }

  // ---- waiting and telling

  private void say(String text) {
    System.out.printf(
        Locale.ROOT, "%5d s  %s%n", Duration.between(begin, Instant.now()).toSeconds(), text);
  }

  /** Tells what becomes of the node meanwhile. */
  private void await(String what, BooleanSupplier condition) {
    var problem = "";
    while (true) {
      try {
        if (condition.getAsBoolean()) {
          say(what);
          return;
        }
        tellProgress();
        problem = "";
      } catch (RuntimeException e) {
        problem = ": " + e;
      }
      if (!guest.isOn()) {
        throw new AssertionError("QEMU has ended; not seen: " + what);
      }
      if (Instant.now().isAfter(begin.plus(LIMIT))) {
        throw new AssertionError("not in time: " + what + problem);
      }
      try {
        Thread.sleep(500);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }

  private void tellProgress() {
    var attempt = state().map(s -> s.getStatus().attempt);
    var now =
        "       … KubeletConfigured %s%s"
            .formatted(
                condition("KubeletConfigured"),
                attempt.map(a -> ", attempt " + a.number + " " + a.step).orElse(""));
    if (state().isPresent() && !now.equals(told)) {
      say(now);
      told = now;
    }
  }

  private void tellWhatWasThere() {
    System.out.println("---- the end of the guest's console\n" + guest.console());
    for (var script :
        List.of(
            "journalctl -b --no-pager -n 100 -u kubelet -u containerd -u 'guest-*'",
            "systemctl --no-pager --failed; systemctl --no-pager list-jobs",
            "tail -n 60 /var/log/pods/numa-operator-system_*/agent/*.log",
            "ls -lR /etc/kubernetes /var/lib/numaoperator " + UNITS + "kubelet.service.d",
            "tail -n +1 /etc/kubernetes/kubelet.conf.d/*")) {
      try {
        System.out.println(
            "---- guest: " + script + "\n" + guest.sh("(" + script + ") 2>&1; true"));
      } catch (RuntimeException e) {
        System.out.println("---- " + e.getMessage());
      }
    }
    try {
      System.out.println(lab.kubectl("get", "numapol,numanode,node,pods", "-A", "-o", "wide"));
      System.out.println(lab.kubectl("get", "numapol,numanode", "-o", "yaml"));
      System.out.println(
          lab.kubectl("-n", "numa-operator-system", "logs", "deploy/numa-operator", "--tail=60"));
    } catch (RuntimeException e) {
      System.out.println("---- " + e.getMessage());
    }
  }

  private static final String POLICY_YAML =
      """
      apiVersion: numaoperator.io/v1alpha1
      kind: NumaPolicy
      metadata: {name: guest-nodes}
      spec:
        mode: Observe
        nodeSelector: {matchLabels: {numa.test/guest: "true"}}
        kubelet:
          topologyManager: {policy: SingleNUMANode, scope: Pod}
          cpuManager: {reserved: {cpus: "0"}}
          memoryManager: {reserved: {perNumaNode: 256Mi}}
        topologyUpdater: {provider: BuiltIn}
        scheduler: {provider: None}
        rollout: {onDelete: Restore}
      """;
}
