package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.fragment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.numaoperator.api.KubeletFragment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What a node would run with without our drop-in, from what it runs with and its files. */
class OwnSettingsTest {
  private static final String MAIN =
      """
      apiVersion: kubelet.config.k8s.io/v1beta1
      kind: KubeletConfiguration
      systemReserved: {memory: 200Mi, pid: "1000"}
      kubeReserved: {cpu: 100m, memory: 1Gi}
      evictionHard: {memory.available: 5%, nodefs.available: 10%}
      systemReservedCgroup: /system.slice
      enforceNodeAllocatable: [pods, system-reserved]
      cpuManagerPolicyOptions: {align-by-socket: "true"}
      """;
  private static final String OURS =
      """
      cpuManagerPolicy: static
      cpuManagerPolicyOptions: {full-pcpus-only: "true"}
      reservedSystemCPUs: 0,2
      memoryManagerPolicy: Static
      reservedMemory: [{numaNode: 0, limits: {memory: 2Gi}}, {numaNode: 10, limits: {memory: 2Gi}}]
      topologyManagerPolicy: single-numa-node
      topologyManagerScope: pod
      kubeReserved: {memory: 1Gi}
      systemReserved: {memory: 2972Mi}
      evictionHard: {memory.available: 100Mi}
      systemReservedCgroup: ""
      kubeReservedCgroup: ""
      enforceNodeAllocatable: [pods]
      """;

  /** Of a kubelet with a drop-in directory; its drop-ins are named in their order. */
  private static KubeletFragment files(String main, String... dropIns) {
    return read(main, dropIns).shown(true);
  }

