package io.numaoperator.plan.delivery;

import static io.numaoperator.plan.delivery.DeliveryExamples.GPU_ROLE;
import static io.numaoperator.plan.delivery.DeliveryExamples.config;
import static io.numaoperator.plan.delivery.DeliveryExamples.fragment;
import static io.numaoperator.plan.delivery.DeliveryExamples.node;
import static io.numaoperator.plan.delivery.DeliveryExamples.openShift;
import static io.numaoperator.plan.delivery.DeliveryExamples.pool;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.numaoperator.api.KubeletPolicy.Delivery;
import io.numaoperator.api.NumaNodeStateStatus.Platform;
import io.numaoperator.api.openshift.KubeletConfig;
import io.numaoperator.api.openshift.MachineConfigPool;
import io.numaoperator.api.openshift.PoolCondition;
import io.numaoperator.plan.Golden;
import io.numaoperator.plan.Ownership;
import io.numaoperator.plan.Policies;
import io.numaoperator.plan.Provision;
import io.numaoperator.plan.delivery.KubeletDelivery.Input;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class KubeletDeliveryTest {
  private static Input input(OpenShiftFacts openShift, PlannedNode... nodes) {
    return new Input(
        "numa-operator-system", Policies.policy("gpu-nodes", 1), List.of(nodes), true, openShift);
  }

  private static Provision plan(Delivery delivery, Input input) {
    return DeliveryChoice.delivery(delivery).plan(input);
  }

  // ---- the choice

  @ParameterizedTest
  @EnumSource(Platform.class)
  void autoFollowsThePlatformAndNothingElseDoes(Platform platform) {
    var natural = DeliveryChoice.of(Delivery.Auto, Optional.of(platform));
    assertThat(natural).isNotEqualTo(Delivery.Auto);
    assertThat(DeliveryChoice.of(null, Optional.of(platform))).isEqualTo(natural);
    for (var wanted : List.of(Delivery.Agent, Delivery.OpenShift, Delivery.External)) {
      assertThat(DeliveryChoice.of(wanted, Optional.of(platform))).isEqualTo(wanted);
    }
    assertThat(DeliveryChoice.of(Delivery.Auto, Optional.empty())).isEqualTo(Delivery.Agent);
  }

  @Test
  void theAgentNeedsNoObject() {
    var node = node("a", Platform.Kubeadm, "4Gi");
    var input = input(OpenShiftFacts.none(), node);
    assertThat(plan(Delivery.Agent, input)).isEqualTo(Provision.Objects.none("agent"));
    assertThat(DeliveryChoice.delivery(Delivery.Agent).awaits(input, node)).isEmpty();
  }

  // ---- External

  @Test
  void eachPlatformGetsWhatItsOwnerPastes() throws IOException {
    var nodes =
        Arrays.stream(Platform.values())
            .map(
                platform ->
                    node("node-" + platform.name().toLowerCase(Locale.ROOT), platform, "4Gi"))
            .toArray(PlannedNode[]::new);
    Golden.assertMatches(
        "delivery-external", plan(Delivery.External, input(OpenShiftFacts.none(), nodes)));
  }

  @Test
  void unlikeMachinesGetAShapeEach() {
    var data =
        data(
            node("b", Platform.Talos, "4Gi"),
            node("a", Platform.Talos, "4Gi"),
            node("c", Platform.Talos, "8Gi"),
            node("d", null, "4Gi"));
    assertThat(data.keySet())
        .hasSize(4)
        .contains("README.md")
        .filteredOn(key -> key.startsWith("talos-"))
        .hasSize(2);
    assertThat(data.get("README.md")).contains("- nodes: a, b\n", "- nodes: c\n", "- nodes: d\n");
  }

  @Test
  void manyNodesAreCounted() {
    var nodes =
        IntStream.range(100, 130)
            .mapToObj(i -> node("n" + i, Platform.GKE, "4Gi"))
            .toArray(PlannedNode[]::new);
    assertThat(data(nodes).get("README.md")).contains("n100, n101", "n119 and 10 more\n");
  }

  @Test
  void whatAPlatformHasNoWordsForIsSaid() {
    assertThat(data(node("a", Platform.AKS, "4Gi")).get("README.md"))
        .contains(
            "no words for cpuManagerPolicyOptions, reservedSystemCPUs, memoryManagerPolicy,"
                + " reservedMemory, topologyManagerScope, kubeReserved, systemReserved,"
                + " evictionHard:");
    assertThat(data(node("a", Platform.Talos, "4Gi")).get("README.md"))
        .doesNotContain("no words for");
    var odd = fragment("4Gi");
    odd.cpuManagerPolicyOptions = Map.of("align-by-socket", "true");
    odd.topologyManagerPolicyOptions = Map.of("prefer-closest-numa-nodes", "true");
    assertThat(BottlerocketToml.of(odd).leftOut())
        .containsExactly(
            "cpuManagerPolicyOptions[align-by-socket]", "topologyManagerPolicyOptions");
  }

  @Test
  void aNodeOfAnOwnerSaysWhereToLook() {
    var node = node("a", Platform.Talos, "4Gi");
    assertThat(
            DeliveryChoice.delivery(Delivery.External)
                .awaits(input(OpenShiftFacts.none(), node), node))
        .hasValueSatisfying(
            remark ->
                assertThat(remark.message())
                    .matches(
                        ".*see key talos-[0-9a-f]{12}.yaml of ConfigMap"
                            + " numa-operator-system/numaoperator-kubelet-gpu-nodes"));
  }

  /** What is not wanted any more goes, so a policy without such nodes leaves nothing. */
  @Test
  void withoutNodesThereIsNothing() {
    assertThat(plan(Delivery.External, input(OpenShiftFacts.none())))
        .isEqualTo(Provision.Objects.none("external"));
    assertThat(plan(Delivery.OpenShift, input(OpenShiftFacts.none())))
        .isEqualTo(Provision.Objects.none("openshift"));
  }

  private static Map<String, String> data(PlannedNode... nodes) {
    var plan = plan(Delivery.External, input(OpenShiftFacts.none(), nodes));
    return new TreeMap<>(((ConfigMap) ((Provision.Objects) plan).objects().getFirst()).getData());
  }

  // ---- OpenShift

  private static OpenShiftFacts facts(KubeletConfig... configs) {
    return openShift(pool("gpu", GPU_ROLE), configs);
  }

  private static PlannedNode[] wholePool() {
    return new PlannedNode[] {
      node("a", Platform.OpenShift, "4Gi"), node("b", Platform.OpenShift, "4Gi")
    };
  }

  @Test
  void aWholePoolGetsAKubeletConfig() throws IOException {
    var others = config("of-others", "maxPods: 500");
    var ours = config("numaoperator-gpu-nodes", "cpuManagerPolicy: none");
    var plan = plan(Delivery.OpenShift, input(facts(others, ours), wholePool()));
    Golden.assertMatches("delivery-openshift", plan);
    var metadata = ((Provision.Objects) plan).objects().getFirst().getMetadata();
    assertThat(metadata.getOwnerReferences())
        .as("the garbage collector would have the pool rebooted")
        .isEmpty();
    assertThat(metadata.getLabels()).containsEntry(Ownership.RETAIN_LABEL, "true");
  }

  @Test
  void nothingIsAppliedThatMayNotBe() {
    var input = input(facts(), wholePool());
    var observed =
        new Input(input.namespace(), input.policy(), input.nodes(), false, input.openShift());
    assertThat(plan(Delivery.OpenShift, observed)).isEqualTo(Provision.Objects.none("openshift"));
    var b = node("b", Platform.OpenShift, "4Gi");
    var held =
        new PlannedNode(
            "b", b.platform(), b.fragment(), b.hash(), Optional.of("the scheduler comes first"));
    assertThat(plan(Delivery.OpenShift, input(facts(), node("a", Platform.OpenShift, "4Gi"), held)))
        .isEqualTo(new Provision.NotYet("PoolHeldBack", "the scheduler comes first"));
  }

  static Stream<Arguments> refused() {
    var a = node("a", Platform.OpenShift, "4Gi");
    var b = node("b", Platform.OpenShift, "4Gi");
    var c = node("c", Platform.OpenShift, "4Gi");
    var bare = pool("gpu", GPU_ROLE);
    bare.getMetadata().setLabels(Map.of("made-by", "us"));
    var twice = openShift(List.of(pool("gpu", GPU_ROLE), pool("fast", GPU_ROLE)));
    var profile =
        config(
            "performance-gpu",
            "{reservedSystemCPUs: 0-1, maxPods: 3, topologyManagerPolicy: none}");
    return Stream.of(
        Arguments.of("SeveralPools", "gpu, worker", input(facts(), a, b, c)),
        Arguments.of(
            "PoolNotWhole", "not this policy's, or that have no plan yet: b", input(facts(), a)),
        Arguments.of(
            "PoolUnknown",
            "Node z does not belong",
            input(facts(), a, b, node("z", Platform.OpenShift, "4Gi"))),
        Arguments.of("PoolUnknown", "exactly one MachineConfigPool", input(twice, a, b)),
        Arguments.of(
            "PoolLayoutsDiffer",
            "2 different settings",
            input(facts(), a, node("b", Platform.OpenShift, "8Gi"))),
        Arguments.of(
            "CompetingKubeletConfig",
            "performance-gpu sets reservedSystemCPUs, topologyManagerPolicy",
            input(facts(profile), a, b)),
        Arguments.of(
            "PoolWithoutLabel",
            "oc label machineconfigpool gpu pools.operator.machineconfiguration.openshift.io/gpu=",
            input(openShift(bare), a, b)));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("refused")
  void aPoolThatDoesNotFitIsRefused(String reason, String message, Input input) {
    assertThat(plan(Delivery.OpenShift, input))
        .isInstanceOfSatisfying(
            Provision.Refused.class,
            refused -> {
              assertThat(refused.reason()).isEqualTo(reason);
              assertThat(refused.message()).contains(message);
            });
  }

  static Stream<Arguments> waiting() {
    var degraded = pool("gpu", GPU_ROLE);
    degraded.setStatus(new MachineConfigPool.Status());
    degraded.getStatus().conditions =
        List.of(
            condition("Updated", "False", ""),
            condition("Degraded", "True", "node a: kubelet.conf differs"));
    var halfWay = pool("gpu", GPU_ROLE);
    halfWay.setStatus(new MachineConfigPool.Status());
    halfWay.getStatus().machineCount = 2;
    halfWay.getStatus().updatedMachineCount = 1;
    var paused = pool("gpu", GPU_ROLE);
    paused.getSpec().paused = true;
    var failed = config("numaoperator-gpu-nodes", "{}");
    failed.setStatus(new KubeletConfig.Status());
    failed.getStatus().conditions =
        List.of(condition("Success", "True", ""), condition("Failure", "False", "not allowed"));
    var mended = config("numaoperator-gpu-nodes", "{}");
    mended.setStatus(new KubeletConfig.Status());
    mended.getStatus().conditions =
        List.of(condition("Failure", "False", "not allowed"), condition("Success", "True", ""));
    return Stream.of(
        Arguments.of("PoolDegraded", "gpu is degraded: node a: kubelet", openShift(degraded)),
        Arguments.of("KubeletConfigFailed", "numaoperator-gpu-nodes: not", facts(failed)),
        Arguments.of("WaitingForPool", "within its own maxUnavailable", facts(mended)),
        Arguments.of("WaitingForPool", "1 of 2 machines are up to date", openShift(halfWay)),
        Arguments.of("WaitingForPool", "it is paused", openShift(paused)));
  }

  private static PoolCondition condition(String type, String status, String message) {
    var condition = new PoolCondition();
    condition.type = type;
    condition.status = status;
    condition.message = message;
    return condition;
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("waiting")
  void aNodeOfAPoolSaysWhatThePoolDoes(String reason, String message, OpenShiftFacts facts) {
    var nodes = wholePool();
    assertThat(DeliveryChoice.delivery(Delivery.OpenShift).awaits(input(facts, nodes), nodes[0]))
        .hasValueSatisfying(
            remark -> {
              assertThat(remark.reason()).isEqualTo(reason);
              assertThat(remark.message()).contains(message);
            });
  }
}
