package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.fragment;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.numaoperator.api.KubeletFragment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DropInTest {
  private static final String FULL =
      """
      apiVersion: kubelet.config.k8s.io/v1beta1
      kind: KubeletConfiguration
      cpuManagerPolicy: static
      cpuManagerPolicyOptions: {full-pcpus-only: "true", strict-cpu-reservation: "false"}
      reservedSystemCPUs: "0,64"
      memoryManagerPolicy: Static
      reservedMemory: [{numaNode: 0, limits: {memory: 300Mi}}, {numaNode: 1, limits: {memory: "1048576"}}]
      topologyManagerPolicy: single-numa-node
      topologyManagerScope: pod
      topologyManagerPolicyOptions: {max-allowable-numa-nodes: "9"}
      kubeReserved: {memory: 100Mi}
      systemReserved: {memory: 101Mi}
      evictionHard: {memory.available: 100Mi}
      kubeReservedCgroup: ""
      systemReservedCgroup: ""
      enforceNodeAllocatable: [pods]
      """;

  @Test
  void writesEachFieldInOrderAndQuotesWhatYamlWouldGuess() {
    assertThat(new String(DropIn.render(fragment(FULL)), UTF_8))
        .isEqualTo(
            """
            # Written by the NUMA Operator (numaoperator.io) from the NumaPolicy that has this node.
            # Edits are undone. Change the NumaPolicy; to take this node out, annotate it numaoperator.io/skip=true.
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            cpuManagerPolicy: static
            cpuManagerPolicyOptions:
              full-pcpus-only: "true"
              strict-cpu-reservation: "false"
            reservedSystemCPUs: "0,64"
            memoryManagerPolicy: Static
            reservedMemory:
            - numaNode: 0
              limits:
                memory: "300Mi"
            - numaNode: 1
              limits:
                memory: "1048576"
            topologyManagerPolicy: single-numa-node
            topologyManagerScope: pod
            topologyManagerPolicyOptions:
              max-allowable-numa-nodes: "9"
            kubeReserved:
              memory: "100Mi"
            systemReserved:
              memory: "101Mi"
            evictionHard:
              memory.available: "100Mi"
            kubeReservedCgroup: ""
            systemReservedCgroup: ""
            enforceNodeAllocatable:
            - pods
            """);
  }

  @Test
  void clearsTheMainFilesOptionsWithPolicyNone() {
    assertThat(new String(DropIn.render(fragment("cpuManagerPolicy: none")), UTF_8))
        .endsWith("cpuManagerPolicy: none\ncpuManagerPolicyOptions: null\n");
  }

  @Test
  void quotesAnythingOdd() {
    var fragment = new KubeletFragment();
    fragment.enforceNodeAllocatable = List.of("on", "1e3", "a: b", "a\"\\\n", "é", "none", "Null");
    var file = new String(DropIn.render(fragment), UTF_8);
    assertThat(file)
        .endsWith(
            """
            enforceNodeAllocatable:
            - "on"
            - "1e3"
            - "a: b"
            - "a\\"\\\\\\u000a"
            - "\\u00e9"
            - none
            - "Null"
            """);
    assertThat(fragment(file).enforceNodeAllocatable).isEqualTo(fragment.enforceNodeAllocatable);
  }

  @Test
  void keepsExplicitEmptyListsAndLeavesOutWhatIsAbsent() {
    var fragment = new KubeletFragment();
    fragment.reservedMemory = List.of();
    fragment.enforceNodeAllocatable = List.of();
    fragment.evictionHard = Map.of();
    assertThat(new String(DropIn.render(fragment), UTF_8).lines().skip(4))
        .containsExactly("reservedMemory: []", "enforceNodeAllocatable: []");
  }

  @Test
  void hashIsOfTheBytes() {
    assertThat(DropIn.hash("abc".getBytes(UTF_8))).isEqualTo("ba7816bf8f01cfea414140de5dae2223");
    assertThat(DropIn.hash(fragment(FULL))).isEqualTo(DropIn.hash(DropIn.render(fragment(FULL))));
    assertThat(DropIn.hash(fragment(FULL.replace("101Mi", "102Mi"))))
        .isNotEqualTo(DropIn.hash(fragment(FULL)));
  }

  @Test
  void hashSurvivesTheApiServerAndTheOrderOfMaps() {
    var fragment = fragment(FULL);
    var options = new LinkedHashMap<String, String>();
    options.put("strict-cpu-reservation", "false");
    options.put("full-pcpus-only", "true");
    fragment.cpuManagerPolicyOptions = options;
    var read = Serialization.unmarshal(Serialization.asJson(fragment), KubeletFragment.class);
    assertThat(DropIn.hash(read)).isEqualTo(DropIn.hash(fragment(FULL)));
  }

  @Test
  void readsBackWhatItWrote() {
    for (var fragment :
        List.of(
            fragment(FULL),
            fragment("{cpuManagerPolicy: none, memoryManagerPolicy: None}"),
            fragment("enforceNodeAllocatable: [none]"),
            fragment("evictionHard: {memory.available: 0%}"))) {
      var content = DropIn.render(fragment);
      assertThat(DropInFile.parse(content))
          .isInstanceOfSatisfying(
              DropInFile.Valid.class,
              valid -> assertThat(DropIn.render(valid.fragment())).isEqualTo(content));
    }
  }

  static Stream<Arguments> faults() {
    return Stream.of(
        fault("kind: KubeletConfiguration", "kind: Pod", "kind is not KubeletConfiguration"),
        fault("v1beta1", "v1", "apiVersion is not"),
        fault("\"0,64\"", "0", "reservedSystemCPUs has the wrong type"),
        fault("\"0,64\"", "\"64-0\"", "not allowed: reservedSystemCPUs"),
        fault("\"0,64\"", "\"\"", "not allowed: reservedSystemCPUs"),
        fault("cpuManagerPolicy: static", "cpuManagerPolicy: fast", "cpuManagerPolicy"),
        fault("cpuManagerPolicy: static", "cpuManagerPolicy: none", "need cpuManagerPolicy static"),
        fault("full-pcpus-only: \"true\"", "full-pcpus-only: true", "Options has the wrong type"),
        fault("full-pcpus-only", "hypothetical", "cpuManagerPolicyOptions[hypothetical]"),
        fault("full-pcpus-only", "prefer-closest-numa-nodes", "[prefer-closest-numa-nodes]"),
        fault("\"true\"", "\"1\"", "cpuManagerPolicyOptions[full-pcpus-only]"),
        fault("\"9\"", "\"7\"", "topologyManagerPolicyOptions[max-allowable-numa-nodes]"),
        fault("\"9\"", "\"65\"", "topologyManagerPolicyOptions[max-allowable-numa-nodes]"),
        fault("topologyManagerScope: pod", "scope: x", "scope is not a managed field"),
        fault("Scope: pod", "Scope: Pod", "not allowed: topologyManagerScope"),
        fault("single-numa-node", "SingleNUMANode", "not allowed: topologyManagerPolicy"),
        fault("Policy: Static", "Policy: static", "not allowed: memoryManagerPolicy"),
        fault("numaNode: 1", "numaNode: 0", "not allowed: reservedMemory"),
        fault("numaNode: 1", "numaNode: -1", "not allowed: reservedMemory"),
        fault("numaNode: 1", "numaNode: \"1\"", "reservedMemory has the wrong type"),
        fault("numaNode: 1", "numaNode: 1, more: x", "reservedMemory has the wrong type"),
        fault("limits: {memory: 300Mi}", "limits: {hugepages-2Mi: 2Mi}", "reservedMemory"),
        fault("memory: 300Mi", "memory: \"0\"", "not allowed: reservedMemory"),
        fault("memory: 300Mi", "memory: 301Mi", "reservedMemory is not kubeReserved +"),
        fault("{memory: 100Mi}", "{memory: 100Mi, cpu: \"1\"}", "not allowed: kubeReserved"),
        fault("{memory: 101Mi}", "{memory: 1.5}", "systemReserved has the wrong type"),
        fault("{memory: 101Mi}", "{memory: \"1.5\"}", "not allowed: systemReserved"),
        fault("memory.available: 100Mi", "memory.available: 5%", "evictionHard[memory.available]"),
        fault("memory.available: 100Mi", "nodefs.available: 5%", "evictionHard[nodefs.available]"),
        fault("kubeReservedCgroup: \"\"", "kubeReservedCgroup: /x", "kubeReservedCgroup"),
        fault("systemReservedCgroup: \"\"", "systemReservedCgroup: /x", "systemReservedCgroup"),
        fault("[pods]", "[system-reserved]", "not allowed: enforceNodeAllocatable"),
        fault("[pods]", "[pods, none]", "not allowed: enforceNodeAllocatable"),
        fault("[pods]", "pods", "enforceNodeAllocatable has the wrong type"),
        fault(
            "kubeReserved:", "staticPodPath: /x\nkubeReserved:", "staticPodPath is not a managed"),
        fault("kubeReserved:", "kubereserved:", "kubereserved is not a managed field"),
        fault("kubeReserved:", "systemReserved:", "not YAML"),
        fault("apiVersion:", "apiVersion: {", "not YAML"));
  }

  private static Arguments fault(String find, String replacement, String fault) {
    return Arguments.of(find, replacement, fault);
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("faults")
  void refusesAnythingElse(String find, String replacement, String fault) {
    assertThat(DropInFile.parse(FULL.getBytes(UTF_8))).isInstanceOf(DropInFile.Valid.class);
    var broken = FULL.replaceFirst(Pattern.quote(find), replacement);
    assertThat(broken).isNotEqualTo(FULL);
    assertThat(DropInFile.parse(broken.getBytes(UTF_8)))
        .isInstanceOfSatisfying(
            DropInFile.Invalid.class,
            invalid -> assertThat(invalid.faults()).anyMatch(f -> f.contains(fault)));
  }

  @Test
  void anEmptyFileIsNoDropIn() {
    assertThat(DropInFile.parse(new byte[0])).isInstanceOf(DropInFile.Invalid.class);
    assertThat(DropInFile.parse("- a".getBytes(UTF_8))).isInstanceOf(DropInFile.Invalid.class);
  }

  @Test
  void findsManagedFieldsOnACommandLine() {
    assertThat(
            ManagedField.setByFlags(
                List.of(
                    "/usr/bin/kubelet",
                    "--config=/var/lib/kubelet/config.yaml",
                    "--reserved-cpus=0-1",
                    "--system-reserved",
                    "memory=1Gi",
                    "--eviction_hard=memory.available<1Gi",
                    "--reserved-cpus-of-another=1",
                    "cpu-manager-policy=static")))
        .containsExactly("reservedSystemCPUs", "systemReserved", "evictionHard");
    var flag = "--" + ManagedField.IGNORE_EVICTION_FLAG;
    assertThat(ManagedField.setByFlags(List.of(flag)))
        .containsExactly(ManagedField.IGNORE_EVICTION_FLAG);
    assertThat(ManagedField.setByFlags(List.of(flag + "=false"))).isEmpty();
  }
}