  private static ConfigFiles read(String main, String... dropIns) {
    var byName = new TreeMap<String, byte[]>();
    for (var text : dropIns) {
      byName.put("%d.conf".formatted(80 + byName.size()), text.getBytes(UTF_8));
    }
    try {
      return ConfigFiles.read(Optional.of(main.getBytes(UTF_8)), byName);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> diff(KubeletFragment from, KubeletFragment to) {
    return SettingsDiff.between(from, to).stream()
        .map(c -> c.field() + ": " + c.from().orElse("-") + " -> " + c.to().orElse("-"))
        .toList();
  }

  @Test
  void theDiffIsWhatTheKubeletMakesOfIt() {
    assertThat(diff(files(MAIN), OwnSettings.with(files(MAIN), fragment(OURS))))
        .containsExactly(
            "cpuManagerPolicy: none -> static",
            "cpuManagerPolicyOptions[full-pcpus-only]: - -> true",
            "reservedSystemCPUs: - -> 0,2",
            "memoryManagerPolicy: None -> Static",
            "reservedMemory[0].memory: - -> 2Gi",
            "reservedMemory[10].memory: - -> 2Gi",
            "topologyManagerPolicy: none -> single-numa-node",
            "topologyManagerScope: container -> pod",
            "kubeReserved[cpu]: 100m -> -",
            "systemReserved[cpu]: - -> 2",
            "systemReserved[memory]: 200Mi -> 2972Mi",
            "evictionHard[memory.available]: 5% -> 100Mi",
            "systemReservedCgroup: /system.slice -> -",
            "enforceNodeAllocatable: pods,system-reserved -> pods");
  }

  @Test
  void whatWasAppliedIsTakenOutAgain() {
    var running = OwnSettings.with(files(MAIN), fragment(OURS));
    var own = OwnSettings.without(running, files(MAIN), fragment(OURS), List.of());
    assertThat(diff(files(MAIN), own)).isEmpty();
  }

  /** The running kubelet knows more than its files: flags, and what a distribution passes in. */
  @Test
  void whatIsNotOursIsTheRunningKubeletsWord() {
    var ours = fragment("topologyManagerPolicy: restricted");
    var running = fragment("{topologyManagerPolicy: restricted, systemReserved: {memory: 7Gi}}");
    var own = OwnSettings.without(running, files(MAIN), ours, List.of());
    assertThat(own.topologyManagerPolicy).isEqualTo("none");
    assertThat(own.systemReserved).containsEntry("memory", "7Gi");
  }

  @Test
  void aFlagWinsOverFiles() {
    var own =
        OwnSettings.without(
            fragment("{systemReserved: {memory: 7Gi}}"),
            files(MAIN),
            fragment("{systemReserved: {memory: 3Gi}}"),
            List.of("systemReserved"));
    assertThat(own.systemReserved).containsEntry("memory", "7Gi");
  }

  @Test
  void policyNoneTakesTheOptionsAway() {
    var options = "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {full-pcpus-only: 'true'}}";
    var none = fragment("cpuManagerPolicy: none");
    var own = fragment(options);
    assertThat(diff(own, OwnSettings.with(own, none)))
        .containsExactly(
            "cpuManagerPolicy: static -> none",
            "cpuManagerPolicyOptions[full-pcpus-only]: true -> -");
    var taken = OwnSettings.without(OwnSettings.with(own, none), files(options), none, List.of());
    assertThat(diff(own, taken)).isEmpty();
  }

  @Test
  void otherDropInsMergeInTheirOrder() {
    var files =
        files(
            MAIN,
            "{apiVersion: a, kind: b, systemReserved: {memory: 1Gi}}",
            "{apiVersion: a, kind: b, systemReserved: {memory: 2Gi, pid: null}, kubeReserved: null}");
    assertThat(files.systemReserved).isEqualTo(Map.of("memory", "2Gi"));
    assertThat(files.kubeReserved).isNull();
  }

  /** cmd/kubelet/app/server.go, loadConfigFile: only --config has the default. */
  @Test
  void theDefaultThresholdIsTheMainFilesAlone() throws IOException {
    assertThat(files("{maxPods: 1}").evictionHard).containsEntry("memory.available", "100Mi");
    assertThat(files("{evictionHard: {}}").evictionHard).as("none is wanted").isNull();
    assertThat(read("{evictionHard: {}}").written().evictionHard).isEmpty();
    assertThat(files("{evictionHard: {}}", "{evictionHard: {nodefs.available: 5%}}").evictionHard)
        .as("nor does a drop-in bring it back")
        .doesNotContainKey("memory.available");
    assertThat(ConfigFiles.read(Optional.empty(), Map.of()).shown(true).evictionHard).isNull();
    assertThat(files("{evictionHard: {nodefs.available: 5%}}").evictionHard)
        .doesNotContainKey("memory.available");
    assertThat(
            files("{mergeDefaultEvictionSettings: true, evictionHard: {nodefs.available: 5%}}")
                .evictionHard)
        .containsEntry("memory.available", "100Mi");
  }

  @Test
  void explicitEmptyValuesAreLostInTheMerge() {
    var empty = "enforceNodeAllocatable: []";
    assertThat(files(empty).enforceNodeAllocatable).containsExactly("pods");
    assertThat(files("enforceNodeAllocatable: [none]").enforceNodeAllocatable)
        .containsExactly("none");
    assertThat(read(empty).shown(false).enforceNodeAllocatable)
        .as("a kubelet that merges nothing keeps it; /configz shows no empty list")
        .isNull();
    assertThat(files("maxPods: 1", empty).enforceNodeAllocatable)
        .as("of a drop-in it is kept")
        .isNull();
    assertThat(read(empty).written().enforceNodeAllocatable).isEmpty();
  }

  /** What a kubelet makes of its files at its start is not in them. */
  @Test
  void whatIsWrittenHasNoDefaultsAndNothingCounted() {
    var written = read("{kubeReserved: {cpu: 100m}}").written();
    assertThat(written.cpuManagerPolicy).isNull();
    var ours = fragment("{reservedSystemCPUs: '0,2', systemReserved: {memory: 1Gi}}");
    assertThat(diff(written, OwnSettings.written(written, ours)))
        .containsExactly("reservedSystemCPUs: - -> 0,2", "systemReserved[memory]: - -> 1Gi");
    assertThat(diff(written, OwnSettings.with(written, ours)))
        .contains("kubeReserved[cpu]: 100m -> -", "systemReserved[cpu]: - -> 2");
  }

  /** All of a main file that we edited is taken for ours; the owner's lines come out the same. */
  @Test
  void anEditOfTheMainFileIsTakenOutAgain() throws IOException {
    var edited = MainFile.with(MAIN.getBytes(UTF_8), fragment(OURS));
    var running = KubeletSettings.of(ConfigFiles.parse("edited", edited));
    var own = OwnSettings.without(running, read(MAIN).written(), running, List.of());
    assertThat(diff(read(MAIN).written(), own)).isEmpty();
    assertThat(diff(running, OwnSettings.written(own, fragment(OURS)))).isEmpty();
  }

  @Test
  void whatIsNoConfigurationIsSaid() {
    assertThatThrownBy(() -> files("- a\n- b"))
        .hasMessageContaining("the main file is not a KubeletConfiguration");
    assertThatThrownBy(() -> files(MAIN, "{a: [")).hasMessageContaining("80.conf is not YAML");
    assertThat(read("").written().evictionHard).as("an empty one says nothing").isNotEmpty();
  }

  @Test
  void amountsAreComparedByValue() {
    assertThat(
            diff(
                fragment("{systemReserved: {memory: 1Gi}, reservedSystemCPUs: 0-1}"),
                fragment("{systemReserved: {memory: 1024Mi}, reservedSystemCPUs: '0,1'}")))
        .isEmpty();
  }
}
