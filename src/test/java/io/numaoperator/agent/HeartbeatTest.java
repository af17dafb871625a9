package io.numaoperator.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sign of life, and the very command of the readiness probe that reads it. */
class HeartbeatTest {
  @TempDir Path directory;

  private void uptime(String seconds) throws IOException {
    Files.writeString(directory.resolve("uptime"), seconds + " 99.10\n");
  }

  private boolean isReady() throws IOException, InterruptedException {
    var probe =
        Stream.of(Files.readString(Path.of("src/test/resources/plan/agent.yaml")).split("(?m)^---"))
            .filter(document -> document.contains("kind: \"DaemonSet\""))
            .map(document -> Serialization.unmarshal(document, DaemonSet.class))
            .map(d -> d.getSpec().getTemplate().getSpec().getContainers().getFirst())
            .map(container -> container.getReadinessProbe().getExec().getCommand().getLast())
            .findFirst()
            .orElseThrow();
    var command =
        probe
            .replace("/proc/uptime", directory.resolve("uptime").toString())
            .replace("/tmp/numa-agent-alive", directory.resolve("alive").toString());
    return new ProcessBuilder("sh", "-c", command).start().waitFor() == 0;
  }

  @Test
  void anAgentIsReadyWhileItsSignOfLifeIsFresh() throws Exception {
    uptime("1000.55");
    assertThat(isReady()).as("before its first look").isFalse();
    new Heartbeat(directory.resolve("alive"), directory.resolve("uptime")).beat();
    assertThat(Files.readString(directory.resolve("alive"))).isEqualTo("1000\n");
    assertThat(isReady()).isTrue();
    uptime("1020.10");
    assertThat(isReady()).isTrue();
    uptime("1021.00");
    assertThat(isReady()).as("21 s later").isFalse();
  }
}
