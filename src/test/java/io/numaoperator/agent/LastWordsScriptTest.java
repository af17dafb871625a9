package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real last-words.sh, on a directory in place of the node, with a stand-in for journalctl. */
class LastWordsScriptTest {
  @TempDir Path root;
  @TempDir Path bin;

  @BeforeEach
  void guardDirectory() throws IOException {
    Files.createDirectories(root.resolve(GuardFiles.DIRECTORY.substring(1)));
  }

  private String run() throws Exception {
    var script = Files.write(bin.resolve("last-words.sh"), GuardFiles.lastWordsScript());
    var builder = new ProcessBuilder("sh", script.toString(), root.toString());
    builder.environment().put("PATH", bin + ":/usr/bin:/bin");
    builder.environment().put("INVOCATION_ID", "5f2c");
    builder.redirectErrorStream(true);
    var process = builder.start();
    assertThat(process.getInputStream().readAllBytes()).isEmpty();
    assertThat(process.waitFor()).isZero();
    return Files.readString(root.resolve(GuardFiles.LAST_WORDS.substring(1)));
  }

  private void journalctl(String text) throws IOException {
    var program = Files.writeString(bin.resolve("journalctl"), "#!/bin/sh\n" + text);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void keepsWhatTheKubeletSaidSinceItsStart() throws Exception {
    journalctl("case \"$*\" in *_SYSTEMD_INVOCATION_ID=5f2c) echo 'E1 refused' ;; esac");
    assertThat(run()).isEqualTo("E1 refused\n");
  }

  /** Nothing of the start before is taken for this one's. */
  @Test
  void withoutAJournalThereAreNoWords() throws Exception {
    Files.writeString(root.resolve(GuardFiles.LAST_WORDS.substring(1)), "E0 of before\n");
    journalctl("exit 1");
    assertThat(run()).isEmpty();
  }
}
