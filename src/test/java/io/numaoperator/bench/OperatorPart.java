package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** What the operator costs, and how fast it is, for one number of nodes after the other. */
final class OperatorPart {
  private static final Duration LIMIT = Duration.ofMinutes(8);
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** The others are as wanted already: what a change costs is the same for each. */
  private static final int CHANGED = 200;

  /** Of many: there the API server has no core left beside the leases, and each takes seconds. */
  private static final int CHANGED_OF_MANY = 50;

  /**
   * With more, planning all of them anew takes minutes, and the budget is the limit all the same.
   */
  private static final int SECOND_ROLLOUT = 100;

  private static final int CHANGES = 20;

  /** Passes over more take long enough to do each thing half as often. */
  private static final int MANY = 1_000;

  /** So many times as long as the last change took to be told nothing happens. */
  private static final int QUIET = 3;

  private static final String POLICY = "gpu-nodes";

  private final Report report;
  private final Path directory;
  private final String options;
  private final Deadline deadline;
  private final List<String> wrong = new ArrayList<>();

  /**
   * @param directory for tables and logs
   * @param options of the operator's JVM, beside its own
   */
  OperatorPart(Path directory, String options, Deadline deadline) {
    this.deadline = deadline;
    this.directory = directory;
    this.options = options;
    report = new Report(directory.resolve("operator.md"), "Operator");
  }

  /** All that was not as it must be. */
  List<String> wrong() {
    return wrong;
  }

  Report report() {
    return report;
  }

  void run(int size) throws Exception {
    try (var cluster = BenchCluster.start(directory.resolve("operator-" + size));
        var fleet = new Fleet(cluster.api(), size)) {
      new Run(size, cluster, fleet).run();
    }
  }

  /** One number of nodes. */
  private final class Run {
    private final int size;
    private final int changed;
    private final String column;
    private final BenchCluster cluster;
    private final Fleet fleet;
    private final RawApi api;

    Run(int size, BenchCluster cluster, Fleet fleet) {
      this.size = size;
      this.changed = Math.min(size, size > MANY ? CHANGED_OF_MANY : CHANGED);
      this.column = String.format(Locale.ROOT, "%,d", size);
      this.cluster = cluster;
      this.fleet = fleet;
      this.api = cluster.api();
    }

    void run() throws Exception {
      fleet.toBeChanged(changed);
      fleet.start();
      var bare = bareClient();
      try (var watch = new PolicyWatch(api)) {
        try (var operator = cluster.operator(options)) {
          put("operator: start to ready, no policy", seconds(operator.startToReady()));
          claim(operator, bare);
          fleet.schedulerAvailable();
          fleet.startFirstAgent();
        }
        fleet.startAgents();
        try (var operator = cluster.operator(options)) {
          judge(operator);
          fleet.keepAlive();
          fastRollout(operator, watch);
          idle(operator);
          changes(watch);
          if (size <= SECOND_ROLLOUT) {
            limitedRollout(operator, watch);
          }
          put("operator: most memory so far (VmHWM)", megabytes(operator.usage().peak()));
        }
        restart(watch);
      }
      fleet.violations().stream().limit(5).forEach(this::fail);
    }

    // ---- the limit, and how near the operator comes

    /** The writes that the operator makes first, by a client that does nothing else. */
    private Duration bareClient() throws InterruptedException {
      long began = System.nanoTime();
      fleet.atOnce(
          fleet.machines(),
          machine -> {
            var answer =
                api.apply(
                    Bodies.STATES + "/" + machine.name,
                    "bare-client",
                    fleet.bodies().claim(machine.name, machine.nodeUid, "none"));
            if (!answer.ok()) {
              throw new IllegalStateException(answer.text());
            }
          });
      var took = Duration.ofNanos(System.nanoTime() - began);
      await("the bare client's objects are seen", () -> fleet.states() == size);
      api.delete(Bodies.STATES);
      await("the bare client's objects are gone", () -> fleet.states() == 0);
      return took;
    }

    private void claim(OperatorProcess operator, Duration bare) throws Exception {
      var meter = new Meter(operator);
      api.create(PolicyWatch.POLICIES, policy());
      await("every NumaNodeState written", () -> fleet.states() == size);
      var took = meter.elapsed();
      put("apply to every NumaNodeState written: bare client", seconds(bare));
      put("apply to every NumaNodeState written: operator", seconds(took));
      put("ratio", "%.2f".formatted((double) took.toNanos() / bare.toNanos()));
      put("cores meanwhile: API server and etcd / operator / simulation", meter.cores());
    }

    /**
     * The agents have told of their machines while there was no operator, which has a day's work
     * before it. The rollout is paused: plans and conditions alone.
     */
    private void judge(OperatorProcess operator) throws Exception {
      put("start to ready, all nodes new", seconds(operator.startToReady()));
      var meter = new Meter(operator);
      await("every node planned", () -> fleet.planned() == size);
      put("all nodes new: then until each is planned", seconds(meter.elapsed()));
      await("every node judged", () -> fleet.ready() == size - changed);
      put("all nodes new: and until each is judged", seconds(meter.elapsed()));
      put("all nodes new: cores: API server and etcd / operator / simulation", meter.cores());
      cluster.settle();
    }

