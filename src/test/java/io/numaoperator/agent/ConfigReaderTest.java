package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.agent.KubeletApi.Configz;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigReaderTest {
  private static final Instant STARTED = Instant.parse("2026-01-01T00:00:10Z");

  @TempDir Path proc;
  private final FakeKubeletHost host = new FakeKubeletHost();
  private final LastSeen seen = new LastSeen();
  private ConfigReader reader;

  @BeforeEach
  void process() throws IOException {
    reader = new ConfigReader(host, host, seen, new Processes(proc));
    var up = Duration.between(STARTED.minusSeconds(10), Instant.now()).toMillis();
    Files.writeString(proc.resolve("uptime"), "%d.%03d 1.00\n".formatted(up / 1000, up % 1000));
    var directory = Files.createDirectories(proc.resolve("7"));
    Files.writeString(
        directory.resolve("stat"), "7 (kubelet) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0");
    kubelet("v1.31.4");
    host.modified.put(FakeKubeletHost.MAIN_FILE, STARTED.minusSeconds(1));
  }

  private void kubelet(String version, String... flags) {
    seen.node(
        new NodeView(
            "uid",
            version,
            Optional.empty(),
            10250,
            false,
            Optional.empty(),
            Optional.empty(),
            Instant.EPOCH,
            "",
            Set.of()));
    var words = new java.util.ArrayList<>(List.of(flags));
    words.add("--config=" + FakeKubeletHost.MAIN_FILE);
    seen.kubelet(
        new KubeletProcess(
            FakeKubeletHost.UNIT,
            7,
            0,
            CommandLine.of("kubelet", words),
            FakeKubeletHost.ROOT,
            Optional.of(FakeKubeletHost.DROP_IN_DIRECTORY),
            List.of(),
            List.of()));
  }

  @Test
  void aKubeletThatAnswersIsAsked() {
    kubelet("v1.33.0");
    assertThat(reader.configz()).isInstanceOf(Configz.Live.class);
    kubelet("not known");
    assertThat(reader.configz()).isInstanceOf(Configz.Live.class);
  }

  /** As the agent does it: its change is written, then the kubelet is started at once. */
  @Test
  void whatWasWrittenInTheSameSecondBeforeItsStartCounts() {
    host.modified.put(FakeKubeletHost.MAIN_FILE, STARTED.minusMillis(5));
    assertThat(reader.configz()).isInstanceOf(Configz.OnDisk.class);
    host.modified.put(FakeKubeletHost.MAIN_FILE, STARTED.plusMillis(500));
    assertThat(reader.configz()).isInstanceOf(Configz.Denied.class);
  }

  @Test
  void anOlderOnesFilesAreRead() {
    host.files.put(FakeKubeletHost.DROP_IN_DIRECTORY + "/10.conf", "maxPods: 42".getBytes(UTF_8));
    host.files.put(FakeKubeletHost.DROP_IN, "topologyManagerScope: pod".getBytes(UTF_8));
    assertThat(reader.configz())
        .isInstanceOfSatisfying(
            Configz.OnDisk.class,
            files -> {
              assertThat(files.config().path("maxPods").asInt()).isEqualTo(42);
              assertThat(files.config().path("topologyManagerScope").asText()).isEqualTo("pod");
              assertThat(files.config().path("cpuManagerPolicy").asText()).isEqualTo("none");
            });
  }

  /** The gate can be on before 1.33, and Bottlerocket has no handlers at all. */
  @Test
  void theFilesSayWhetherItCanBeAsked() {
    main("{featureGates: {KubeletFineGrainedAuthz: true}}");
    kubelet("v1.32.0");
    assertThat(reader.configz()).isInstanceOf(Configz.Live.class);
    main("{enableDebuggingHandlers: false}");
    kubelet("v1.36.0");
    assertThat(reader.configz()).isInstanceOf(Configz.OnDisk.class);
  }

  @Test
  void filesOfAfterTheStartSayNothing() {
    host.modified.put(FakeKubeletHost.MAIN_FILE, STARTED.plusSeconds(1));
    denied("config.yaml was changed after the kubelet started");
    host.modified.put(FakeKubeletHost.MAIN_FILE, STARTED.minusSeconds(1));
    var defaults = FakeKubeletHost.DROP_IN_DIRECTORY + "/00-k3s-defaults.conf";
    host.files.put(defaults, new byte[0]);
    host.modified.put(defaults, STARTED.plusSeconds(1));
    assertThat(reader.configz()).isInstanceOf(Configz.OnDisk.class);
  }

  @Test
  void flagsAreNotInFiles() {
    kubelet("v1.31.4", "--cpu-manager-policy=static");
    denied("what flags set: cpuManagerPolicy");
  }

  @Test
  void aProcessThatIsGoneIsNotUp() throws IOException {
    Files.delete(proc.resolve("7/stat"));
    assertThat(reader.configz()).isInstanceOf(Configz.Unreachable.class);
  }

  private void main(String yaml) {
    host.files.put(FakeKubeletHost.MAIN_FILE, yaml.getBytes(UTF_8));
  }

  private void denied(String why) {
    assertThat(reader.configz())
        .isInstanceOfSatisfying(Configz.Denied.class, d -> assertThat(d.why()).contains(why));
  }
}
