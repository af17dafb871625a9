package io.numaoperator.topology.fit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.numaoperator.topology.fit.ContainerRequest.Kind;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PodRequestsTest {
  private static Pod pod(String spec) {
    return new KubernetesSerialization()
        .unmarshal("apiVersion: v1\nkind: Pod\nspec: " + spec, Pod.class);
  }

  @Test
  void readsContainersInTheKubeletsOrder() {
    var request =
        PodRequests.of(
            pod(
                """
                {initContainers: [
                   {name: init, resources: {limits: {cpu: "2", memory: 1Gi}}},
                   {name: side, restartPolicy: Always,
                    resources: {requests: {cpu: 500m, memory: 64Mi},
                                limits: {cpu: 500m, memory: 64Mi}}}],
                 containers: [
                   {name: main, resources: {
                     requests: {cpu: 4, memory: 4Gi, hugepages-2Mi: 128Mi, ephemeral-storage: 1Gi,
                                nvidia.com/gpu: 2},
                     limits:   {cpu: 4, memory: 4Gi, hugepages-2Mi: 128Mi, ephemeral-storage: 1Gi,
                                nvidia.com/gpu: 2}}}],
                 overhead: {cpu: 250m, memory: 120Mi}}
                """));
    assertThat(request.guaranteed()).isTrue();
    assertThat(request.podLevelResources()).isFalse();
    assertThat(request.containers())
        .containsExactly(
            new ContainerRequest("init", Kind.Init, 0, Map.of(), Map.of()),
            new ContainerRequest("side", Kind.Sidecar, 500, Map.of("memory", 64L << 20), Map.of()),
            new ContainerRequest(
                "main",
                Kind.App,
                4000,
                Map.of("memory", 4L << 30, "hugepages-2Mi", 128L << 20),
                Map.of("nvidia.com/gpu", 2L)));
  }

  @Test
  void theApiServersQosClassCountsWhereItIsKnown() {
    var spec =
        "{containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1,"
            + " memory: 1Gi}}}]}";
    assertThat(PodRequests.of(pod(spec)).guaranteed()).isTrue();
    var other = pod(spec).edit().withNewStatus().withQosClass("Burstable").endStatus().build();
    assertThat(PodRequests.of(other).guaranteed()).isFalse();
  }

  @Test
  void everyContainerMustHaveItsLimits() {
    var one = "{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}";
    assertThat(PodRequests.of(pod("{containers: [" + one + "]}")).guaranteed()).isTrue();
    assertThat(PodRequests.of(pod("{containers: [" + one + ", {name: b}]}")).guaranteed())
        .isFalse();
    assertThat(
            PodRequests.of(
                    pod(
                        "{containers: [{name: a, resources: {requests: {cpu: 500m}, limits: {cpu:"
                            + " 1, memory: 1Gi}}}]}"))
                .guaranteed())
        .isFalse();
  }

  @Test
  void seesPodLevelResources() {
    assertThat(
            PodRequests.of(pod("{containers: [{name: a}], resources: {limits: {cpu: 1}}}"))
                .podLevelResources())
        .isTrue();
    assertThat(PodRequests.of(pod("{containers: [{name: a}], resources: {}}")).podLevelResources())
        .isFalse();
  }
}
