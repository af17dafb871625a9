package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalHostTest {
  @TempDir Path root;
  private LocalHost host;

  @BeforeEach
  void directories() throws IOException {
    host = new LocalHost(root, Path.of("/proc"));
    Files.createDirectories(root.resolve("var/lib/kubelet/pki"));
  }

  @Test
  void writesReadsAndDeletes() throws IOException {
    host.write("/var/lib/kubelet/a.conf", bytes("one"));
    host.write("/var/lib/kubelet/a.conf", bytes("two"));
    assertThat(host.read("/var/lib/kubelet/a.conf")).contains(bytes("two"));
    assertThat(Files.getPosixFilePermissions(root.resolve("var/lib/kubelet/a.conf")))
        .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(host.size("/var/lib/kubelet/a.conf")).isEqualTo(3);
    host.delete("/var/lib/kubelet/a.conf");
    host.delete("/var/lib/kubelet/a.conf");
    assertThat(host.read("/var/lib/kubelet/a.conf")).isEmpty();
    assertThat(host.size("/var/lib/kubelet/a.conf")).isZero();
  }

  @Test
  void leavesNothingThatTheKubeletWouldRead() throws IOException {
    // an agent that died between writing and renaming
    Files.writeString(
        root.resolve("var/lib/kubelet/.a.conf.tmp"), "torn, and longer than the next");
    host.write("/var/lib/kubelet/a.conf", bytes("one"));
    try (var files = Files.list(root.resolve("var/lib/kubelet"))) {
      assertThat(files.filter(Files::isRegularFile).map(f -> f.getFileName().toString()))
          .containsExactly("a.conf");
    }
    assertThat(host.read("/var/lib/kubelet/a.conf")).contains(bytes("one"));
  }

  @Test
  void doesNotMakeDirectories() {
    assertThat(host.isDirectory("/etc/kubelet.d")).isFalse();
    assertThatThrownBy(() -> host.write("/etc/kubelet.d/a.conf", bytes("one")))
        .isInstanceOf(IOException.class);
  }

  @Test
  void followsAbsoluteLinksInsideTheNode() throws IOException {
    var pki = root.resolve("var/lib/kubelet/pki");
    Files.writeString(pki.resolve("kubelet-server-1.pem"), "certificate");
    Files.createSymbolicLink(
        pki.resolve("current.pem"), Path.of("/var/lib/kubelet/pki/kubelet-server-1.pem"));
    Files.createSymbolicLink(pki.resolve("relative.pem"), Path.of("current.pem"));
    assertThat(host.read("/var/lib/kubelet/pki/relative.pem")).contains(bytes("certificate"));
  }

  @Test
  void readsTheEndOfALog() throws IOException {
    var log = root.resolve("log");
    Files.writeString(log, "old\nnew\n");
    assertThat(host.tail("/log", 4)).isEqualTo("new\n");
    Files.writeString(log, "rotated\n");
    assertThat(host.tail("/log", 1000)).isEqualTo("rotated\n");
    Files.writeString(log, "x".repeat(300_000) + "end");
    assertThat(host.tail("/log", 0)).hasSize(256 * 1024).endsWith("xend");
    assertThat(host.tail("/none", 4)).isEmpty();
  }

  @Test
  void knowsTheBoot() throws IOException {
    assertThat(host.bootId()).matches("[0-9a-f-]{36}");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
