package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Runs the real guard.sh over files that are laid out below a directory. */
final class GuardRun {
  private static final Path RUNS = directory();

  /** What a reboot makes the guard forget. */
  static final String BOOT_MARKS = "/run/numaoperator-guard/";

  /** There from the first start of a boot on. */
  static final String STARTED = BOOT_MARKS + "started";

  private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";

  private GuardRun() {}

  /** In memory where there is such a file system: the script syncs. */
  private static Path directory() {
    var memory = Path.of("/dev/shm");
    try {
      var directory =
          Files.isWritable(memory)
              ? Files.createTempDirectory(memory, "guard")
              : Files.createTempDirectory("guard");
      directory.toFile().deleteOnExit(); // empty after each run
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * One start of the kubelet.
   *
   * @param files the node's, by path; changed as the script changes them
   * @return what it printed
   */
  static String on(Map<String, byte[]> files, String bootId, List<String> shell) {
    try {
      var root = Files.createTempDirectory(RUNS, "root");
      lay(files, bootId, root);
      var said = run(root, shell);
      files.clear();
      files.putAll(read(root));
      files.remove(BOOT_ID);
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Lays the files out below a directory. */
  static void lay(Map<String, byte[]> files, String bootId, Path root) throws IOException {
    var all = new TreeMap<>(files);
    all.put(BOOT_ID, (bootId + "\n").getBytes(UTF_8));
    for (var file : all.entrySet()) {
      var path = root.resolve(file.getKey().substring(1));
      Files.createDirectories(path.getParent());
      Files.write(path, file.getValue());
    }
  }

  /**
   * Runs it.
   *
   * @throws AssertionError when its exit code is not 0
   */
  static String run(Path root, List<String> shell) throws IOException {
    var command = new ArrayList<>(shell);
    command.add(root + GuardFiles.SCRIPT);
    command.add(root.toString());
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), UTF_8);
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new AssertionError("the guard failed: " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return said;
  }

  /** Reads a directory back, and removes it. */
  private static Map<String, byte[]> read(Path root) throws IOException {
    var files = new TreeMap<String, byte[]>();
    try (var walk = Files.walk(root)) {
      for (var path : walk.sorted(Comparator.reverseOrder()).toList()) {
        if (Files.isRegularFile(path)) {
          files.put("/" + root.relativize(path), Files.readAllBytes(path));
        }
        Files.delete(path);
      }
    }
    return files;
  }
}
