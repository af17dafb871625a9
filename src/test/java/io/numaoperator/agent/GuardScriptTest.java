package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The real guard.sh, by every shell that a node may have, on a directory in place of the node. */
class GuardScriptTest {
  private static final String DROP_IN = "/etc/kubernetes/kubelet.conf.d/90-numaoperator.conf";
  private static final String CPU = "/var/lib/kubelet/cpu_manager_state";
  private static final String MEMORY = "/var/lib/kubelet/memory_manager_state";
  private static final String NODE =
      "config %s\nconfig %s\nstate %s\nstate %s\n"
          .formatted(DROP_IN, MainFileEdit.ORIGINAL, CPU, MEMORY);
  private static final String ARMED =
      "attempt 7\nlimit 3\nclear - %s\nclear - %s\n".formatted(CPU, MEMORY);
  private static final String RESTORE = ARMED + "restore 90-numaoperator.conf " + DROP_IN + "\n";
  private static final String REMOVE = ARMED + "remove - " + DROP_IN + "\n";
  private static final String BACKUP = JournalStore.BACKUPS + "/90-numaoperator.conf";
  private static final String TOLD = "attempt 7\nstarts 3\n";
  private static final Map<String, String> STATES = Map.of(CPU, "cpu", MEMORY, "memory");

  @TempDir static Path tools;

