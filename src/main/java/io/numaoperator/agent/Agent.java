package io.numaoperator.agent;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.numaoperator.api.NumaNodeStateStatus;
import io.numaoperator.api.NumaNodeStateStatus.Attempt;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Loops that know of each other only by the last grant seen and the last report made: observe and
 * publish, watch for grants, carry them out. None waits for another, so that neither a slow API
 * server nor a long verification holds up the rest.
 */
final class Agent {
  private static final Duration IDLE = Duration.ofSeconds(5);
  private static final Duration BUSY = Duration.ofSeconds(2);
  private static final Duration BURST = Duration.ofMillis(150);
  private static final Duration WATCH = Duration.ofMinutes(5);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  private final ApiServer api;
  private final Observer observer;
  private final Supplier<Path> kubeletRoot;
  private final Publisher publisher;
  private final TopologyPublisher topology;
  private final JournalStore store;
  private final AttemptExecutor executor;
  private final LastSeen seen;
  private final Heartbeat heartbeat;
  private final Log log;
  private final Grants grants = new Grants();
  private final ObjectMapper mapper =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
  private final AtomicReference<Optional<JsonNode>> state;
  private final AtomicReference<Optional<Attempt>> attempt;
  private final AtomicReference<Optional<String>> guardFault =
      new AtomicReference<>(Optional.empty());

  /** Whether the API server answered last; an unchanged status asks it nothing. */
  private final AtomicBoolean heard = new AtomicBoolean();

  private final Semaphore wakeObserver = new Semaphore(0);
  private final Semaphore wakeExecutor = new Semaphore(0);

  /**
   * @param kubeletRoot the kubelet's --root-dir as the agent sees it
   */
  Agent(
      String nodeName,
      NodeAccess node,
      Supplier<Path> kubeletRoot,
      Observer observer,
      LastSeen seen,
      Heartbeat heartbeat,
      Log log) {
    this.kubeletRoot = kubeletRoot;
    this.api = node.api();
    this.observer = observer;
    this.publisher = new Publisher(api);
    this.topology = new TopologyPublisher(api, node.time(), nodeName);
    this.store = new JournalStore(node.host());
    this.seen = seen;
    this.heartbeat = heartbeat;
    this.log = log;
    this.state = new AtomicReference<>(Optional.empty());
    this.attempt = new AtomicReference<>(Optional.empty());
    this.executor =
        new AttemptExecutor(node, store, new Guard(node, Guard.PATIENCE), this::reported, log);
  }

  /** Runs until the process ends. */
  void run() throws InterruptedException {
    Thread.ofVirtual().name("executor").start(() -> forever("attempt", this::execute));
    Thread.ofVirtual().name("watch").start(() -> forever("watch", this::watch));
    Thread.ofVirtual()
        .name("topology")
        .start(() -> forever("watch of the topology", this::watchTopology));
    Thread.ofPlatform()
        .daemon()
        .name("kubelet-events")
        .start(() -> forever("watch of the kubelet's files", this::watchKubelet));
    forever("publish", this::observe);
  }

  private interface Round {
    void run() throws IOException, InterruptedException;
  }

