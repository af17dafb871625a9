package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.numaoperator.agent.GuardFiles.Restoration;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/**
 * The agent's side of the guard: what keeps the kubelet in service when no agent can. The other
 * side is guard.sh, which systemd runs before each start of the kubelet, and a timer of systemd's
 * that starts a kubelet which was left stopped.
 *
 * <p>Installed before the first change of a node, armed for the time of a change, removed when
 * nothing of ours is left there. Every method may be called again after a crash in it.
 */
final class Guard {
  /**
   * How long a kubelet may be stopped: the agent needs a second or two between stop and start, and
   * after 40 s without a kubelet the node becomes NotReady.
   */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  /** StartUnit only queues a job. */
  private static final Duration JOB_LIMIT = Duration.ofSeconds(10);

  private static final Duration POLL = Duration.ofMillis(200);

  private final KubeletHost host;
  private final ServiceManager services;
  private final Time time;
  private final Duration patience;

  Guard(NodeAccess node, Duration patience) {
    this.host = node.host();
    this.services = node.services();
    this.time = node.time();
    this.patience = patience;
  }

  /**
   * Puts the guard there. An agent runs, so a kubelet of this boot has started it: the state files
   * are of this boot.
   *
   * @throws IOException also when systemd does not take it: there is no change without a guard
   */
  void install(Journal.Granted granted) throws IOException {
    var unit = granted.unit();
    host.makeDirectory(GuardFiles.DIRECTORY);
    put(GuardFiles.SCRIPT, GuardFiles.script());
    put(GuardFiles.LAST_WORDS_SCRIPT, GuardFiles.lastWordsScript());
    put(GuardFiles.NODE, GuardFiles.node(granted));
    put(GuardFiles.BOOT, (host.bootId() + "\n").getBytes(UTF_8));
    host.makeDirectory(GuardFiles.dropInDirectory(unit));
    boolean timer = put(GuardFiles.TIMER_FILE, GuardFiles.timer(unit, patience));
    boolean dropIn = put(GuardFiles.dropIn(unit), GuardFiles.unitDropIn());
    if (timer || dropIn || !loaded(unit)) {
      services.reload();
    }
    if (!loaded(unit)) {
      throw new IOException("systemd does not load the guard, " + GuardFiles.dropIn(unit));
    }
  }

  private boolean put(String path, byte[] bytes) throws IOException {
    var found = host.read(path);
    if (found.isPresent() && Arrays.equals(found.get(), bytes)) {
      return false;
    }
    host.write(path, bytes);
    return true;
  }

  private boolean loaded(String unit) throws IOException {
    return services.dropIns(unit).contains(GuardFiles.dropIn(unit));
  }

  /**
   * From here on starts are counted, and a stopped kubelet is started again. The count is begun
   * here, where the disk has room or nothing is changed.
   */
  void arm(Journal journal) throws IOException, InterruptedException {
    var wanted = GuardFiles.armed(journal);
    var found = host.read(GuardFiles.ARMED);
    if (found.isEmpty() || !Arrays.equals(found.get(), wanted)) {
      host.delete(GuardFiles.RESTORED);
      host.write(GuardFiles.STARTS, new byte[0]);
      host.write(GuardFiles.ARMED, wanted);
    }
    startTimer();
  }

  private void startTimer() throws IOException, InterruptedException {
    if (services.active(GuardFiles.TIMER)) {
      return;
    }
    services.start(GuardFiles.TIMER);
    var limit = time.now().plus(JOB_LIMIT);
    while (!services.active(GuardFiles.TIMER)) {
      if (time.now().isAfter(limit)) {
        throw new IOException("systemd does not start the guard's " + GuardFiles.TIMER);
      }
      time.sleep(POLL);
    }
  }

  /** What was before the change is back: its starts are counted anew. */
  void countAnew() throws IOException {
    host.delete(GuardFiles.STARTS);
  }

  /** What the guard did about this attempt while the agent was away; usually nothing. */
  Optional<Restoration> restoration(Journal journal) throws IOException {
    return host.read(GuardFiles.RESTORED)
        .flatMap(GuardFiles::restoration)
        .filter(found -> found.attempt() == journal.granted().attempt());
  }

  /** The kubelet is the agent's own again, or nobody's. */
  void disarm() throws IOException {
    host.delete(GuardFiles.ARMED);
    if (host.read(GuardFiles.TIMER_FILE).isPresent()) {
      services.stop(GuardFiles.TIMER);
    }
    host.delete(GuardFiles.STARTS);
    host.delete(GuardFiles.RESTORED);
  }

  /**
   * The end of an attempt: the guard stays where configuration of ours does. It is put back there
   * too, and a newer agent replaces it. Where it is armed for another attempt, the rollback of that
   * failed, and nobody but the guard goes on with it.
   */
  void rest(Journal.Granted granted) throws IOException {
    var armed = host.read(GuardFiles.ARMED).flatMap(GuardFiles::attempt);
    if (armed.isPresent() && armed.get() != granted.attempt()) {
      return;
    }
    disarm();
    for (var path : GuardFiles.configuration(granted)) {
      if (host.read(path).isPresent()) {
        install(granted);
        return;
      }
    }
    remove(granted.unit());
  }

  private void remove(String unit) throws IOException {
    if (host.read(GuardFiles.SCRIPT).isEmpty()) {
      return;
    }
    host.delete(GuardFiles.dropIn(unit));
    host.delete(GuardFiles.TIMER_FILE);
    services.reload();
    host.delete(GuardFiles.NODE);
    host.delete(GuardFiles.BOOT);
    host.delete(GuardFiles.LAST_WORDS_SCRIPT);
    host.delete(GuardFiles.LAST_WORDS);
    host.delete(GuardFiles.SCRIPT); // last: as long as it is there, the removal is not complete
  }
}
