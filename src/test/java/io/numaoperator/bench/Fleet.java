package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.numaoperator.api.Names;
import io.numaoperator.bench.Bodies.Machine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Stands for the kubelets, the agents and the controller manager of many machines, as far as API
 * server and operator see them: Nodes with leases every 10 s and a status every 5 min, agent pods
 * that run, a scheduler's Deployment that is available, NumaNodeStates and NodeResourceTopologies
 * as agents write them, attempts that last as long as one says and fail as often. No kubelet is
 * behind any of it. Like a real agent, it starts an attempt only on a node that is cordoned for
 * that very attempt.
 */
final class Fleet implements AutoCloseable {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration STATUS = Duration.ofMinutes(5);

  /** Of a real agent's, those that last long enough to be told. */
  private static final List<String> STEPS = List.of("Preparing", "Starting", "Verifying");

  private static final String AGENT = Names.AGENT_FIELD_MANAGER;

  private final RawApi api;
  private final Bodies bodies = new Bodies();
  private final NavigableMap<String, Machine> machines = new TreeMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final List<AutoCloseable> watches = new ArrayList<>();
  private final Set<String> states = ConcurrentHashMap.newKeySet();
  private final Set<String> planned = ConcurrentHashMap.newKeySet();
  private final Set<String> ready = ConcurrentHashMap.newKeySet();
  private final Set<String> cordoned = new HashSet<>();
  private final LongAdder succeeded = new LongAdder();
  private final LongAdder rolledBack = new LongAdder();
  private final LongAdder heartbeats = new LongAdder();
  private final AtomicLong lateMillis = new AtomicLong();
  private volatile int mostCordoned;
  private volatile Duration change = Duration.ofMillis(500);
  private volatile double failureRate;
  private volatile Set<String> asWanted = Set.of();

  /** The first one: machines are alike. */
  private final BlockingQueue<JsonNode> plans = new ArrayBlockingQueue<>(1);

  private volatile JsonNode plan = MissingNode.getInstance();

  Fleet(RawApi api, int size) {
    this.api = api;
    for (int i = 0; i < size; i++) {
      var name = "gpu-%04d".formatted(i);
      machines.put(name, new Machine(name));
    }
  }

  // ---- machines

  /** All but the first so many turn out to be as wanted, whatever is wanted of them. */
  void toBeChanged(int count) {
    asWanted = machines.keySet().stream().skip(count).collect(Collectors.toUnmodifiableSet());
  }

  /** Makes Nodes and Leases. */
  void start() {
    atOnce(
        machines.values(),
        machine -> {
          api.create(Bodies.LEASES, bodies.lease(machine.name));
          machine.nodeUid = api.create(Bodies.NODES, bodies.node(machine.name)).field("uid");
        });
    watches.add(api.watch("/api/v1/pods", "&fieldSelector=status.phase%3DPending", this::podSeen));
    watches.add(api.watch(Bodies.STATES, "", this::stateSeen));
    watches.add(api.watch(Bodies.NODES, "", this::nodeSeen));
  }

  /**
   * Keeps them alive from now on. Without a controller manager nobody misses it before, and the 500
   * renewals a second of 5,000 kubelets take an API server on two cores most of one.
   */
  void keepAlive() {
    var all = List.copyOf(machines.values());
    beat(all, LEASE, this::renew);
    beat(all, STATUS, this::report);
  }

  /** Once a period for each machine, spread evenly over it. */
  private void beat(List<Machine> all, Duration period, Consumer<Machine> action) {
    long step = period.toNanos() / all.size();
    threads.execute(
        () -> {
          long due = System.nanoTime();
          for (int i = 0; ; i = (i + 1) % all.size()) {
            due += step;
            try {
              Thread.sleep(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
            } catch (InterruptedException e) {
              return;
            }
            lateMillis.accumulateAndGet((System.nanoTime() - due) / 1_000_000, Math::max);
            var machine = all.get(i);
            threads.execute(() -> guarded(() -> action.accept(machine)));
          }
        });
  }

  private void renew(Machine machine) {
    heartbeats.increment();
    api.send("PATCH", Bodies.LEASES + "/" + machine.name, RawApi.MERGE, bodies.renewal());
  }

  private void report(Machine machine) {
    heartbeats.increment();
    api.must(
        "PATCH",
        Bodies.NODES + "/" + machine.name + "/status",
        RawApi.STRATEGIC,
        bodies.nodeStatus());
  }

  private void guarded(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException e) {
      if (!threads.isShutdown()) {
        violations.add("simulation: " + e);
      }
    }
  }