  /** An error is told once, not at every repetition, and makes the next rounds come slower. */
  private void forever(String what, Round round) {
    var told = "";
    var pause = Duration.ofSeconds(1);
    try {
      while (true) {
        try {
          round.run();
          told = "";
          pause = Duration.ofSeconds(1);
        } catch (IOException | RuntimeException e) {
          var text = Errors.text(e);
          if (!text.equals(told)) {
            log.warn(what + ": " + text);
            told = text;
          }
          Thread.sleep(pause);
          pause =
              pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                  ? pause.multipliedBy(2)
                  : LONGEST_PAUSE;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void observe() throws IOException, InterruptedException {
    var status = observer.look(this::proofPods);
    wakeExecutor.release();
    var last = lastAttempt();
    status.attempt = last.orElse(null);
    guardFault.get().ifPresent(fault -> addError(status, fault));
    if (state.get().isPresent()) {
      compareTopology(state.get().get(), status);
      publisher.publish(status);
    }
    if (heard.get()) {
      heartbeat.beat();
    }
    boolean busy = last.isPresent() && last.get().result == null;
    pause(wakeObserver, busy ? BUSY : IDLE);
    Thread.sleep(BURST); // an admission writes several files: one look for all
  }

  private Set<String> proofPods() {
    return state.get().map(GrantedProof::of).map(GrantedProof::pods).orElse(Set.of());
  }

  /**
   * What must never be published is that there was no attempt when there was one: its grant would
   * look new. So the journal is asked before the executor has spoken, and where it is lost, what
   * the object said before stays.
   */
  private Optional<Attempt> lastAttempt() throws IOException {
    var none = attempt.get();
    if (none.isEmpty()) {
      var journal = store.load();
      var before = state.get().map(object -> object.path("status").path("attempt"));
      if (journal.isPresent()) {
        attempt.compareAndSet(none, journal.map(Journal::report));
      } else if (before.isPresent() && before.get().isObject()) {
        return Optional.of(mapper.treeToValue(before.get(), Attempt.class));
      }
    }
    return attempt.get();
  }

  /**
   * What cannot be said now stays, with the reason; the rest of the status does not wait for it.
   */
  private void compareTopology(JsonNode state, NumaNodeStateStatus status) {
    var duty = TopologyPublisher.Duty.of(state.path("spec"));
    var report = observer.report();
    var uid = seen.node().map(NodeView::uid);
    if (duty.isEmpty() || report.isEmpty() || uid.isEmpty()) {
      return;
    }
    try {
      status.topology = topology.sync(report.get(), uid.get(), duty.get());
    } catch (IOException e) {
      addError(status, "NodeResourceTopology: " + Errors.text(e));
    }
  }

  private static void addError(NumaNodeStateStatus status, String text) {
    status.agentError = status.agentError == null ? text : status.agentError + "; " + text;
  }

  private void watchTopology() throws IOException, InterruptedException {
    var found = api.topology();
    topology(found);
    var version = found.map(o -> o.path("metadata").path("resourceVersion").asText()).orElse("");
    api.watchTopology(version, WATCH, this::topology);
  }

  private void topology(Optional<JsonNode> found) {
    topology.seen(found);
    wakeObserver.release();
  }

  private void watchKubelet() throws IOException, InterruptedException {
    KubeletEvents.watch(kubeletRoot.get(), wakeObserver::release);
  }

  private void watch() throws IOException, InterruptedException {
    heard.set(false);
    var found = api.state();
    heard.set(true);
    state(found);
    if (found.isEmpty()) {
      Thread.sleep(IDLE);
      return;
    }
    if (publisher.isStale(found.get().path("status"))) {
      wakeObserver.release();
    }
    var version = found.get().path("metadata").path("resourceVersion").asText();
    api.watchState(version, WATCH, this::state);
  }

  private void state(Optional<JsonNode> found) {
    var old = state.getAndSet(found);
    if (!uid(old).equals(uid(found))) {
      publisher.forget();
      wakeObserver.release();
    }
    wakeExecutor.release();
  }

  private static String uid(Optional<JsonNode> object) {
    return object.map(o -> o.path("metadata").path("uid").asText()).orElse("");
  }

  private void execute() throws IOException, InterruptedException {
    executor.resume();
    while (true) {
      guardFault(executor.rest());
      var object = state.get();
      var kubelet = seen.kubelet();
      if (object.isPresent() && kubelet.isPresent()) {
        long last = store.load().map(journal -> journal.granted().attempt()).orElse(0L);
        switch (grants.decide(object.get(), last, kubelet.get())) {
          case Grants.Decision.Nothing() -> {}
          case Grants.Decision.Refuse(var granted, var why) -> executor.refuse(granted, why);
          case Grants.Decision.Go(var granted) -> executor.start(granted);
        }
      }
      pause(wakeExecutor, IDLE);
    }
  }

  /** No reason to let a grant wait: what an attempt needs of the guard it finds out itself. */
  private void guardFault(Optional<String> fault) {
    if (!fault.equals(guardFault.getAndSet(fault))) {
      fault.ifPresent(log::warn);
      wakeObserver.release();
    }
  }

  private void reported(Attempt report) {
    attempt.set(Optional.of(report));
    wakeObserver.release();
  }

  /** Until woken; several wakings in the meantime count as one. */
  private static void pause(Semaphore wake, Duration longest) throws InterruptedException {
    if (wake.tryAcquire(longest.toMillis(), TimeUnit.MILLISECONDS)) {
      wake.drainPermits();
    }
  }
}
