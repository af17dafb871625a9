package io.numaoperator.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CommandLineTest {
  @Test
  void readsBothFormsOfFlags() {
    var line =
        parse("/usr/bin/kubelet", "--config=/c.yaml", "--root-dir", "/data/kubelet", "--v=2", "-x");
    assertThat(line.isKubelet()).isTrue();
    assertThat(line.flag("config")).contains("/c.yaml");
    assertThat(line.flag("root-dir")).contains("/data/kubelet");
    assertThat(line.flag("x")).contains("true");
    assertThat(line.flag("config-dir")).isEmpty();
    assertThat(line.managedByFlag()).isEmpty();
  }

  @Test
  void aFlagWithAnEmptyValueIsNotSet() {
    assertThat(parse("kubelet", "--config-dir=").flag("config-dir")).isEmpty();
  }

  @Test
  void theLastOfEqualFlagsCounts() {
    assertThat(parse("kubelet", "--config=a", "--config=b").flag("config")).contains("b");
  }

  @Test
  void namesTheFieldsThatFlagsSet() {
    assertThat(
            parse("kubelet", "--reserved-cpus=0", "--cpu_manager_policy", "static").managedByFlag())
        .containsExactly("cpuManagerPolicy", "reservedSystemCPUs");
  }

  @Test
  void aShellIsNotAKubelet() {
    assertThat(parse("/bin/sh", "-c", "kubelet").isKubelet()).isFalse();
  }

  private static CommandLine parse(String... words) {
    return CommandLine.parse((String.join("\0", words) + "\0").getBytes(UTF_8));
  }
}
