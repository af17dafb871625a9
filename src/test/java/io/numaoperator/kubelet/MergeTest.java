package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.config;
import static io.numaoperator.kubelet.Fragments.fragment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MergeTest {
  /** The examples of RFC 7386, appendix A, whose target is an object. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{a: b}|{a: c}|{a: c}",
        "{a: b}|{b: c}|{a: b, b: c}",
        "{a: b}|{a: null}|{}",
        "{a: b, b: c}|{a: null}|{b: c}",
        "{a: [b]}|{a: c}|{a: c}",
        "{a: c}|{a: [b]}|{a: [b]}",
        "{a: {b: c}}|{a: {b: d, c: null}}|{a: {b: d}}",
        "{a: [{b: c}]}|{a: [1]}|{a: [1]}",
        "{e: null}|{a: 1}|{e: null, a: 1}",
        "{}|{a: {bb: {ccc: null}}}|{a: {bb: {}}}"
      })
  void mergesAsTheRfcSays(String target, String patch, String result) {
    assertThat(Merge.patch(config(target), config(patch))).isEqualTo(config(result));
  }

  @Test
  void theLaterFileWinsAndMapsGrow() {
    var settings =
        Merge.settings(
            fragment("{systemReserved: {cpu: 1, memory: 1Gi}, cpuManagerPolicyOptions: {a: b}}"),
            fragment("{cpuManagerPolicy: none, systemReserved: {memory: 2Gi}}"),
            fragment("{topologyManagerScope: pod}"));
    assertThat(settings.systemReserved).contains(entry("cpu", "1"), entry("memory", "2Gi"));
    assertThat(settings.cpuManagerPolicyOptions).as("none clears them").isNull();
    assertThat(settings.topologyManagerScope).isEqualTo("pod");
  }

  @Test
  void emptyValuesOfTheMainFileAreLostAndThoseOfADropInAreNot() {
    var empty = fragment("{enforceNodeAllocatable: [], systemReservedCgroup: ''}");
    var nothing = fragment("{}");
    assertThat(Merge.settings(empty, nothing, nothing).enforceNodeAllocatable).isNull();
    assertThat(Merge.settings(nothing, empty, nothing).enforceNodeAllocatable).isEmpty();
    assertThat(
            Merge.settings(fragment("{systemReservedCgroup: /s}"), empty, nothing)
                .systemReservedCgroup)
        .isEmpty();
  }

  @Test
  void filesAreReadInTheKubeletsOrder() throws IOException {
    var files =
        ConfigFiles.read(
            Optional.of(bytes("evictionHard: {memory.available: 1Gi}")),
            Map.of(
                "50.conf", bytes("topologyManagerScope: pod"),
                "50/a.conf", bytes("topologyManagerScope: container"),
                "90-numaoperator.conf", bytes("topologyManagerScope: ours"),
                "90-numaoperator.conf.bak", bytes("topologyManagerScope: x"),
                "91.conf", bytes("maxPods: 3"),
                "92/b.conf", bytes("cpuManagerPolicy: none")));
    assertThat(files.settingsBelow().topologyManagerScope)
        .as("50/ comes before 50.")
        .isEqualTo("pod");
    assertThat(files.settingsBelow().evictionHard).containsOnlyKeys("memory.available");
    assertThat(files.overriding()).containsExactly("92/b.conf");
    assertThat(files.settingsAbove().cpuManagerPolicy).isEqualTo("none");
  }

  @Test
  void evictionHasItsDefaultsOnlyWithAMainFile() throws IOException {
    assertThat(read("{}").evictionHard).contains(entry("memory.available", "100Mi")).hasSize(5);
    assertThat(read("evictionHard: {}").evictionHard).isEmpty();
    assertThat(
            read("{mergeDefaultEvictionSettings: true, evictionHard: {memory.available: 1Gi}}")
                .evictionHard)
        .contains(entry("memory.available", "1Gi"), entry("nodefs.available", "10%"));
    assertThat(ConfigFiles.read(Optional.empty(), Map.of()).settingsBelow().evictionHard).isNull();
  }

  private static KubeletFragment read(String main) throws IOException {
    return ConfigFiles.read(Optional.of(bytes(main)), Map.of()).settingsBelow();
  }

  @Test
  void aFileThatIsNoYamlIsNamed() {
    assertThatThrownBy(() -> ConfigFiles.read(Optional.empty(), Map.of("1.conf", bytes("a: ["))))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("1.conf is not YAML");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
