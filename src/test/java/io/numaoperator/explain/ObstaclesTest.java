package io.numaoperator.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ObstaclesTest {
  private static Pod pod(String spec) {
    return new KubernetesSerialization()
        .unmarshal(
            "metadata: {name: p, namespace: default}\nspec: {%s}".formatted(spec), Pod.class);
  }

  private static Pod withAffinity(String terms) {
    return pod(
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}"
            .formatted(terms));
  }

  private static Node node(String spec, String ready) {
    return new KubernetesSerialization()
        .unmarshal(
            """
            metadata: {name: gpu-1, labels: {pool: gpu, gpus: "8", empty: ""}}
            spec: {%s}
            status: {conditions: [{type: Ready, status: "%s"}]}
            """
                .formatted(spec, ready),
            Node.class);
  }

  private static final Node PLAIN = node("", "True");

  private static Optional<String> of(String spec, Node node) {
    return Obstacles.of(pod(spec), node);
  }

  @Test
  void aPodThatAsksForNothingOfANodeMeetsNone() {
    assertThat(of("", PLAIN)).isEmpty();
  }

  @Test
  void nodeSelectorWantsEachOfItsLabels() {
    assertThat(of("nodeSelector: {pool: gpu, gpus: '8'}", PLAIN)).isEmpty();
    assertThat(of("nodeSelector: {pool: cpu}", PLAIN))
        .hasValue("the pod's nodeSelector wants pool=cpu, and its pool is gpu");
    assertThat(of("nodeSelector: {pool: gpu, rack: a}", PLAIN))
        .hasValue("the pod's nodeSelector wants rack=a, and it has no label rack");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          pool  | In           | [cpu, gpu]  | true
          pool  | In           | [cpu]       | false
          rack  | In           | [a]         | false
          pool  | NotIn        | [cpu]       | true
          pool  | NotIn        | [gpu]       | false
          rack  | NotIn        | [a]         | true
          empty | Exists       | []          | true
          rack  | Exists       | []          | false
          rack  | DoesNotExist | []          | true
          empty | DoesNotExist | []          | false
          gpus  | Gt           | ['7']       | true
          gpus  | Gt           | ['8']       | false
          gpus  | Lt           | ['10']      | true
          gpus  | Lt           | ['8']       | false
          pool  | Gt           | ['7']       | false
          rack  | Lt           | ['7']       | false
          gpus  | Gt           | ['-9223372036854775808'] | true
          gpus  | Lt           | ['9223372036854775808']  | false
          """)
  void eachOperatorOfNodeAffinity(String key, String operator, String values, boolean met) {
    var pod =
        withAffinity(
            "{matchExpressions: [{key: %s, operator: %s, values: %s}]}"
                .formatted(key, operator, values));
    assertThat(Obstacles.of(pod, PLAIN).isEmpty()).isEqualTo(met);
  }

  @Test
  void oneTermIsEnoughAndATermWantsAllThatIsInIt() {
    var cpu = "{matchExpressions: [{key: pool, operator: In, values: [cpu]}]}";
    var both =
        "{matchExpressions: [{key: pool, operator: Exists}, {key: gpus, operator: Gt, values: ['8']}]}";
    assertThat(
            Obstacles.of(
                withAffinity(cpu + ", {matchExpressions: [{key: pool, operator: Exists}]}"), PLAIN))
        .isEmpty();
    assertThat(Obstacles.of(withAffinity(both), PLAIN))
        .hasValue("the pod's node affinity wants gpus Gt [8], and its gpus is 8");
    assertThat(Obstacles.of(withAffinity(cpu + ", " + both), PLAIN))
        .hasValue(
            "none of the 2 terms of the pod's node affinity selects it: one wants pool In [cpu], and"
                + " its pool is gpu; one wants gpus Gt [8], and its gpus is 8");
    assertThat(Obstacles.of(withAffinity("{}"), PLAIN))
        .hasValue("the pod's node affinity selects no node: it has no term");
  }

  /** As a DaemonSet's pods have it. */
  @Test
  void matchFieldsLookAtTheName() {
    var field = "{matchFields: [{key: metadata.name, operator: %s, values: [%s]}]}";
    assertThat(Obstacles.of(withAffinity(field.formatted("In", "gpu-1")), PLAIN)).isEmpty();
    assertThat(Obstacles.of(withAffinity(field.formatted("NotIn", "gpu-2")), PLAIN)).isEmpty();
    assertThat(Obstacles.of(withAffinity(field.formatted("In", "gpu-2")), PLAIN))
        .hasValue(
            "the pod's node affinity wants metadata.name In [gpu-2], and its metadata.name is gpu-1");
  }

  @Test
  void whatIsPreferredKeepsNobodyOut() {
    assertThat(
            of(
                "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1,"
                    + " preference: {matchExpressions: [{key: rack, operator: Exists}]}}]}}",
                PLAIN))
        .isEmpty();
  }

  @Test
  void aCordonAndWhoToleratesIt() {
    var cordoned = node("unschedulable: true", "True");
    assertThat(of("", cordoned)).hasValue("it is cordoned");
    assertThat(
            of(
                "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]",
                cordoned))
        .isEmpty();
    assertThat(of("", node("", "Unknown"))).hasValue("it is not Ready");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{operator: Exists}",
        "{key: gpu, operator: Exists}",
        "{key: gpu, operator: Exists, effect: NoSchedule}",
        "{key: gpu, value: '40'}",
        "{key: gpu, operator: Equal, value: '40', effect: NoSchedule}",
        "{key: gpu, operator: Lt, value: '41'}",
        "{key: gpu, operator: Gt, value: '9'}"
      })
  void tolerated(String toleration) {
    var tainted = node("taints: [{key: gpu, value: '40', effect: NoSchedule}]", "True");
    assertThat(of("tolerations: [%s]".formatted(toleration), tainted)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{key: cpu, operator: Exists}",
        "{key: gpu, operator: Exists, effect: NoExecute}",
        "{key: gpu, value: '41'}",
        "{key: gpu}",
        "{key: gpu, operator: Lt, value: '40'}",
        "{key: gpu, operator: Gt, value: many}"
      })
  void notTolerated(String toleration) {
    var tainted = node("taints: [{key: gpu, value: '40', effect: NoSchedule}]", "True");
    assertThat(of("tolerations: [%s]".formatted(toleration), tainted))
        .hasValue("it has the taint gpu=40:NoSchedule, which the pod does not tolerate");
  }

  @Test
  void aTaintThatOnlyDisadvisesKeepsNobodyOut() {
    assertThat(of("", node("taints: [{key: a, effect: PreferNoSchedule}]", "True"))).isEmpty();
    assertThat(
            of(
                "",
                node(
                    "taints: [{key: a, effect: PreferNoSchedule}, {key: b, effect: NoExecute}]",
                    "True")))
        .hasValue("it has the taint b:NoExecute, which the pod does not tolerate");
  }

  @Test
  void aPodMadeForANodePassesByTheScheduler() {
    var made = pod("nodeName: gpu-1");
    made.getMetadata()
        .setManagedFields(
            new KubernetesSerialization()
                .unmarshal(
                    "metadata: {managedFields: [{manager: kubectl, fieldsV1: {f:spec: {f:nodeName: {}}}}]}",
                    Pod.class)
                .getMetadata()
                .getManagedFields());
    var taints = "unschedulable: true, taints: [{key: a, effect: %s}]";
    assertThat(Obstacles.of(made, node(taints.formatted("NoSchedule"), "True"))).isEmpty();
    assertThat(Obstacles.of(made, node(taints.formatted("NoExecute"), "True")))
        .hasValue("it has the taint a:NoExecute, which the pod does not tolerate");
    var other = node("", "True");
    other.getMetadata().setName("gpu-2");
    assertThat(Obstacles.of(made, other))
        .hasValue("the pod was made for node gpu-1 (spec.nodeName)");
  }

  /** It may be made again, and go elsewhere. */
  @Test
  void aPodThatASchedulerBoundIsForAnyNode() {
    var other = node("", "True");
    other.getMetadata().setName("gpu-2");
    assertThat(of("nodeName: gpu-1", other)).isEmpty();
  }
}
