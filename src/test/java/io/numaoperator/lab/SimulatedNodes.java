package io.numaoperator.lab;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.numaoperator.api.KubeletFragment;
import io.numaoperator.api.Names;
import io.numaoperator.api.NumaNodeState;
import io.numaoperator.api.NumaNodeStateSpec.Grant;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import io.numaoperator.api.NumaNodeStateStatus.Containers;
import io.numaoperator.api.NumaNodeStateStatus.EffectiveKubelet;
import io.numaoperator.api.NumaNodeStateStatus.KubeletFacts;
import io.numaoperator.api.NumaNodeStateStatus.PlacedContainer;
import io.numaoperator.api.NumaNodeStateStatus.Result;
import io.numaoperator.api.NumaNodeStateStatus.Source;
import io.numaoperator.api.NumaNodeStateStatus.StateFiles;
import io.numaoperator.api.NumaNodeStateStatus.Step;
import io.numaoperator.api.NumaNodeStateStatus.TopologyComparison;
import io.numaoperator.kubelet.Fragments;
import io.numaoperator.topology.TestMachine;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * Stands for the kubelets and agents of many machines, as far as an operator sees them: Nodes that
 * stay Ready, pods that run and end, and NumaNodeStates that tell of attempts. All else is real.
 * Like a real agent, it starts an attempt only on a node that is cordoned for that very attempt.
 */
final class SimulatedNodes implements AutoCloseable {
  private static final Duration VERIFICATION = Duration.ofMillis(300);

  /** Kubernetes takes exactly six digits; an Instant's own words leave zeros out. */
  private static final DateTimeFormatter MICRO_TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private static final Duration HEARTBEAT = Duration.ofSeconds(10);
  private static final int RUNNING_SINCE_SECONDS = 60;

  private final KubernetesClient client;
  private final Map<String, Machine> machines = new ConcurrentHashMap<>();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final SharedIndexInformer<Pod> pods;
  private final SharedIndexInformer<NumaNodeState> states;

  /** What one machine's agent knows. */
  private static final class Machine {
    final NumaNodeStateStatus status = new NumaNodeStateStatus();
    long lastAttempt;
  }

  /**
   * @param operator where the operator's client gets; the machines have one of their own, as in
   *     life
   */
  SimulatedNodes(KubernetesClient operator) {
    client =
        new KubernetesClientBuilder()
            .withHttpClientFactory(new JdkHttpClientFactory())
            .withConfig(operator.getConfiguration())
            .build();
    pods = client.pods().inAnyNamespace().runnableInformer(0);
    pods.addEventHandler(handler(this::live));
    pods.run();
    states = client.resources(NumaNodeState.class).runnableInformer(0);
    states.addEventHandler(handler(this::act));
    states.run();
    threads.execute(this::heartbeats);
  }