    // ---- rollouts

    private void fastRollout(OperatorProcess operator, PolicyWatch watch) throws Exception {
      fleet.attempts(Duration.ofMillis(300), 0);
      fleet.mostCordoned();
      cluster.audit().next();
      var meter = new Meter(operator);
      api.must(
          "PATCH",
          PolicyWatch.POLICIES + "/" + POLICY,
          RawApi.MERGE,
          "{\"metadata\":{\"annotations\":{\"numaoperator.io/paused\":null}}}");
      status(watch, "not all nodes got ready", PolicyWatch.ready(size));
      var took = meter.elapsed();
      int budget = budget();
      int most = fleet.mostCordoned();
      if (most > budget) {
        fail("%d nodes were out of service at once, allowed were %d".formatted(most, budget));
      }
      put(
          "rollout over 50 to 200 nodes, 10 % of them at a time, change takes 0.3 s: nodes per s",
          "%.1f".formatted(changed * 1e9 / took.toNanos()));
      put("most out of service at once / allowed", most + " / " + budget);
      put("rollout, cores: API server and etcd / operator / simulation", meter.cores());
      put(
          "rollout: the operator's requests for each node",
          told(cluster.audit().next(), 1.0 / changed));
      await("all back in service", () -> fleet.cordoned() == 0);
      cluster.settle();
    }

    /** With failures, and long changes: the budget is what limits it. */
    private void limitedRollout(OperatorProcess operator, PolicyWatch watch) throws Exception {
      int budget = 5;
      var change = Duration.ofSeconds(3);
      var window = Duration.ofSeconds(30);
      fleet.attempts(change, 0.02);
      fleet.mostCordoned();
      long before = ended();
      api.must(
          "PATCH",
          PolicyWatch.POLICIES + "/" + POLICY,
          RawApi.MERGE,
          """
          {"spec":{"kubelet":{"topologyManager":{"scope":"Container"}},"rollout":{"maxUnavailable":%d,"pauseOnFailure":false}}}"""
              .formatted(budget));
      await("the first nodes of the second rollout", () -> ended() - before >= budget);
      long counted = ended();
      long began = System.nanoTime();
      while (ended() - before < changed && System.nanoTime() - began < window.toNanos()) {
        Thread.sleep(20);
      }
      double elapsed = (System.nanoTime() - began) / 1e9;
      long nodes = ended() - counted;
      double ideal = budget / (change.toMillis() / 1e3);
      put(
          "rollout, 5 at a time, change takes 3 s: of what the budget allows",
          "%.0f %%".formatted(100 * nodes / elapsed / ideal));
      int most = fleet.mostCordoned();
      if (most > budget) {
        fail("%d nodes were out of service at once, allowed were %d".formatted(most, budget));
      }
      pause(true);
      await("what was begun is ended", () -> fleet.cordoned() == 0);
      cluster.settle();
      long failed = fleet.rolledBack();
      status(
          watch,
          failed + " attempts failed, the policy counts otherwise",
          s -> s.path("nodes").path("failed").asLong() == failed);
    }

    private int budget() {
      return Math.max(1, changed / 10);
    }

    private long ended() {
      return fleet.succeeded() + fleet.rolledBack();
    }

    private void pause(boolean paused) {
      api.must(
          "PATCH",
          PolicyWatch.POLICIES + "/" + POLICY,
          RawApi.MERGE,
          "{\"metadata\":{\"annotations\":{\"numaoperator.io/paused\":\"%s\"}}}".formatted(paused));
    }

    // ---- nothing changes

    private void idle(OperatorProcess operator) throws Exception {
      cluster.settle();
      var traffic = new Traffic(operator.pid());
      long bytes = traffic.look();
      cluster.audit().next();
      long beats = fleet.heartbeats();
      fleet.late();
      var meter = new Meter(operator);
      long resident = 0;
      while (meter.elapsed().compareTo(IDLE) < 0) {
        Thread.sleep(Duration.ofSeconds(5));
        traffic.look();
        resident = Math.max(resident, operator.usage().resident());
      }
      var requests = cluster.audit().next();
      double perHour = 3600e9 / meter.elapsed().toNanos();
      put("idle: cores", "%.3f".formatted(meter.operatorCores()));
      put("idle: resident memory", megabytes(resident));
      put("idle: requests per hour", "%.0f".formatted(requests.total() * perHour));
      put("idle: of these, not its own lease", told(requests, perHour));
      put(
          "idle: bytes per hour, mostly Nodes' status every 5 min",
          megabytes((long) ((traffic.look() - bytes) * perHour)));
      put(
          "requests because of heartbeats",
          "%d of %,d".formatted(BenchCluster.writes(requests), fleet.heartbeats() - beats));
      put("simulation late by at most", fleet.late() + " ms");
    }