  /** busybox with its own programs: all that the script needs. */
  @BeforeAll
  static void installBusybox() throws Exception {
    var where = new ProcessBuilder("busybox", "which", "busybox").start();
    var busybox = Path.of(new String(where.getInputStream().readAllBytes(), UTF_8).strip());
    for (var program : List.of("busybox", "cat", "mkdir", "mv", "rm", "sync", "wc")) {
      Files.copy(busybox, tools.resolve(program), StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  private static List<List<String>> shells() {
    return List.of(
        List.of("sh"), List.of("dash"), List.of("env", "PATH=" + tools, "busybox", "sh"));
  }

  /**
   * What happens at one start of the kubelet.
   *
   * @param files the node's files before
   * @param changes how they differ after; null where a file is gone
   */
  private record Case(
      String name, Map<String, String> files, Map<String, String> changes, String says) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() {
    return Stream.concat(boots(), starts());
  }

  private static Stream<Case> boots() {
    var managed = with(STATES, Map.of(DROP_IN, "new"));
    return Stream.of(
        new Case("nothing is installed", STATES, Map.of(), ""),
        new Case("the same boot", at("boot-1", managed), Map.of(), ""),
        new Case(
            "the first start of another boot",
            at("boot-0", managed),
            cleared(),
            "first start of this boot"),
        new Case(
            "a later start of another boot",
            at("boot-0", managed, Map.of(GuardRun.STARTED, "\n")),
            Map.of(),
            ""),
        new Case(
            "another boot, without state files",
            at("boot-0", Map.of(DROP_IN, "new")),
            Map.of(),
            "first start of this boot"),
        new Case(
            "another boot of a node without configuration of ours",
            at("boot-0", STATES),
            Map.of(),
            ""),
        new Case("a boot that cannot be told", at("", managed), Map.of(), ""),
        new Case(
            "a reboot in mid-attempt",
            with(
                started(1, RESTORE, Map.of(DROP_IN, "new", BACKUP, "old")),
                Map.of(GuardFiles.BOOT, "boot-0\n")),
            cleared(GuardFiles.STARTS, ".."),
            "first start of this boot"));
  }

  private static Stream<Case> starts() {
    var both = Map.of(DROP_IN, "new", BACKUP, "old");
    return Stream.of(
        new Case(
            "a first unverified start",
            at("boot-1", with(STATES, both), Map.of(GuardFiles.ARMED, RESTORE)),
            changes(GuardFiles.STARTS, "."),
            ""),
        new Case(
            "the last that is allowed",
            started(2, RESTORE, both),
            changes(GuardFiles.STARTS, "..."),
            ""),
        new Case(
            "past the limit, with configuration before",
            started(3, RESTORE, both),
            cleared(GuardFiles.STARTS, "....", DROP_IN, "old", GuardFiles.RESTORED, TOLD),
            "attempt 7: 3 starts and not verified"),
        new Case(
            "past the limit, with none before",
            started(3, REMOVE, Map.of(DROP_IN, "new")),
            cleared(GuardFiles.STARTS, "....", DROP_IN, null, GuardFiles.RESTORED, TOLD),
            "attempt 7: 3 starts and not verified"),
        new Case(
            "past the limit, with nothing written yet",
            started(3, REMOVE, Map.of()),
            cleared(GuardFiles.STARTS, "....", GuardFiles.RESTORED, TOLD),
            "attempt 7"),
        new Case(
            "state files that the change does not touch stay",
            started(
                3,
                "attempt 7\nlimit 3\nremove - %s\nreload\n".formatted(DROP_IN),
                Map.of(DROP_IN, "new")),
            changes(GuardFiles.STARTS, "....", DROP_IN, null, GuardFiles.RESTORED, TOLD),
            "attempt 7"),
        new Case(
            "after the restoration the state files are those of the restored kubelet",
            started(5, RESTORE, Map.of(GuardFiles.RESTORED, TOLD, DROP_IN, "old", BACKUP, "old")),
            changes(GuardFiles.STARTS, "......"),
            "attempt 7"),
        new Case(
            "a restoration that was interrupted is completed",
            started(5, RESTORE, Map.of(GuardFiles.RESTORED, TOLD, DROP_IN, "torn", BACKUP, "old")),
            changes(GuardFiles.STARTS, "......", DROP_IN, "old"),
            "attempt 7"),
        new Case(
            "without the backup it says so, and tries again the next time",
            started(3, RESTORE, Map.of(DROP_IN, "new")),
            cleared(GuardFiles.STARTS, "...."),
            BACKUP),
        new Case(
            "a path with a blank in it",
            started(
                3,
                "attempt 7\nlimit 3\nrestore 90-numaoperator.conf /etc/my dir/x.conf\n",
                Map.of("/etc/my dir/x.conf", "new", BACKUP, "old")),
            changes(
                GuardFiles.STARTS, "....", "/etc/my dir/x.conf", "old", GuardFiles.RESTORED, TOLD),
            "attempt 7"),
        new Case(
            "files that make no sense",
            at(
                "boot-1",
                STATES,
                Map.of(GuardFiles.ARMED, "\0\n\nx y z\nlimit\n", GuardFiles.STARTS, "....")),
            changes(GuardFiles.STARTS, "....."),
            ""));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void changesWhatItShould(Case c) {
    for (var shell : shells()) {
      var files = bytes(c.files());
      files.put(GuardFiles.SCRIPT, GuardFiles.script());
      var said = GuardRun.on(files, "boot-1", shell);
      files.remove(GuardFiles.SCRIPT);
      assertThat(files.remove(GuardRun.STARTED)).as("%s: %s", shell, said).isNotNull();
      var expected = new TreeMap<>(c.files());
      expected.remove(GuardRun.STARTED);
      c.changes()
          .forEach(
              (path, text) -> {
                if (text == null) {
                  expected.remove(path);
                } else {
                  expected.put(path, text);
                }
              });
      assertThat(text(files)).as("%s: %s", shell, said).isEqualTo(expected);
      assertThat(said).as(shell.toString()).contains(c.says());
      if (c.says().isEmpty()) {
        assertThat(said).as(shell.toString()).doesNotContain("numaoperator guard:");
      }
    }
  }

  /** Nothing can be written: it says so, and the kubelet starts. */
  @Test
  void aDiskThatTakesNothingKeepsNoKubeletDown(@TempDir Path directory) throws IOException {
    for (var shell : shells()) {
      var files = started(3, RESTORE, Map.of(DROP_IN, "new", BACKUP, "old"));
      var root = laid(directory, shell, with(files, Map.of(GuardFiles.BOOT, "boot-0\n")));
      unwritable(root, DROP_IN);
      unwritable(root, GuardFiles.RESTORED);
      assertThat(GuardRun.run(root, shell)).as(shell.toString()).contains("attempt 7");
      assertThat(in(root, DROP_IN)).hasContent("new");
      assertThat(in(root, GuardFiles.RESTORED)).doesNotExist();
    }
  }

  /** The containers of this boot are in them. */
  @Test
  void onlyTheFirstStartOfABootSetsStateFilesAside(@TempDir Path directory) throws IOException {
    for (var shell : shells()) {
      var root = laid(directory, shell, at("boot-0", STATES, Map.of(DROP_IN, "new")));
      unwritable(root, GuardFiles.BOOT);
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).doesNotExist();
      Files.delete(part(root, GuardFiles.BOOT)); // there is room again
      Files.writeString(in(root, CPU), "of this boot");
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).hasContent("of this boot");
    }
  }

  @Test
  void aStateFileThatCannotBeKeptIsDeleted(@TempDir Path directory) throws IOException {
    for (var shell : shells()) {
      var root = laid(directory, shell, at("boot-0", STATES, Map.of(DROP_IN, "new")));
      var kept = GuardFiles.DIRECTORY + "/cleared-cpu_manager_state";
      Files.createDirectories(in(root, kept + "/cpu_manager_state/x"));
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).doesNotExist();
    }
  }

  /** A directory is where the count would be, which no start can be added to. */
  @Test
  void startsAreCountedAlsoOnAFullDisk(@TempDir Path directory) throws IOException {
    for (var shell : shells()) {
      var files = Map.of(DROP_IN, "new", BACKUP, "old", GuardFiles.ARMED, RESTORE);
      var root = laid(directory, shell, at("boot-1", STATES, files));
      Files.createDirectory(in(root, GuardFiles.STARTS));
      for (int start = 0; start < 3; start++) {
        GuardRun.run(root, shell);
        assertThat(in(root, DROP_IN)).as(shell.toString()).hasContent("new");
      }
      GuardRun.run(root, shell);
      assertThat(in(root, DROP_IN)).as(shell.toString()).hasContent("old");
      assertThat(in(root, GuardFiles.RESTORED)).hasContent(TOLD);
    }
  }

  /** The agent takes the file away where it has put back what was before the change. */
  @Test
  void startsOnAFullDiskAreCountedAnewToo(@TempDir Path directory) throws IOException {
    for (var shell : shells()) {
      var files = Map.of(DROP_IN, "new", BACKUP, "old", GuardFiles.ARMED, RESTORE);
      var root = laid(directory, shell, at("boot-1", files));
      Files.createDirectory(in(root, GuardFiles.STARTS));
      for (int start = 0; start < 3; start++) {
        GuardRun.run(root, shell);
      }
      Files.delete(in(root, GuardFiles.STARTS));
      GuardRun.run(root, shell);
      assertThat(in(root, DROP_IN)).as(shell.toString()).hasContent("new");
      assertThat(in(root, GuardFiles.STARTS)).as(shell.toString()).hasContent(".");
    }
  }

  /** What the restored kubelet has written since is its own. */
  @Test
  void aRestorationThatCannotBeNotedSetsStateFilesAsideOnce(@TempDir Path directory)
      throws IOException {
    for (var shell : shells()) {
      var files = started(3, RESTORE, Map.of(DROP_IN, "new", BACKUP, "old"));
      var root = laid(directory, shell, files);
      unwritable(root, GuardFiles.RESTORED);
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).doesNotExist();
      Files.writeString(in(root, CPU), "restored");
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).hasContent("restored");
      Files.delete(part(root, GuardFiles.RESTORED)); // there is room again
      GuardRun.run(root, shell);
      assertThat(in(root, CPU)).as(shell.toString()).hasContent("restored");
      assertThat(in(root, GuardFiles.RESTORED)).as(shell.toString()).exists();
    }
  }

  private static Path laid(Path directory, List<String> shell, Map<String, String> text)
      throws IOException {
    var root = directory.resolve(shell.getLast() + shell.size() + shell.getFirst());
    var files = bytes(text);
    files.put(GuardFiles.SCRIPT, GuardFiles.script());
    GuardRun.lay(files, "boot-1", root);
    return root;
  }

  /** The file cannot be made anew, as on a full disk: a directory is where its part would be. */
  private static void unwritable(Path root, String path) throws IOException {
    Files.createDirectory(part(root, path));
  }

  private static Path part(Path root, String path) {
    return in(root, parent(path) + "/." + path.substring(path.lastIndexOf('/') + 1) + ".tmp");
  }

  private static Path in(Path root, String path) {
    return root.resolve(path.substring(1));
  }

  private static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  @Test
  void agentAndGuardSpeakTheSameLanguage() {
    var saved =
        List.of(
            new Journal.Saved(DROP_IN, true),
            new Journal.Saved("/etc/systemd/system/kubelet.service.d/90-x.conf", false),
            new Journal.Saved(CPU, true),
            new Journal.Saved(MEMORY, false));
    var granted =
        new Journal.Granted(
            7,
            "hash",
            "policy",
            "boot-1",
            new KubeletFragment(),
            1,
            "kubelet.service",
            parent(DROP_IN),
            "/var/lib/kubelet",
            Journal.Form.DROP_IN,
            List.of(),
            "",
            false);
    var journal =
        new Journal(
            granted, new Journal.Before(saved, List.of(CPU), Map.of()), new Phase.Stopping(), 0);
    assertThat(new String(GuardFiles.armed(journal), UTF_8))
        .isEqualTo(RESTORE + "remove - /etc/systemd/system/kubelet.service.d/90-x.conf\nreload\n");
    assertThat(new String(GuardFiles.node(granted), UTF_8)).isEqualTo(NODE);
    assertThat(GuardFiles.restoration(TOLD.getBytes(UTF_8)))
        .contains(new GuardFiles.Restoration(7, 3));
    assertThat(GuardFiles.restoration("attempt".getBytes(UTF_8))).isEmpty();
  }

  // ---- making things

  @SafeVarargs
  private static Map<String, String> at(String boot, Map<String, String>... parts) {
    var files = new TreeMap<>(Map.of(GuardFiles.NODE, NODE, GuardFiles.BOOT, boot + "\n"));
    for (var part : parts) {
      files.putAll(part);
    }
    return files;
  }

  private static Map<String, String> started(int starts, String armed, Map<String, String> files) {
    return with(
        at("boot-1", STATES, files),
        Map.of(GuardFiles.ARMED, armed, GuardFiles.STARTS, ".".repeat(starts)));
  }

  private static Map<String, String> with(Map<String, String> files, Map<String, String> more) {
    var all = new TreeMap<>(files);
    all.putAll(more);
    return all;
  }

  /** Changes, and the state files set aside. */
  private static Map<String, String> cleared(String... pathsAndTexts) {
    return with(
        changes(pathsAndTexts),
        changes(
            CPU,
            null,
            MEMORY,
            null,
            GuardFiles.DIRECTORY + "/cleared-cpu_manager_state",
            "cpu",
            GuardFiles.DIRECTORY + "/cleared-memory_manager_state",
            "memory"));
  }

  private static Map<String, String> changes(String... pathsAndTexts) {
    var changes = new TreeMap<String, String>();
    for (int i = 0; i < pathsAndTexts.length; i += 2) {
      changes.put(pathsAndTexts[i], pathsAndTexts[i + 1]);
    }
    return changes;
  }

  private static TreeMap<String, byte[]> bytes(Map<String, String> files) {
    var bytes = new TreeMap<String, byte[]>();
    files.forEach((path, text) -> bytes.put(path, text.getBytes(UTF_8)));
    return bytes;
  }

  private static Map<String, String> text(Map<String, byte[]> files) {
    var text = new TreeMap<String, String>();
    files.forEach((path, bytes) -> text.put(path, new String(bytes, UTF_8)));
    return text;
  }
}
