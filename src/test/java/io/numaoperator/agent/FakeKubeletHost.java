package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.numaoperator.api.Names;
import io.numaoperator.topology.CpuSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Stands for a node: its disk, its systemd, a kubelet that behaves as facts/kubelet.md says (merges
 * the drop-in, refuses state files of another policy after it has come up, gets its devices back
 * some seconds later, writes its state files while it runs), and the API server. Time passes only
 * while somebody sleeps. The guard is the real one: guard.sh runs at each start of the kubelet for
 * which systemd has loaded it.
 *
 * <p>Every change that the agent makes is one action. The agent can be made to die before any of
 * them, which is after the one before; that is an Error, which nothing may catch.
 */
final class FakeKubeletHost
    implements KubeletHost, ServiceManager, PodResources, KubeletApi, ApiServer, Time {
  static final String UNIT = "kubelet.service";
  static final String ROOT = "/var/lib/kubelet";
  static final String MAIN_FILE = ROOT + "/config.yaml";
  static final String CPU_STATE = ROOT + "/cpu_manager_state";
  static final String MEMORY_STATE = ROOT + "/memory_manager_state";
  static final String DROP_IN_DIRECTORY = "/etc/kubernetes/kubelet.conf.d";
  static final String DROP_IN = DROP_IN_DIRECTORY + "/" + Names.DROP_IN_FILE;
  private static final Duration UP = Duration.ofMillis(400);
  private static final Duration DEVICES_BACK = Duration.ofSeconds(3);
  private static final Duration RESTART_DELAY = Duration.ofSeconds(10);

  /** The agent dies here. */
  static final class AgentDied extends Error {
    private static final long serialVersionUID = 1L;
  }

  final Map<String, byte[]> files = new TreeMap<>();
  final List<String> actions = new ArrayList<>();
  final Map<String, Instant> modified = new TreeMap<>();
  final Set<String> directories = new TreeSet<>(Set.of(DROP_IN_DIRECTORY));
  final List<Container> containers = new ArrayList<>();
  final ObjectMapper json = new ObjectMapper();

  /** The attempt that the operator proves, its verdict (empty: none yet), and the pods. */
  long proofOf = 3;

  String verdict = "";
  Set<String> proofPods = Set.of();

  Instant now = Instant.parse("2026-01-01T00:00:00Z");
  String bootId = "boot-1";
  String version = "v1.36.3";
  Optional<String> cordonedFor = Optional.empty();
  boolean apiAway;

  /** What its condition Ready says while it is not True. */
  Optional<String> notReady = Optional.empty();

  Set<String> unwritable = Set.of();
  int devices = 4;

  /** Dies before the action of this number, with all before it done; negative: never. */
  int diesAt = -1;

  /** Restart= of the unit: whether systemd starts a kubelet that crashed. */
  boolean restartsItself = true;

  /** last-words.sh finds no journalctl. */
  boolean journalUnreadable;

  /** A systemd that does not load drop-ins. */
  boolean ignoresDropIns;

  /** Runs before the agent changes a file. */
  Runnable onAction = () -> {};

  /** What happens at a time; used to bring the API server back, or the kubelet down. */
  final TreeMap<Instant, Runnable> events = new TreeMap<>();

  /** A configuration with which the kubelet exits: the reason, or empty. */
  java.util.function.Function<JsonNode, Optional<String>> refuses = config -> Optional.empty();

  /** What the kubelet makes of its configuration beside what it was told. */
  Consumer<ObjectNode> quirk = config -> {};

  private static final String GUARD = GuardFiles.dropIn(UNIT);

  /** Whether the kubelet's own command has --config-dir. */
  boolean hasDirectory = true;

  /** The unit drop-in that systemd has read; null for none. */
  private byte[] reloaded;

  private boolean guardLoaded;
  private boolean timerActive;
  private Instant inactiveSince = Instant.MAX;
  private String activeState = "inactive";
  private String subState = "dead";
  private long pid;
  private long lastPid = 1000;
  private long restarts;
  private Instant startedAt = Instant.MIN;
  private Instant restartAt = Instant.MAX;
  private ObjectNode running;
  private Instant reported = Instant.MIN;

  FakeKubeletHost() {
    var main = json.createObjectNode();
    main.put("cpuManagerPolicy", "none").put("memoryManagerPolicy", "None");
    main.put("topologyManagerPolicy", "none").put("topologyManagerScope", "container");
    main.put("maxPods", 110).put("kind", "KubeletConfiguration");
    files.put(MAIN_FILE, main.toString().getBytes(UTF_8));
    files.put("/run/dbus/system_bus_socket", new byte[0]);
    files.put(KubeletLog.FILE, "I0101 00:00:00.000000 1 server.go:1] \"start\"\n".getBytes(UTF_8));
    launch();
    sleep(Duration.ofSeconds(30));
  }

  NodeAccess access() {
    return new NodeAccess(this, this, this, this, this, this);
  }

  // ---- the kubelet

  private void launch() {
    guard();
    activeState = "active";
    subState = "running";
    pid = ++lastPid;
    startedAt = now;
    restartAt = Instant.MAX;
    running = (ObjectNode) yaml(MAIN_FILE);
    if (files.containsKey(DROP_IN) && mergesDropIns()) {
      var dropIn = (ObjectNode) yaml(DROP_IN);
      dropIn.remove(List.of("apiVersion", "kind"));
      running.setAll(dropIn);
    }
    quirk.accept(running);
  }

  private void guard() {
    if (!guardLoaded) {
      return;
    }
    // Wants= of the drop-in, and the timer's condition
    timerActive |= files.containsKey(GuardFiles.ARMED);
    if (files.containsKey(GuardFiles.SCRIPT)) {
      GuardRun.on(files, bootId, List.of("sh"));
    }
  }

  /** Whether a start of the kubelet has --config-dir, by what systemd has read. */
  boolean mergesDropIns() {
    return hasDirectory || reloaded != null;
  }

  private JsonNode yaml(String file) {
    try {
      return new YAMLMapper().readTree(files.get(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The kubelet ends by itself. */
  void crash(String line) {
    var error = "E0101 00:00:00.000000 %d run.go:74] %s".formatted(pid, line);
    log(error);
    if (guardLoaded && !journalUnreadable) {
      files.put(GuardFiles.LAST_WORDS, (error + "\n").getBytes(UTF_8)); // by ExecStopPost=
    }
    activeState = restartsItself ? "activating" : "failed";
    subState = restartsItself ? "auto-restart" : "failed";
    pid = 0;
    restartAt = restartsItself ? now.plus(RESTART_DELAY) : Instant.MAX;
    inactiveSince = restartsItself ? Instant.MAX : now;
  }

  private void log(String line) {
    if (!files.containsKey(KubeletLog.FILE)) {
      return;
    }
    var log = new String(files.get(KubeletLog.FILE), UTF_8) + line + "\n";
    files.put(KubeletLog.FILE, log.getBytes(UTF_8));
  }

  /** systemd and the kubelet do what is due. */
  private void live() {
    while (!events.isEmpty() && !events.firstKey().isAfter(now)) {
      events.pollFirstEntry().getValue().run();
    }
    if (pid == 0 && !now.isBefore(restartAt)) {
      restarts++;
      launch();
    }
    // OnUnitInactiveSec=
    if (timerActive && inactive() && !now.minus(Guard.PATIENCE).isBefore(inactiveSince)) {
      restarts = 0;
      launch();
    }
    if (pid == 0 || now.isBefore(startedAt.plus(UP))) {
      return;
    }
    var refusal = refuses.apply(running).or(this::stateFault);
    if (refusal.isPresent()) {
      crash(refusal.get());
      return;
    }
    files.putIfAbsent(CPU_STATE, stateFile("cpuManagerPolicy"));
    files.putIfAbsent(MEMORY_STATE, stateFile("memoryManagerPolicy"));
    if (!apiAway && reported.isBefore(startedAt)) {
      reported = now;
    }
  }

  private boolean inactive() {
    return activeState.equals("inactive") || activeState.equals("failed");
  }

  private byte[] stateFile(String field) {
    return "{\"policyName\":\"%s\",\"boot\":\"%s\"}"
        .formatted(running.path(field).asText(), bootId)
        .getBytes(UTF_8);
  }

  /** pkg/kubelet/cm/{cpumanager,memorymanager}/state/state_checkpoint.go, restoreState. */
  private Optional<String> stateFault() {
    return stateFault(CPU_STATE, "cpuManagerPolicy")
        .or(() -> stateFault(MEMORY_STATE, "memoryManagerPolicy"));
  }

  private Optional<String> stateFault(String file, String field) {
    if (!files.containsKey(file)) {
      return Optional.empty();
    }
    var state = new String(files.get(file), UTF_8);
    var policy = running.path(field).asText();
    if (!state.contains("\"policyName\":\"" + policy + "\"")) {
      return Optional.of(
          "\"Failed to start ContainerManager\" err=\"configured policy \\\"%s\\\" differs from state checkpoint\""
              .formatted(policy));
    }
    return policy.equals("Static") && !state.contains(bootId + "\"")
        ? Optional.of(
            "\"Failed to start ContainerManager\" err=\"the expected machine state is different from the real one\"")
        : Optional.empty();
  }

  /** The node goes down and comes up again; systemd starts the kubelet with what is on the disk. */
  void reboot() {
    bootId = "boot-2";
    restarts = 0;
    pid = 0;
    timerActive = false;
    files.keySet().removeIf(path -> path.startsWith(GuardRun.BOOT_MARKS));
    readUnits();
    launch();
    sleep(Duration.ofMinutes(2));
  }

  private void readUnits() {
    guardLoaded = files.containsKey(GUARD) && !ignoresDropIns;
    reloaded = files.get(UnitDropIn.path(UNIT));
  }

  boolean kubeletWell() {
    return activeState.equals("active")
        && !now.isBefore(startedAt.plus(UP))
        && stateFault().isEmpty();
  }

  JsonNode runningConfig() {
    return running;
  }

  // ---- what the agent does

  private void action(String what, Runnable change) {
    boolean dies = actions.size() == diesAt;
    actions.add(what);
    if (dies) {
      throw new AgentDied();
    }
    change.run();
  }

  @Override
  public String bootId() {
    return bootId;
  }

  @Override
  public Optional<byte[]> read(String path) {
    return Optional.ofNullable(files.get(path));
  }

  @Override
  public void write(String path, byte[] bytes) throws IOException {
    mayWrite(path);
    action(
        "write " + path,
        () -> {
          files.put(path, bytes);
          modified.put(path, now);
        });
  }

  @Override
  public void delete(String path) throws IOException {
    mayWrite(path);
    action("delete " + path, () -> files.remove(path));
  }

  private void mayWrite(String path) throws IOException {
    onAction.run();
    if (unwritable.contains(path)) {
      throw new IOException(path + ": No space left on device");
    }
    if (pid != 0 && (path.equals(CPU_STATE) || path.equals(MEMORY_STATE))) {
      throw new AssertionError(path + " is changed while the kubelet runs");
    }
  }

  @Override
  public boolean isDirectory(String path) {
    return directories.contains(path)
        || files.keySet().stream().anyMatch(file -> file.startsWith(path + "/"));
  }

  @Override
  public void makeDirectory(String path) {
    if (!isDirectory(path)) {
      action("mkdir " + path, () -> directories.add(path));
    }
  }

  @Override
  public List<String> list(String directory) {
    return files.keySet().stream()
        .filter(file -> file.startsWith(directory + "/"))
        .map(file -> file.substring(directory.length() + 1).split("/")[0])
        .distinct()
        .sorted()
        .toList();
  }

  @Override
  public Optional<Instant> modified(String path) {
    return files.containsKey(path)
        ? Optional.of(modified.getOrDefault(path, Instant.EPOCH))
        : Optional.empty();
  }

  @Override
  public List<String> execStart(String unit) {
    return unit.equals(UNIT) ? List.of("/usr/bin/kubelet", "$KUBELET_ARGS") : List.of();
  }

  @Override
  public long size(String path) {
    return files.getOrDefault(path, new byte[0]).length;
  }

  @Override
  public String tail(String path, long offset) {
    var text = new String(files.getOrDefault(path, new byte[0]), UTF_8);
    return text.substring((int) Math.min(offset, text.length()));
  }

  @Override
  public Optional<UnitState> state(String unit) {
    live();
    return unit.equals(UNIT)
        ? Optional.of(new UnitState(activeState, subState, pid, restarts, "success"))
        : Optional.empty();
  }

  @Override
  public void stop(String unit) {
    if (unit.equals(GuardFiles.TIMER)) {
      action("stop timer", () -> timerActive = false);
      return;
    }
    action(
        "stop",
        () -> {
          inactiveSince = inactive() ? inactiveSince : now;
          activeState = "inactive";
          subState = "dead";
          pid = 0;
          restartAt = Instant.MAX;
        });
  }

  @Override
  public void start(String unit) {
    if (unit.equals(GuardFiles.TIMER)) {
      boolean condition = files.containsKey(GuardFiles.ARMED);
      action("start timer", () -> timerActive = condition);
      return;
    }
    action(
        "start",
        () -> {
          if (pid == 0) {
            restarts = 0;
            launch();
          }
        });
  }

  @Override
  public boolean active(String unit) {
    return timerActive && unit.equals(GuardFiles.TIMER);
  }

  @Override
  public List<String> dropIns(String unit) {
    return guardLoaded ? List.of(GUARD) : List.of();
  }

  @Override
  public void reload() {
    action("reload", this::readUnits);
  }

  // ---- the kubelet's and the API server's interfaces

  @Override
  public List<Container> list() throws IOException {
    requireUp();
    return containers;
  }

  @Override
  public Allocatable allocatable() throws IOException {
    requireUp();
    var list = new ArrayList<Device>();
    if (!now.isBefore(startedAt.plus(DEVICES_BACK))) {
      for (int i = 0; i < devices; i++) {
        list.add(new Device("nvidia.com/gpu", "gpu-" + i, Set.of(i / 2)));
      }
    }
    return new Allocatable(list, CpuSet.EMPTY, List.of());
  }

  private void requireUp() throws IOException {
    live();
    if (pid == 0 || now.isBefore(startedAt.plus(UP))) {
      throw new IOException("connection refused");
    }
  }

  @Override
  public Configz configz() {
    try {
      requireUp();
    } catch (IOException e) {
      return new Configz.Unreachable(e.getMessage());
    }
    return apiAway ? new Configz.Denied("HTTP 401") : new Configz.Live(running.deepCopy());
  }

  @Override
  public NodeView node() throws IOException {
    live();
    requireApi();
    return new NodeView(
        "uid-1",
        version,
        Optional.of("10.0.0.1"),
        10250,
        cordonedFor.isPresent(),
        cordonedFor,
        notReady,
        reported.truncatedTo(ChronoUnit.SECONDS),
        "Debian GNU/Linux 12 (bookworm)",
        Set.of("kubernetes.io/os"));
  }

  private void requireApi() throws IOException {
    if (apiAway) {
      throw new IOException("the API server is away");
    }
  }

  /** The NumaNodeState, as far as the operator has written about the proof. */
  @Override
  public Optional<JsonNode> state() throws IOException {
    live();
    requireApi();
    var state = json.createObjectNode();
    var grant = state.putObject("spec").putObject("grant").put("attempt", proofOf);
    var proof = grant.putObject("proof");
    proofPods.forEach(pod -> proof.withArray("pods").addObject().put("pod", pod));
    if (!verdict.isEmpty()) {
      proof.put("verdict", verdict).put("message", "what was seen");
    }
    return Optional.of(state);
  }

  @Override
  public void watchState(String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
    throw new UnsupportedOperationException("no attempt watches");
  }

  @Override
  public Optional<JsonNode> topology() {
    throw new UnsupportedOperationException("no attempt looks at topologies");
  }

  @Override
  public void watchTopology(String version, Duration limit, Consumer<Optional<JsonNode>> changed) {
    throw new UnsupportedOperationException("no attempt looks at topologies");
  }

  @Override
  public JsonNode applyTopology(JsonNode topology) {
    throw new UnsupportedOperationException("no attempt looks at topologies");
  }

  @Override
  public boolean applyStatus(JsonNode status) {
    throw new UnsupportedOperationException("no attempt publishes by itself");
  }

  @Override
  public Instant now() {
    return now;
  }

  @Override
  public void sleep(Duration duration) {
    var until = now.plus(duration);
    // in small steps: systemd does not wait for the agent's polls
    while (now.isBefore(until)) {
      var step = now.plusMillis(200);
      now = step.isBefore(until) ? step : until;
      live();
    }
  }

  /** A container with exclusive CPUs. */
  static Container pinned() {
    return new Container("default", "train-0", "main", CpuSet.of(2, 3), List.of(), List.of());
  }
}
