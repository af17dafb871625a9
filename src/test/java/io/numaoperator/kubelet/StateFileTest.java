package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.fragment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.numaoperator.kubelet.StateFile.Corrupt;
import io.numaoperator.kubelet.StateFile.Kind;
import io.numaoperator.kubelet.StateFile.Recorded;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StateFileTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        // V2: 1.30 to 1.36
        "{\"policyName\":\"none\",\"defaultCpuSet\":\"\",\"checksum\":1353318690}|none",
        "{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1\",\"entries\":{\"u\":{\"c\":\"2-3\"}},\"checksum\":1}|static",
        // V3: 1.36 with PodLevelResourceManagers
        "{\"policyName\":\"static\",\"defaultCpuSet\":\"0\",\"podEntries\":{\"u\":{\"cpuSet\":\"1\"}},\"checksum\":1}|static",
        // V4: 1.37
        "{\"policyName\":\"static\",\"defaultCpuSet\":\"0\",\"checksum\":1,\"data\":\"{}\",\"dataChecksum\":2}|static",
        // memory_manager_state
        "{\"policyName\":\"Static\",\"machineState\":{\"0\":{\"numberOfAssignments\":0,\"memoryMap\":{},\"cells\":[0]}},\"checksum\":3}|Static",
        "{\"policyName\":\"None\",\"machineState\":{},\"entries\":{},\"checksum\":4}|None",
      })
  void readsThePolicy(String content, String policy) {
    assertThat(StateFile.parse(content.getBytes(UTF_8))).isEqualTo(new Recorded(policy));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{\"policyName\":\"sta",
        "{}",
        "[]",
        "null",
        "{\"policyName\":\"\"}",
        "{\"policyName\":1}",
        "{\"policyName\":\"none\"}x"
      })
  void saysWhenItIsCorrupt(String content) {
    assertThat(StateFile.parse(content.getBytes(UTF_8)))
        .isInstanceOfSatisfying(Corrupt.class, corrupt -> assertThat(corrupt.why()).isNotBlank());
  }

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}|cpuManagerPolicy: static|CPU",
        "cpuManagerPolicy: none|cpuManagerPolicy: static|CPU",
        "cpuManagerPolicy: static|cpuManagerPolicy: none|CPU",
        "{}|cpuManagerPolicy: none|",
        "{cpuManagerPolicy: none, reservedSystemCPUs: '1'}|cpuManagerPolicy: none|",
        "{cpuManagerPolicy: static, reservedSystemCPUs: 0-1}|{cpuManagerPolicy: static, reservedSystemCPUs: '0,1'}|",
        "{cpuManagerPolicy: static, reservedSystemCPUs: 0-1}|{cpuManagerPolicy: static, reservedSystemCPUs: 0-2}|CPU",
        "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {a: 'true'}}|{cpuManagerPolicy: static, cpuManagerPolicyOptions: {a: 'true'}}|",
        "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {a: 'true'}}|{cpuManagerPolicy: static, cpuManagerPolicyOptions: {a: 'false'}}|CPU",
        "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {a: 'true'}}|cpuManagerPolicy: static|CPU",
        "{cpuManagerPolicy: static, cpuManagerPolicyOptions: {}}|cpuManagerPolicy: static|",
        "{}|memoryManagerPolicy: Static|MEMORY",
        "memoryManagerPolicy: Static|memoryManagerPolicy: None|MEMORY",
        "{}|memoryManagerPolicy: None|",
        "{memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]}|{memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1024Mi}}]}|",
        "{memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]}|{memoryManagerPolicy: Static, reservedMemory: [{numaNode: 1, limits: {memory: 1Gi}}]}|MEMORY",
        "{memoryManagerPolicy: None, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]}|memoryManagerPolicy: None|",
        "topologyManagerPolicy: none|{topologyManagerPolicy: restricted, topologyManagerScope: pod}|",
        "{cpuManagerPolicy: none, memoryManagerPolicy: None}|topologyManagerPolicy: none|",
        // an older drop-in may have made them static, and this one does not
        "{cpuManagerPolicy: static, memoryManagerPolicy: Static}|topologyManagerPolicy: none|CPU MEMORY",
        "{}|{cpuManagerPolicy: static, memoryManagerPolicy: Static}|CPU MEMORY",
      })
  void namesTheFilesThatAChangeMakesInvalid(String before, String fragment, String files) {
    assertThat(
            StateFile.toClear(fragment(before), fragment(fragment)).stream()
                .map(Kind::name)
                .collect(Collectors.joining(" ")))
        .isEqualTo(files == null ? "" : files);
  }

  @Test
  void knowsTheKubeletsNames() {
    assertThat(Kind.CPU.fileName()).isEqualTo("cpu_manager_state");
    assertThat(Kind.MEMORY.fileName()).isEqualTo("memory_manager_state");
  }
}
