package io.numaoperator.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What a process has used so far, as the kernel has it in /proc.
 *
 * @param cpu user and system time
 * @param resident bytes now
 * @param peak most bytes resident so far
 */
record Usage(Duration cpu, long resident, long peak) {
  /** USER_HZ, which Linux gives to programs whatever the kernel's own is. */
  private static final long TICKS_PER_SECOND = 100;

  private static final int USER_TIME = 11;

  static Usage of(long pid) {
    try {
      var stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      // after the name, which may hold blanks
      var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      long ticks = Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
      return new Usage(
          Duration.ofMillis(ticks * 1000 / TICKS_PER_SECOND),
          kilobytes(pid, "VmRSS:"),
          kilobytes(pid, "VmHWM:"));
    } catch (IOException e) {
      throw new IllegalStateException("process " + pid + " is gone", e);
    }
  }

  private static long kilobytes(long pid, String name) throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
        .filter(line -> line.startsWith(name))
        .map(line -> line.replaceAll("[^0-9]", ""))
        .mapToLong(digits -> Long.parseLong(digits) * 1024)
        .findFirst()
        .orElse(0);
  }

  /** The process that was started as exactly this program. */
  static Optional<Long> pidOf(Path program) throws IOException {
    return pidOf(
        process -> Files.readString(process.resolve("cmdline")).startsWith(program + "\0"));
  }

  /** What a process is known by. */
  interface Known {
    /**
     * @param process its directory in /proc
     */
    boolean is(Path process) throws IOException;
  }

  static Optional<Long> pidOf(Known known) throws IOException {
    try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (var process : processes) {
        try {
          if (known.is(process)) {
            return Optional.of(Long.parseLong(process.getFileName().toString()));
          }
        } catch (IOException e) {
          // it has ended
        }
      }
    }
    return Optional.empty();
  }

  /** Cores used between then and now. */
  double coresSince(Usage before, Duration elapsed) {
    return (double) cpu.minus(before.cpu).toMillis() / elapsed.toMillis();
  }
}
