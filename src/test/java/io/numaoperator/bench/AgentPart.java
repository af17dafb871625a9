package io.numaoperator.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.numaoperator.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * What the agent costs on one real kubelet of the lab, and how soon it publishes what that kubelet
 * has admitted. The pods ask for memory of the Memory Manager; which of them a NodeResourceTopology
 * counts can be read from the amount alone (see {@link #bytes}).
 */
final class AgentPart {
  private static final String NODE = "bench-1";
  private static final String POLICY = "gpu-nodes";
  private static final String TOPOLOGIES =
      "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies";

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration IDLE = Duration.ofSeconds(45);
  private static final Duration LOOK = Duration.ofMillis(5);
  private static final int MOST_PODS = 110;
  private static final int CONNECTIONS = 8;

  private static final Duration CHURN = Duration.ofSeconds(30);
  private static final Duration EVERY = Duration.ofMillis(100);
  private static final int ALIVE = 10;
  private static final int SLOTS = 24;
  private static final long EACH = 64L << 20;

  private final Report report;
  private final Deadline deadline;

  AgentPart(Path directory, Deadline deadline) {
    this.deadline = deadline;
    report = new Report(directory.resolve("agent.md"), "Agent");
  }

  Report report() {
    return report;
  }

  void run() throws Exception {
    // the operator has to be somewhere while the node is changed
    try (var lab = Lab.up("--nodes", "2", "--name-prefix", "bench-")) {
      lab.install();
      lab.client().resource(Lab.sample()).create();
      deadline.await(LIMIT, "the node is ready", () -> isReady(lab));
      try (var api = new RawApi(lab.client().getConfiguration(), CONNECTIONS)) {
        new Run(lab, api).run();
      }
    }
  }

  private static boolean isReady(Lab lab) {
    return lab.policyCondition(POLICY, "Ready").filter(Lab::isTrue).isPresent();
  }

  /**
   * What the pod of a slot asks for: of the sum of many, the lower bits tell whose are among them.
   */
  private static long bytes(int slot) {
    return EACH + (1L << slot);
  }

  /** One lab. */
  private final class Run {
    private final KubernetesClient client;
    private final Path stateFile;
    private final long pid;
    private final RawApi api;
    private final JsonMapper mapper = new JsonMapper();

    /** UID → when the kubelet wrote that it has the pod, in milliseconds since 1970. */
    private final Map<String, Long> admitted = new ConcurrentHashMap<>();

    /** Slot → since when the published topology counts a pod of it. */
    private final Map<Integer, Long> published = new ConcurrentHashMap<>();

    private final Map<Integer, Long> withdrawn = new ConcurrentHashMap<>();
    private final Map<String, Long> deleted = new ConcurrentHashMap<>();
    private volatile boolean seen;

    Run(Lab lab, RawApi api) throws IOException {
      client = lab.client();
      stateFile = lab.kubeletFile(NODE, "memory_manager_state");
      pid = agent();
      this.api = api;
    }

    void run() throws Exception {
      idle("no pods but the operator's");
      churn();
      fill();
      idle(MOST_PODS + " pods");
    }

    // ---- idle

    private void idle(String what) throws InterruptedException {
      Thread.sleep(Duration.ofSeconds(10));
      var before = Usage.of(pid);
      long began = System.nanoTime();
      Thread.sleep(IDLE);
      var now = Usage.of(pid);
      var elapsed = Duration.ofNanos(System.nanoTime() - began);
      report.put(
          "idle, " + what, "millicores", "%.1f".formatted(1e3 * now.coresSince(before, elapsed)));
      report.put("idle, " + what, "resident memory", OperatorPart.megabytes(now.resident()));
      report.put("idle, " + what, "most so far", OperatorPart.megabytes(now.peak()));
    }

    private void fill() throws Exception {
      int there = onNode().size();
      for (int i = there; i < MOST_PODS; i++) {
        create("idle-" + i, 16L << 20);
      }
      await(MOST_PODS + " pods run", () -> running() == MOST_PODS);
    }

    // ---- pods come and go

    private void churn() throws Exception {
      var delays = new Quantiles();
      var gone = new Quantiles();
      var before = Usage.of(pid);
      long began = System.nanoTime();
      int begun = 0;
      try (var topologies = api.watch(TOPOLOGIES, "", this::topology);
          var pods = api.watch("/api/v1/namespaces/default/pods", "", this::pod);
          var threads = Executors.newVirtualThreadPerTaskExecutor();
          var looks = new Looks()) {
        await("the topology is published", () -> seen);
        var lives = new AtomicInteger();
        for (; System.nanoTime() - began < CHURN.toNanos(); begun++) {
          int slot = begun % SLOTS;
          await("fewer pods", () -> lives.get() < ALIVE && !published.containsKey(slot));
          lives.incrementAndGet();
          var name = "churn-" + begun;
          threads.submit(
              () -> {
                live(name, slot, delays, gone);
                lives.decrementAndGet();
                return null;
              });
          Thread.sleep(EVERY);
        }
        await("the last pods are gone", () -> lives.get() == 0);
      }
      var elapsed = Duration.ofNanos(System.nanoTime() - began);
      var column = "pods come and go";
      report.put(column, "pods per s", "%.1f".formatted(begun * 1e9 / elapsed.toNanos()));
      report.put(column, "admission to published: p50 / p99", told(delays));
      report.put(column, "end to published: p50 / p99", told(gone));
      var now = Usage.of(pid);
      report.put(column, "millicores", "%.1f".formatted(1e3 * now.coresSince(before, elapsed)));
      report.put(
          column,
          "CPU for each pod",
          "%.1f ms".formatted((double) now.cpu().minus(before.cpu()).toMillis() / begun));
      report.put(column, "resident memory", OperatorPart.megabytes(now.resident()));
      report.put(column, "most so far", OperatorPart.megabytes(now.peak()));
    }

    private static String told(Quantiles millis) {
      return "%.0f / %.0f ms of %d".formatted(millis.at(0.5), millis.at(0.99), millis.count());
    }

    /** A pod comes, is published, goes, and is published as gone. */
    private void live(String name, int slot, Quantiles delays, Quantiles gone) throws Exception {
      var uid = create(name, bytes(slot));
      await(name + " is published", () -> published.containsKey(slot) && admitted.containsKey(uid));
      delays.add(Math.max(0, published.get(slot) - admitted.get(uid)));
      client.pods().inNamespace("default").withName(name).withGracePeriod(1).delete();
      await(name + " is gone", () -> deleted.containsKey(uid) && !published.containsKey(slot));
      gone.add(Math.max(0, withdrawn.get(slot) - deleted.get(uid)));
    }

    private void topology(JsonNode event) {
      long now = System.currentTimeMillis();
      long used = 0;
      for (var zone : event.path("object").path("zones")) {
        for (var resource : zone.path("resources")) {
          if (resource.path("name").asText().equals("memory")) {
            used += amount(resource.path("allocatable")) - amount(resource.path("available"));
            seen = true;
          }
        }
      }
      long bits = used % EACH;
      for (int slot = 0; slot < SLOTS; slot++) {
        if ((bits >> slot & 1) == 1) {
          published.putIfAbsent(slot, now);
        } else if (published.remove(slot) != null) {
          withdrawn.put(slot, now);
        }
      }
    }

    private static long amount(JsonNode quantity) {
      return new Quantity(quantity.asText()).getNumericalAmount().longValueExact();
    }

    private void pod(JsonNode event) {
      if (event.path("type").asText().equals("DELETED")) {
        deleted.put(
            event.path("object").path("metadata").path("uid").asText(), System.currentTimeMillis());
      }
    }

    /** Looks at the Memory Manager's state file again and again. */
    private final class Looks implements AutoCloseable {
      private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

      Looks() {
        thread.scheduleWithFixedDelay(this::look, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
      }

      private void look() {
        try {
          long written = Files.getLastModifiedTime(stateFile).toMillis();
          for (var uid : uids()) {
            admitted.putIfAbsent(uid, written);
          }
        } catch (IOException e) {
          // replaced at this very moment
        }
      }

      private Set<String> uids() throws IOException {
        var uids = new HashSet<String>();
        mapper
            .readTree(Files.readString(stateFile))
            .path("entries")
            .fieldNames()
            .forEachRemaining(uids::add);
        return uids;
      }

      @Override
      public void close() {
        thread.shutdownNow();
      }
    }

    // ---- help

    /** Straight to the node: a scheduler would be measured too. */
    private String create(String name, long memory) {
      var pod =
          new PodBuilder()
              .withNewMetadata()
              .withNamespace("default")
              .withName(name)
              .endMetadata()
              .withNewSpec()
              .withNodeName(NODE)
              .withTerminationGracePeriodSeconds(0L)
              .addNewContainer()
              .withName("main")
              .withImage("numa.test/pause:1")
              .withNewResources()
              .addToLimits("cpu", new Quantity("10m"))
              .addToLimits("memory", new Quantity(Long.toString(memory)))
              .endResources()
              .endContainer()
              .endSpec()
              .build();
      return client.resource(pod).create().getMetadata().getUid();
    }

    private List<Pod> onNode() {
      return client.pods().inAnyNamespace().withField("spec.nodeName", NODE).list().getItems();
    }

    private long running() {
      return onNode().stream().filter(pod -> "Running".equals(pod.getStatus().getPhase())).count();
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
      deadline.await(LIMIT, what, condition);
    }

    private static long agent() throws IOException {
      return Usage.pidOf(
              process ->
                  Files.readString(process.resolve("cmdline"))
                          .contains("numaoperator.agent.AgentMain")
                      && Files.readString(process.resolve("environ"))
                          .contains("NODE_NAME=" + NODE + "\0"))
          .orElseThrow(() -> new IllegalStateException("no agent runs for " + NODE));
    }
  }
}
