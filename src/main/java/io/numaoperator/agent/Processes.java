package io.numaoperator.agent;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/** The node's processes in /proc. */
final class Processes {
  static final int TICK_MILLIS = 10;

  private final Path proc;

  Processes(Path proc) {
    this.proc = proc;
  }

  /**
   * The arguments of a process.
   *
   * @throws IOException when there is no such process
   */
  CommandLine commandLine(long pid) throws IOException {
    return CommandLine.parse(Files.readAllBytes(proc.resolve(pid + "/cmdline")));
  }

  /** The kubelet that a process started. */
  Optional<Long> kubeletOf(long parent) throws IOException {
    return kubelets(pid -> parentOf(pid) == parent).stream().findFirst();
  }

  /**
   * The kubelet of a node without a unit for it.
   *
   * @throws IOException if there are several: kubelets can run inside of pods, too
   */
  Optional<Long> onlyKubelet() throws IOException {
    var all = kubelets(pid -> true);
    if (all.size() > 1) {
      throw new IOException("several processes are kubelets: " + all);
    }
    return all.stream().findFirst();
  }

  private List<Long> kubelets(LongPredicate which) throws IOException {
    var found = new ArrayList<Long>();
    try (var entries = Files.list(proc)) {
      for (var entry : entries.toList()) {
        var name = entry.getFileName().toString();
        if (name.matches("[0-9]{1,18}") && isKubelet(Long.parseLong(name))) {
          found.add(Long.parseLong(name));
        }
      }
    }
    return found.stream().filter(which::test).sorted().toList();
  }

  private boolean isKubelet(long pid) {
    try {
      return commandLine(pid).isKubelet();
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  /**
   * When it started, to a hundredth of a second. The kernel counts in clock ticks since its boot,
   * of which there are 100 a second for user space on every architecture that Kubernetes supports
   * (proc(5), starttime). When that was is told by how long it is up: btime of /proc/stat has no
   * fractions of a second, and a kubelet is started within one after its files are written.
   *
   * @throws IOException when there is no such process
   */
  Instant startedAt(long pid) throws IOException {
    long ticks = Long.parseLong(stat(pid)[19]);
    var up = new BigDecimal(Files.readString(proc.resolve("uptime")).split(" ")[0]);
    var now = Instant.now();
    return now.minusMillis(up.movePointRight(3).longValue()).plusMillis(ticks * TICK_MILLIS);
  }

  private String[] stat(long pid) throws IOException {
    var stat = Files.readString(proc.resolve(pid + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
  }

  /** {@code PID (name, which may hold anything) S PPID …}; 0 for a process that has ended. */
  private long parentOf(long pid) {
    try {
      return Long.parseLong(stat(pid)[1]);
    } catch (IOException e) {
      return 0;
    }
  }
}