  private <T> ResourceEventHandler<T> handler(Consumer<T> action) {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(T object) {
        threads.execute(() -> guarded(() -> action.accept(object)));
      }

      @Override
      public void onUpdate(T old, T object) {
        onAdd(object);
      }

      @Override
      public void onDelete(T object, boolean unknown) {}
    };
  }

  private void guarded(Runnable action) {
    try {
      action.run();
    } catch (KubernetesClientException e) {
      if (e.getCode() != 404 && e.getCode() != 409 && !threads.isShutdown()) {
        violations.add("simulation: " + e.getMessage());
      }
    }
  }

  /** Attempts on this node end RolledBack. */
  void fail(String node) {
    failing.add(node);
  }

  /** They succeed again. */
  void mend(String node) {
    failing.remove(node);
  }

  /** What an agent would have refused, or the simulation could not do. */
  List<String> violations() {
    return violations;
  }

  // ---- machines

  /**
   * @param change of the Node before it is made
   */
  void add(String name, Map<String, String> labels, Consumer<Node> change) {
    var machine = new Machine();
    fillIn(machine.status, name);
    machines.put(name, machine);
    var capacity =
        Map.of(
            "cpu", new Quantity("16"),
            "memory", new Quantity("32Gi"),
            "pods", new Quantity("110"));
    var node =
        new NodeBuilder()
            .withNewMetadata()
            .withName(name)
            .withLabels(labels)
            .addToLabels("kubernetes.io/hostname", name)
            .addToLabels("kubernetes.io/os", "linux")
            .endMetadata()
            .withNewSpec()
            .endSpec()
            .withNewStatus()
            .withCapacity(capacity)
            .withAllocatable(capacity)
            .withNewNodeInfo()
            .withBootID("boot-" + name)
            .withKubeletVersion("v1.36.3")
            .endNodeInfo()
            .addNewCondition()
            .withType("Ready")
            .withStatus("True")
            .withReason("KubeletReady")
            .withLastHeartbeatTime(now())
            .withLastTransitionTime(now())
            .endCondition()
            .endStatus()
            .build();
    change.accept(node);
    leases().resource(lease(name)).create();
    client.resource(node).create();
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static void fillIn(NumaNodeStateStatus status, String name) {
    status.conditions = null; // the operator's
    status.bootId = "boot-" + name;
    status.inventory = TestMachine.zones(2).inventory();
    status.inventory.gpuCount = 0;
    status.inventory.kubelet = new KubeletFacts();
    status.inventory.kubelet.version = "v1.36.3";
    status.inventory.kubelet.service = "kubelet.service";
    status.inventory.kubelet.configFile = "/var/lib/kubelet/config.yaml";
    status.inventory.kubelet.dropInDirectory = "/etc/kubernetes/kubelet.conf.d";
    status.inventory.kubelet.rootDirectory = "/var/lib/kubelet";
    status.inventory.kubelet.pid = 42L;
    status.effective = new EffectiveKubelet();
    status.effective.source = Source.Configz;
    status.effective.pid = 42L;
    status.effective.settings = ownSettings();
    status.stateFiles = stateFiles("none", "None");
    status.containers = new Containers();
    status.topology = new TopologyComparison();
    status.topology.published = true;
  }

  private static KubeletFragment ownSettings() {
    return Fragments.fragment(
        """
        cpuManagerPolicy: none
        memoryManagerPolicy: None
        topologyManagerPolicy: none
        topologyManagerScope: container
        systemReserved: {memory: 200Mi}
        evictionHard: {memory.available: 100Mi}
        enforceNodeAllocatable: [pods]
        """);
  }

  private static StateFiles stateFiles(String cpu, String memory) {
    var files = new StateFiles();
    files.cpuPolicy = cpu;
    files.memoryPolicy = memory;
    return files;
  }

  /** The node lifecycle controller takes a node that does not renew its lease as lost. */
  private void heartbeats() {
    try {
      while (true) {
        Thread.sleep(HEARTBEAT);
        machines.keySet().forEach(name -> threads.execute(() -> guarded(() -> renew(name))));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void renew(String name) {
    leases()
        .resource(lease(name))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"renewTime\": \"%s\"}}".formatted(MICRO_TIME.format(Instant.now())));
  }

  private static Lease lease(String name) {
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withHolderIdentity(name)
        .withLeaseDurationSeconds(40)
        .withRenewTime(Instant.now().truncatedTo(ChronoUnit.MICROS).atZone(ZoneOffset.UTC))
        .endSpec()
        .build();
  }

  private NonNamespaceOperation<Lease, LeaseList, Resource<Lease>> leases() {
    return client.leases().inNamespace("kube-node-lease");
  }

  private static PatchContext applyAs(String manager) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(manager)
        .withForce(true)
        .build();
  }

  // ---- the kubelet: pods run, and end when they are deleted

  private void live(Pod pod) {
    var node = Optional.ofNullable(pod.getSpec().getNodeName());
    if (node.filter(machines::containsKey).isEmpty()) {
      return;
    }
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      client.resource(pod).withGracePeriod(0).delete();
    } else if ("Pending".equals(pod.getStatus().getPhase())) {
      run(pod);
    }
  }

  private void run(Pod pod) {
    var started =
        Instant.now()
            .minusSeconds(RUNNING_SINCE_SECONDS)
            .truncatedTo(ChronoUnit.SECONDS)
            .toString();
    client
        .resource(
            new PodBuilder(pod)
                .editStatus()
                .withPhase("Running")
                .withStartTime(started)
                .withConditions(
                    new PodConditionBuilder().withType("Ready").withStatus("True").build())
                .withContainerStatuses(
                    pod.getSpec().getContainers().stream()
                        .map(c -> running(c.getName(), c.getImage(), started))
                        .toList())
                .endStatus()
                .build())
        .updateStatus();
  }

  private static ContainerStatus running(String name, String image, String since) {
    return new ContainerStatusBuilder()
        .withName(name)
        .withImage(image)
        .withImageID(image)
        .withReady(true)
        .withStarted(true)
        .withNewState()
        .withNewRunning()
        .withStartedAt(since)
        .endRunning()
        .endState()
        .build();
  }

  // ---- the agent: tells what is there, and carries out what is granted

  /** The pods that hold devices or exclusive CPUs from now on. */
  void holders(String node, String... names) {
    var machine = machines.get(node);
    synchronized (machine) {
      machine.status.containers = new Containers();
      machine.status.containers.placed =
          List.of(names).stream().map(SimulatedNodes::placed).toList();
      publish(node, machine);
    }
  }

  /** A pod that its kubelet gave this GPU. */
  void holder(String node, String pod, String gpu) {
    var machine = machines.get(node);
    synchronized (machine) {
      machine.status.containers = new Containers();
      var container = placed(pod);
      container.gpus = List.of(gpu);
      machine.status.containers.placed = List.of(container);
      publish(node, machine);
    }
  }

  private static PlacedContainer placed(String pod) {
    var placed = new PlacedContainer();
    placed.pod = pod;
    placed.container = "main";
    placed.placement = NumaNodeStateStatus.Placement.Aligned;
    return placed;
  }

  private void act(NumaNodeState state) {
    var name = state.getMetadata().getName();
    var machine = machines.get(name);
    if (machine == null) {
      return;
    }
    synchronized (machine) {
      if (state.getStatus() == null || state.getStatus().inventory == null) {
        publish(name, machine);
      }
      var grant = state.getSpec().grant;
      if (grant != null && grant.attempt > machine.lastAttempt) {
        machine.lastAttempt = grant.attempt;
        attempt(state, grant, machine);
      }
    }
  }

  private void attempt(NumaNodeState state, Grant grant, Machine machine) {
    var name = state.getMetadata().getName();
    fences(state, grant, machine).ifPresent(violations::add);
    report(name, machine, grant, Step.Verifying, null);
    Lab.sleep(VERIFICATION);
    if (failing.contains(name)) {
      report(name, machine, grant, Step.Done, Result.RolledBack);
    } else {
      if (Boolean.TRUE.equals(state.getSpec().kubelet.restore)) {
        machine.status.effective.settings = ownSettings();
        machine.status.dropInHash = null;
        machine.status.stateFiles = stateFiles("none", "None");
      } else {
        machine.status.effective.settings = state.getSpec().kubelet.fragment;
        machine.status.dropInHash = grant.hash;
        machine.status.stateFiles = stateFiles("static", "Static");
      }
      report(name, machine, grant, Step.Done, Result.Succeeded);
    }
  }

  /** What would make a real agent refuse. */
  private Optional<String> fences(NumaNodeState state, Grant grant, Machine machine) {
    var node = client.nodes().withName(state.getMetadata().getName()).get();
    var mark =
        Optional.ofNullable(node.getMetadata().getAnnotations())
            .map(a -> a.get(Names.CORDONED_ANNOTATION))
            .orElse("nothing");
    return Boolean.TRUE.equals(node.getSpec().getUnschedulable())
            && mark.equals(state.getSpec().policy + "/" + grant.attempt)
            && Objects.equals(grant.hash, state.getSpec().kubelet.hash)
            && machine.status.containers.placed.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s: granted %d of %s while cordoned for %s"
                .formatted(node.getMetadata().getName(), grant.attempt, grant.hash, mark));
  }

  private void report(String name, Machine machine, Grant grant, Step step, Result result) {
    var attempt = new Attempt();
    attempt.number = grant.attempt;
    attempt.hash = grant.hash;
    attempt.step = step;
    attempt.since = now();
    attempt.result = result;
    attempt.error = result == Result.RolledBack ? "the kubelet's own line" : null;
    machine.status.attempt = attempt;
    publish(name, machine);
  }

  private void publish(String name, Machine machine) {
    var state = new NumaNodeState();
    state.getMetadata().setName(name);
    state.setSpec(null);
    state.setStatus(machine.status);
    client.resource(state).subresource("status").patch(applyAs(Names.AGENT_FIELD_MANAGER));
  }

  @Override
  public void close() {
    machines.keySet().forEach(name -> leases().withName(name).delete());
    pods.close();
    states.close();
    threads.shutdownNow();
    client.close();
  }
}
