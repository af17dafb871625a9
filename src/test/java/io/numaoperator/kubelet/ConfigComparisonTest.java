package io.numaoperator.kubelet;

import static io.numaoperator.kubelet.Fragments.config;
import static io.numaoperator.kubelet.Fragments.fragment;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigComparisonTest {
  /** As a kubelet 1.36 shows it, shortened. */
  private static final String CONFIGZ =
      """
      cpuManagerPolicy: static
      cpuManagerPolicyOptions: {full-pcpus-only: "true", distribute-cpus-across-numa: "true"}
      reservedSystemCPUs: 0-1,64
      memoryManagerPolicy: Static
      reservedMemory: [{numaNode: 1, limits: {memory: 4Gi}}, {numaNode: 0, limits: {memory: 4Gi}}]
      topologyManagerPolicy: single-numa-node
      topologyManagerScope: pod
      topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}
      kubeReserved: {memory: 1Gi, ephemeral-storage: 1Gi}
      systemReserved: {memory: 7068Mi, cpu: "3"}
      evictionHard: {memory.available: 100Mi, nodefs.available: 10%}
      enforceNodeAllocatable: [pods]
      featureGates: {CPUManagerPolicyAlphaOptions: true, GracefulNodeShutdown: false}
      maxPods: 110
      authentication: {webhook: {enabled: true, cacheTTL: 2m0s}}
      """;

  private static final String FRAGMENT =
      """
      cpuManagerPolicy: static
      cpuManagerPolicyOptions: {full-pcpus-only: "true"}
      reservedSystemCPUs: "0,1,64"
      memoryManagerPolicy: Static
      reservedMemory: [{numaNode: 0, limits: {memory: 4Gi}}, {numaNode: 1, limits: {memory: "4294967296"}}]
      topologyManagerPolicy: single-numa-node
      topologyManagerScope: pod
      topologyManagerPolicyOptions: {prefer-closest-numa-nodes: "true"}
      kubeReserved: {memory: 1024Mi}
      systemReserved: {memory: 7068Mi}
      evictionHard: {memory.available: 102400Ki}
      kubeReservedCgroup: ""
      systemReservedCgroup: ""
      enforceNodeAllocatable: [pods]
      """;

  @Test
  void valuesCountAndNotHowTheyAreWritten() {
    assertThat(ConfigComparison.mismatches(fragment(FRAGMENT), config(CONFIGZ))).isEmpty();
    assertThat(ConfigComparison.mismatches(fragment(FRAGMENT), fragment(CONFIGZ))).isEmpty();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "cpuManagerPolicy: static|cpuManagerPolicy: none|cpuManagerPolicy is none, wanted static",
        "cpuManagerPolicy: static|x: y|cpuManagerPolicy is none, wanted static",
        "full-pcpus-only: \"true\"|full-pcpus-only: \"false\"|cpuManagerPolicyOptions[full-pcpus-only] is false, wanted true",
        "full-pcpus-only: \"true\", ||cpuManagerPolicyOptions[full-pcpus-only] is not set, wanted true",
        "0-1,64|0-1|reservedSystemCPUs is 0-1, wanted 0-1,64",
        "memoryManagerPolicy: Static|memoryManagerPolicy: None|memoryManagerPolicy is None, wanted Static",
        "numaNode: 1|numaNode: 2|reservedMemory is {0:memory=4Gi, 2:memory=4Gi}, wanted {0:memory=4Gi, 1:memory=4Gi}",
        "memory: 4Gi|memory: 5Gi|reservedMemory is {0:memory=4Gi, 1:memory=5Gi}, wanted {0:memory=4Gi, 1:memory=4Gi}",
        "single-numa-node|restricted|topologyManagerPolicy is restricted, wanted single-numa-node",
        "Scope: pod|Scope: container|topologyManagerScope is container, wanted pod",
        "prefer-closest-numa-nodes: \"true\"||topologyManagerPolicyOptions[prefer-closest-numa-nodes] is not set, wanted true",
        "kubeReserved: {memory: 1Gi|kubeReserved: {memory: 1G|kubeReserved[memory] is 1000000000, wanted 1Gi",
        "memory: 7068Mi, ||systemReserved[memory] is not set, wanted 7068Mi",
        "memory.available: 100Mi|memory.available: 5%|evictionHard[memory.available] is 5%, wanted 100Mi",
        "evictionHard|x|evictionHard[memory.available] is not set, wanted 100Mi",
        "maxPods: 110|kubeReservedCgroup: /kube|kubeReservedCgroup is /kube, wanted not set",
        "maxPods: 110|systemReservedCgroup: /sys|systemReservedCgroup is /sys, wanted not set",
        "[pods]|[pods, system-reserved]|enforceNodeAllocatable is [system-reserved, pods], wanted [pods]",
      })
  void eachManagedFieldIsCompared(String find, String replacement, String mismatch) {
    var changed = CONFIGZ.replaceFirst(Pattern.quote(find), replacement == null ? "" : replacement);
    assertThat(changed).isNotEqualTo(CONFIGZ);
    var mismatches = ConfigComparison.mismatches(fragment(FRAGMENT), config(changed));
    assertThat(mismatches).hasSize(1);
    assertThat(mismatches.getFirst().replace("[pods, system-reserved]", "[system-reserved, pods]"))
        .isEqualTo(mismatch);
  }

  @Test
  void whatTheFragmentLeavesOutIsTheOwners() {
    assertThat(ConfigComparison.mismatches(fragment("{}"), config(CONFIGZ))).isEmpty();
  }

  @Test
  void cpuOfTheReservationsIsTheKubelets() {
    var wanted = fragment("{kubeReserved: {cpu: \"1\"}, systemReserved: {cpu: \"1\"}}");
    assertThat(ConfigComparison.mismatches(wanted, config(CONFIGZ))).isEmpty();
  }

  @Test
  void policyNoneDemandsThatNoOptionIsLeft() {
    var wanted = fragment("cpuManagerPolicy: none");
    assertThat(ConfigComparison.mismatches(wanted, config("{cpuManagerPolicy: none}"))).isEmpty();
    assertThat(ConfigComparison.mismatches(wanted, config("{}"))).isEmpty();
    assertThat(
            ConfigComparison.mismatches(
                wanted, config("cpuManagerPolicyOptions: {full-pcpus-only: \"true\"}")))
        .containsExactly("cpuManagerPolicyOptions is {full-pcpus-only=true}, wanted {}");
  }

  @Test
  void noneIsNotTheSameAsNothingEnforced() {
    var wanted = fragment("enforceNodeAllocatable: [none]");
    assertThat(ConfigComparison.mismatches(wanted, config("enforceNodeAllocatable: [none]")))
        .isEmpty();
    assertThat(ConfigComparison.mismatches(wanted, config("enforceNodeAllocatable: [pods]")))
        .containsExactly("enforceNodeAllocatable is [pods], wanted [none]");
    assertThat(ConfigComparison.mismatches(wanted, config("{}"))).hasSize(1);
  }

  @Test
  void settingsKeepFullMaps() {
    var settings = KubeletSettings.of(config(CONFIGZ));
    assertThat(settings.kubeReserved)
        .isEqualTo(Map.of("memory", "1Gi", "ephemeral-storage", "1Gi"));
    assertThat(settings.evictionHard).containsEntry("nodefs.available", "10%");
    assertThat(settings.kubeReservedCgroup).isNull();
    assertThat(settings.enforceNodeAllocatable).isEqualTo(List.of("pods"));
    assertThat(settings.reservedMemory).extracting(r -> r.numaNode).containsExactly(1, 0);
    assertThat(KubeletSettings.featureGates(config(CONFIGZ)))
        .isEqualTo(Map.of("CPUManagerPolicyAlphaOptions", true, "GracefulNodeShutdown", false));
    assertThat(KubeletSettings.of(config("reservedMemory: []")).reservedMemory).isEmpty();
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "maxPods: 110|maxPods: 110|",
        "cpuManagerPolicy: static|cpuManagerPolicy: none|",
        "full-pcpus-only|x|",
        "reservedMemory|reservedMemory: null\\nx|x",
        "systemReserved: {memory: 7068Mi, cpu: \"3\"}|systemReserved: {memory: 200Mi}|",
        "systemReserved: {memory: 7068Mi, cpu: \"3\"}||",
        "systemReserved: {memory: 7068Mi|systemReserved: {pid: \"5\"|systemReserved.pid",
        "memory.available: 100Mi, ||",
        "nodefs.available: 10%|nodefs.available: 5%|evictionHard[\"nodefs.available\"]",
        "nodefs.available: 10%||evictionHard[\"nodefs.available\"]",
        "ephemeral-storage: 1Gi||kubeReserved[\"ephemeral-storage\"]",
        "maxPods: 110||maxPods",
        "maxPods: 110|maxPods: 250|maxPods",
        "maxPods: 110|maxPods: null|maxPods",
        "enabled: true|enabled: false|authentication.webhook.enabled",
        "authentication: {webhook: {enabled: true, cacheTTL: 2m0s}}||authentication.webhook.cacheTTL,authentication.webhook.enabled",
        "GracefulNodeShutdown: false|GracefulNodeShutdown: true|featureGates.GracefulNodeShutdown",
        "maxPods: 110|maxPods: 110\\nclusterDNS: [10.0.0.10]|clusterDNS",
        "maxPods: 110|maxPods: 110\\nresolvConf: \"\"|resolvConf",
        "maxPods: 110|maxPods: 110\\nresolvConf: null|",
      })
  void whatIsNotManagedMustNotChange(String find, String replacement, String paths) {
    var text = replacement == null ? "" : replacement.replace("\\n", "\n");
    var changed = CONFIGZ.replaceFirst(Pattern.quote(find), Matcher.quoteReplacement(text));
    var expected = paths == null ? List.<String>of() : List.of(paths.split(","));
    assertThat(UnmanagedChanges.between(config(CONFIGZ), config(changed))).isEqualTo(expected);
    assertThat(UnmanagedChanges.between(config(changed), config(CONFIGZ))).isEqualTo(expected);
  }
}