  /** Does it for each, as many side by side as there are connections; the first failure is told. */
  <T> void atOnce(Collection<T> all, Consumer<T> work) {
    var begun = new ArrayList<Future<?>>();
    all.forEach(one -> begun.add(threads.submit(() -> work.accept(one))));
    try {
      for (var one : begun) {
        one.get();
      }
    } catch (java.util.concurrent.ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  // ---- agents

  /** The scheduler's one replica, of which there is no process here, is available. */
  void schedulerAvailable() {
    api.must(
        "PATCH",
        "/apis/apps/v1/namespaces/numa-operator-system/deployments/numa-scheduler/status",
        RawApi.MERGE,
        "{\"status\":{\"replicas\":1,\"readyReplicas\":1,\"availableReplicas\":1}}");
  }

  /** One agent tells of its machine; returns when it is planned, as the others will be. */
  void startFirstAgent() throws InterruptedException {
    startAgent(machines.firstEntry().getValue(), daemonSet());
    plan = plans.take();
  }

  /** And all the others; those of machines that are as wanted know what is wanted. */
  void startAgents() {
    var daemonSet = daemonSet();
    atOnce(
        machines.values().stream().filter(machine -> !machine.agentRuns).toList(),
        machine -> {
          if (asWanted.contains(machine.name)) {
            synchronized (machine) {
              machine.settings = plan.path("fragment");
              machine.hash = plan.path("hash").asText();
            }
          }
          startAgent(machine, daemonSet);
        });
  }

  /** The DaemonSet's pods are made here. */
  private JsonNode daemonSet() {
    return api.get("/apis/apps/v1/namespaces/numa-operator-system/daemonsets/numa-agent");
  }

  private void startAgent(Machine machine, JsonNode daemonSet) {
    api.create(Bodies.AGENT_PODS, bodies.agentPod(machine.name, daemonSet));
    synchronized (machine) {
      machine.agentRuns = true;
      if (machine.topologyWanted) {
        topology(machine); // and publishes
      } else {
        publish(machine);
      }
    }
  }

  /** A kubelet starts what is bound to its node. */
  private void podSeen(JsonNode event) {
    var meta = event.path("object").path("metadata");
    if (!event.path("type").asText().equals("DELETED")
        && event.path("object").path("spec").has("nodeName")) {
      var path =
          "/api/v1/namespaces/%s/pods/%s"
              .formatted(meta.path("namespace").asText(), meta.path("name").asText());
      threads.execute(
          () -> guarded(() -> api.send("PATCH", path + "/status", RawApi.MERGE, Bodies.running())));
    }
  }

  private void stateSeen(JsonNode event) {
    var object = event.path("object");
    var name = object.path("metadata").path("name").asText();
    if (event.path("type").asText().equals("DELETED")) {
      List.of(states, planned, ready).forEach(set -> set.remove(name));
      return;
    }
    states.add(name);
    var spec = object.path("spec");
    var plan = spec.path("kubelet");
    note(planned, name, plan.has("hash"));
    if (plan.has("hash")) {
      plans.offer(plan);
    }
    note(ready, name, isReady(object));
    if (machines.containsKey(name)) {
      threads.execute(() -> guarded(() -> act(machines.get(name), spec)));
    }
  }

  private static void note(Set<String> set, String name, boolean isIn) {
    if (isIn) {
      set.add(name);
    } else {
      set.remove(name);
    }
  }

  private static boolean isReady(JsonNode state) {
    for (var condition : state.path("status").path("conditions")) {
      if (condition.path("type").asText().equals("AlignmentReady")) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  private void act(Machine machine, JsonNode spec) {
    synchronized (machine) {
      machine.topologyWanted = spec.path("topology").path("publish").asBoolean();
      if (machine.agentRuns && machine.topologyWanted && !machine.topologyPublished) {
        topology(machine);
      }
      var grant = spec.path("grant");
      if (!machine.agentRuns || grant.path("attempt").asLong() <= machine.lastAttempt) {
        return;
      }
      machine.lastAttempt = grant.path("attempt").asLong();
    }
    attempt(machine, spec);
  }

  private void attempt(Machine machine, JsonNode spec) {
    var grant = spec.path("grant");
    fence(machine, spec);
    for (var step : STEPS) {
      tell(machine, grant, step, null);
      try {
        Thread.sleep(change.dividedBy(STEPS.size()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    boolean fails = Math.random() < failureRate;
    synchronized (machine) {
      if (!fails) {
        machine.settings = spec.path("kubelet").path("fragment");
        machine.hash = grant.path("hash").asText();
        topology(machine);
      }
    }
    tell(machine, grant, "Done", fails ? "RolledBack" : "Succeeded");
    (fails ? rolledBack : succeeded).increment();
  }

  /** What would make a real agent refuse. */
  private void fence(Machine machine, JsonNode spec) {
    var grant = spec.path("grant");
    var node = api.get(Bodies.NODES + "/" + machine.name);
    var mark = node.path("metadata").path("annotations").path(Names.CORDONED_ANNOTATION).asText();
    var wanted = spec.path("policy").asText() + "/" + grant.path("attempt").asLong();
    if (!node.path("spec").path("unschedulable").asBoolean()
        || !mark.equals(wanted)
        || !grant.path("hash").equals(spec.path("kubelet").path("hash"))) {
      violations.add(
          "%s: granted %s while cordoned for %s, planned %s"
              .formatted(machine.name, grant, mark, spec.path("kubelet").path("hash").asText()));
    }
  }

  private void tell(Machine machine, JsonNode grant, String step, String result) {
    synchronized (machine) {
      machine.attempt = bodies.attempt(grant, step, result);
      publish(machine);
    }
  }

  private void topology(Machine machine) {
    if (!machine.topologyWanted) {
      return;
    }
    mustApply(
        Bodies.TOPOLOGIES + "/" + machine.name, bodies.topology(machine, machine.settings != null));
    if (!machine.topologyPublished) {
      machine.topologyPublished = true;
      publish(machine);
    }
  }

  /** The node lifecycle controller takes the taint of new Nodes away once they are Ready. */
  void takeIntoService() {
    atOnce(
        machines.values(),
        machine ->
            api.must(
                "PATCH",
                Bodies.NODES + "/" + machine.name,
                RawApi.MERGE,
                "{\"spec\":{\"taints\":null}}"));
  }

  /** As of machines whose kubelets align pods already; no agent tells of them. */
  void publishStrictTopologies() {
    atOnce(
        machines.values(),
        machine ->
            mustApply(Bodies.TOPOLOGIES + "/" + machine.name, bodies.topology(machine, true)));
  }

  private void publish(Machine machine) {
    mustApply(Bodies.STATES + "/" + machine.name + "/status", bodies.state(machine.name, machine));
  }

  private void mustApply(String path, String body) {
    var answer = api.apply(path, AGENT, body);
    if (!answer.ok() && answer.code() != 404) {
      throw new IllegalStateException(path + ": HTTP " + answer.code() + " " + answer.text());
    }
  }

  /** A machine's agent sees that its NodeResourceTopology is gone, or there again. */
  void showTopology(String name, boolean published) {
    var machine = machines.get(name);
    synchronized (machine) {
      machine.topologyHidden = !published;
      publish(machine);
    }
  }

  /**
   * @param duration of a kubelet's change and its verification
   * @param failing share of attempts that end RolledBack
   */
  void attempts(Duration duration, double failing) {
    change = duration;
    failureRate = failing;
  }

  // ---- what was seen

  private void nodeSeen(JsonNode event) {
    var name = event.path("object").path("metadata").path("name").asText();
    synchronized (cordoned) {
      note(
          cordoned,
          name,
          !event.path("type").asText().equals("DELETED")
              && event.path("object").path("spec").path("unschedulable").asBoolean());
      mostCordoned = Math.max(mostCordoned, cordoned.size());
    }
  }

  /** The most nodes that were out of service at any moment since it was last asked. */
  int mostCordoned() {
    synchronized (cordoned) {
      int most = mostCordoned;
      mostCordoned = cordoned.size();
      return most;
    }
  }

  int states() {
    return states.size();
  }

  int planned() {
    return planned.size();
  }

  int ready() {
    return ready.size();
  }

  int cordoned() {
    synchronized (cordoned) {
      return cordoned.size();
    }
  }

  long succeeded() {
    return succeeded.sum();
  }

  long rolledBack() {
    return rolledBack.sum();
  }

  long heartbeats() {
    return heartbeats.sum();
  }

  /** By how many ms the simulation was late at worst since it was last asked. */
  long late() {
    return lateMillis.getAndSet(0);
  }

  /** What an agent would have refused, or the simulation could not do. */
  List<String> violations() {
    return violations;
  }

  Collection<Machine> machines() {
    return machines.values();
  }

  Bodies bodies() {
    return bodies;
  }

  @Override
  public void close() throws Exception {
    threads.shutdownNow();
    for (var watch : watches) {
      watch.close();
    }
  }
}