    private String told(AuditLog.Requests requests, double times) {
      var rest = new TreeMap<>(requests.byKind());
      rest.remove("update leases");
      rest.remove("patch leases");
      rest.remove("get leases");
      var text = new StringBuilder();
      for (Map.Entry<String, Integer> kind : rest.entrySet()) {
        text.append(text.isEmpty() ? "" : ", ")
            .append(
                (times < 1 ? "%.1f × %s" : "%.0f × %s")
                    .formatted(kind.getValue() * times, kind.getKey()));
      }
      return text.isEmpty() ? "none" : text.toString();
    }

    // ---- one node changes

    private void changes(PolicyWatch watch) throws Exception {
      var millis = new Quantiles();
      var names = fleet.machines().stream().map(m -> m.name).toList();
      int changes = size > MANY ? CHANGES / 2 : CHANGES;
      for (int i = 0; i < changes; i++) {
        var name = names.get((int) ((long) i * size / changes));
        for (boolean there : List.of(false, true)) {
          long began = System.nanoTime();
          fleet.showTopology(name, there);
          long seen =
              status(
                  watch,
                  "a change of " + name + " is not told",
                  there ? PolicyWatch.ready(size) : s -> PolicyWatch.namesNotReady(s, name));
          millis.add((seen - began) / 1e6);
          // one change after a quiet time, not the next one on the heels of the last
          Thread.sleep(Math.max(200, QUIET * (seen - began) / 1_000_000));
        }
      }
      put(
          "a node's change to the policy's status: p50 / p99 of %d".formatted(2 * changes),
          "%.0f / %.0f ms".formatted(millis.at(0.5), millis.at(0.99)));
    }

    // ---- a new leader

    private void restart(PolicyWatch watch) throws Exception {
      cluster.audit().next();
      var before = watch.status();
      try (var operator = cluster.operator(options)) {
        put("start to ready, all nodes there", seconds(operator.startToReady()));
        var meter = new Meter(operator);
        cluster.settle();
        put("cores until quiet after a start", meter.cores());
        var usage = operator.usage();
        put(
            "memory after a start: now / most",
            megabytes(usage.resident()) + " / " + megabytes(usage.peak()));
        if (!before.path("nodes").equals(watch.status().path("nodes"))) {
          fail("a restart changed " + before.path("nodes") + " to " + watch.status().path("nodes"));
        }
      }
    }

    // ---- help

    private String policy() {
      return """
      {"apiVersion":"numaoperator.io/v1alpha1","kind":"NumaPolicy",
      "metadata":{"name":"%s","annotations":{"numaoperator.io/paused":"true"}},
      "spec":{"mode":"Enforce","nodeSelector":{"matchLabels":{"nvidia.com/gpu.present":"true"}},
      "kubelet":{"topologyManager":{"policy":"SingleNUMANode","scope":"Pod"}},
      "topologyUpdater":{"provider":"BuiltIn"},"scheduler":{"provider":"BuiltIn"},
      "rollout":{"maxUnavailable":%d,"verification":{"window":"5s","proofPod":false}}}}
      """
          .formatted(POLICY, budget());
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
      deadline.await(LIMIT, what, condition);
    }

    /** A status that must come; whoever waits for one has no other result. */
    private long status(PolicyWatch watch, String what, Predicate<JsonNode> wanted)
        throws InterruptedException {
      var patience = deadline.atMost(LIMIT);
      var seen = watch.await(patience, wanted);
      if (seen.isEmpty() && patience.compareTo(LIMIT) < 0) {
        throw new Deadline.OutOfTimeException(what);
      }
      return seen.orElseThrow(() -> new WrongException(what + ": " + watch.status()));
    }

    private void put(String line, String value) {
      report.put(column + " nodes", line, value);
    }

    private void fail(String what) {
      wrong.add(size + " nodes: " + what);
    }

    /** Time and CPU from its making on. */
    private final class Meter {
      private final OperatorProcess operator;
      private final long began = System.nanoTime();
      private final Usage operatorBefore;
      private final Usage serverBefore;
      private final Usage etcdBefore;
      private final Usage selfBefore;

      Meter(OperatorProcess operator) throws IOException {
        this.operator = operator;
        operatorBefore = operator.usage();
        serverBefore = cluster.usage("kube-apiserver");
        etcdBefore = cluster.usage("etcd");
        selfBefore = self();
      }

      private static Usage self() {
        return Usage.of(ProcessHandle.current().pid());
      }

      Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - began);
      }

      double operatorCores() {
        return operator.usage().coresSince(operatorBefore, elapsed());
      }

      String cores() throws IOException {
        var elapsed = elapsed();
        return "%.2f / %.2f / %.2f"
            .formatted(
                cluster.usage("kube-apiserver").coresSince(serverBefore, elapsed)
                    + cluster.usage("etcd").coresSince(etcdBefore, elapsed),
                operatorCores(),
                self().coresSince(selfBefore, elapsed));
      }
    }
  }

  static String seconds(Duration time) {
    return "%.2f s".formatted(time.toMillis() / 1e3);
  }

  static String megabytes(long bytes) {
    return "%.0f MB".formatted(bytes / 1e6);
  }

  /** A result that the rest of a run cannot go on with. */
  static final class WrongException extends RuntimeException {
    WrongException(String message) {
      super(message);
    }
  }
}
